"""One decision of an agent as a card: what it observed, what it decided, how it acted."""

from nicegui import ui

from app.domain.messages import Message, ToolResult
from app.domain.trace import TrajectoryStep
from app.ui.conversation.tool_body import STATUS_WORDS
from app.ui.conversation.tool_card import ToolCard
from app.ui.elements.format import dollars, duration, head, moment_text, plural, tokens
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.run.timeline_cards import CardContext, show_text
from app.ui.run.trace_words import decided, since

OBSERVED = 20
"""Observations that are shown; more are counted."""
CALLS = 30
"""Calls of one step that are shown; more are counted."""


class TrajectoryCard(ui.element):
    def __init__(self, step: TrajectoryStep, context: CardContext) -> None:
        super().__init__("article")
        self.classes("decision").props("data-testid=trajectory-step")
        with self:
            ui.html(_head(step, context), sanitize=False, tag="header").classes("step-head")
            self._build_observed(step)
            self._build_decided(step)
            self._build_acts(step, context)

    def _build_observed(self, step: TrajectoryStep) -> None:
        with _part("Observe", "visibility"):
            ui.html(_observed(step), sanitize=False)

    def _build_decided(self, step: TrajectoryStep) -> None:
        decision = step.decision
        with _part("Decide", "call_split"):
            ui.html(tag("strong", decided(step)), sanitize=False)
            for text in (decision.reasoning, decision.text if decision.kind == "act" else ""):
                if text.strip():
                    with ui.element("div").classes("decision-thought"):
                        show_text(text)

    def _build_acts(self, step: TrajectoryStep, context: CardContext) -> None:
        with _part("Act", "bolt"):
            if step.decision.kind == "respond":
                show_text(step.decision.text)
                return
            with ui.element("div").classes("decision-calls"):
                for call in step.calls[:CALLS]:
                    ToolCard(call, context.run.specs.get(call.name), context.contents)
            if len(step.calls) > CALLS:
                more = f"And {plural(len(step.calls) - CALLS, 'more call')}; the timeline has them all."
                ui.html(tag("p", more, cls="faint"), sanitize=False)


def _part(title: str, symbol: str) -> ui.element:
    """A named part of the card, to be filled."""
    with ui.element("section").classes("decision-part"):
        ui.html(joined(icon(symbol), title), sanitize=False, tag="h4")
        return ui.element("div").classes("decision-body")


def _head(step: TrajectoryStep, context: CardContext) -> Html:
    decision = step.decision
    return joined(
        tag("strong", f"Step {step.number}"),
        tag("span", tokens(decision.usage.total_tokens), cls="chip"),
        tag("span", dollars(decision.cost or 0.0, unpriced=decision.cost is None), cls="chip"),
        tag("span", f"model {duration(decision.ms)}", cls="chip"),
        tag("time", since(context.run.began_for(decision.seq), decision.at), title=moment_text(decision.at)),
    )


def _observed(step: TrajectoryStep) -> Html:
    if not step.observed:
        return tag("p", "Nothing new.", cls="faint")
    shown = [_observation(one) for one in step.observed[:OBSERVED]]
    if len(step.observed) > OBSERVED:
        shown.append(tag("li", f"And {len(step.observed) - OBSERVED:,} more.", cls="faint"))
    return tag("ul", *shown, cls="observations")


def _observation(one: Message | ToolResult) -> Html:
    if isinstance(one, Message):
        return tag("li", tag("strong", "User: "), head(one.text, 400) or "(no text)")
    tone = "observed-failed" if one.failed else "observed-ok"
    return tag("li", tag("strong", f"{one.name}: ", cls=tone), head(one.text, 400) or STATUS_WORDS[one.status])
