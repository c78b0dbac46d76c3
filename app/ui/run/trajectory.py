"""A run as decisions, Observe → Decide → Act: cards for a short one, a list with one opened step for a long one."""

from bisect import bisect_right
from time import monotonic

from nicegui import ui

from app.domain.messages import Message, ToolResult
from app.domain.trace import NodeRun, TrajectoryStep, leave, trajectory
from app.ui.conversation.edited_mark import edited_mark
from app.ui.conversation.task_line import TaskLine, is_task
from app.ui.conversation.tool_body import STATUS_WORDS
from app.ui.conversation.tool_card import ToolCard
from app.ui.elements.format import dollars, duration, head, moment_text, plural, tokens
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.visible import visible
from app.ui.graph.node_words import kind_icon
from app.ui.run.card_context import CardContext
from app.ui.run.node_card import NodeBody, node_note
from app.ui.run.timeline_cards import show_text
from app.ui.run.trace_growth import RunSoFar, projected
from app.ui.run.trace_list import ListAndPane
from app.ui.run.trace_words import decided, since, trajectory_line

SHORT = 40
"""Decisions and calls up to which each has a card."""
Looks = tuple[float | str | int, ...]
"""What may still change about a card: the end of its model call, and the states of its calls."""


class Trajectory:
    def __init__(self, run: RunSoFar, context: CardContext) -> None:
        self._run = run
        self._context = context
        self._steps: list[TrajectoryStep] = []
        self._seen: tuple[object, ...] = ()
        self._alive = False
        self._not_before = 0.0
        self._cards: list[tuple[Looks, TrajectoryCard]] = []
        self._list: ListAndPane | None = None
        self._count = ui.html("Reading the decisions…", sanitize=False).classes("muted trace-count")
        self._place = ui.element("div").classes("trajectory")

    async def show(self, *, alive: bool) -> None:
        """Show the run as it is now; called too soon after the last time, nothing changes until the next call."""
        seen = (len(self._run.entries), alive)
        if self._seen == seen or monotonic() < self._not_before:
            return
        started = monotonic()
        entries = list(self._run.entries)
        self._seen, self._alive = seen, alive
        self._steps = await projected(trajectory, entries)
        for step in self._steps:
            leave(step.calls, alive=alive)
            leave(step.node.calls.values() if step.node else (), alive=alive)
            for call in step.calls:
                call.note_edits(self._run.edits)
        if len(self._steps) + sum(len(step.calls) for step in self._steps) > SHORT:
            self._show_list()
        else:
            self._show_cards()
        self._not_before = monotonic() + 10 * (monotonic() - started)

    def go(self, index: int) -> None:
        """Open the decision to which the step with that index belongs."""
        seqs = [step.decision.seq for step in self._steps]
        place = max(0, bisect_right(seqs, self._run.steps[index].seq) - 1)
        if self._list is not None:
            self._list.go(place)
        elif place < len(self._cards):
            self._cards[place][1].run_method("scrollIntoView", {"block": "center"})

    def _show_cards(self) -> None:
        self._count.set_content(tag("span", plural(len(self._steps), "step")))
        looks = [self._looks(index) for index in range(len(self._steps))]
        kept = 0
        while kept < len(self._cards) and self._cards[kept][0] == looks[kept]:
            kept += 1
        for _, card in self._cards[kept:]:
            card.delete()
        del self._cards[kept:]
        with self._place:
            for index in range(len(self._cards), len(self._steps)):
                self._cards.append((looks[index], self._card(index)))

    def _card(self, index: int) -> "TrajectoryCard":
        return TrajectoryCard(self._steps[index], self._context, alive=self._alive)

    def _looks(self, index: int) -> Looks:
        step = self._steps[index]
        states = (step.decision.ms, *(call.state for call in step.calls))
        if step.node is None:
            return states
        return (*states, step.node.state, len(step.node.children), self._alive and not step.node.ended)

    def _show_list(self) -> None:
        number = len(self._steps)
        words = f"{plural(number, 'step')}. The list loads them as you scroll; the chosen one is shown in full."
        self._count.set_content(tag("span", words))
        if self._list is not None:
            self._list.grow(number, follow=self._alive)
            return
        self._cards.clear()
        self._place.clear()
        with self._place:
            self._list = ListAndPane(
                number,
                lambda index: trajectory_line(self._steps[index], alive=self._alive),
                lambda index: self._card(index).props("data-testid=decision-detail"),
                chosen=0,
                on_choose=lambda _: None,
                label="Decisions of this run",
                testid="trajectory-step",
                looks=self._looks,
            )


OBSERVED = 20
"""Observations that are shown; more are counted."""
CALLS = 30
"""Calls of one step that are shown; more are counted."""


class TrajectoryCard(ui.element):
    """`alive`: the run goes on, so that what has not ended still may."""

    def __init__(self, step: TrajectoryStep, context: CardContext, *, alive: bool) -> None:
        super().__init__("article")
        self.classes("decision").props("data-testid=trajectory-step")
        if step.node is not None:
            self._build_node(step, step.node, context, alive=alive)
            return
        with self:
            ui.html(_head(step, context), sanitize=False, tag="header").classes("step-head")
            self._build_observed(step, context)
            self._build_decided(step, context)
            self._build_acts(step, context)

    def _build_node(self, step: TrajectoryStep, node: NodeRun, context: CardContext, *, alive: bool) -> None:
        with self:
            ui.html(_node_head(step, node, context, alive=alive), sanitize=False, tag="header").classes("step-head")
            NodeBody(node, context, alive=False, on_change=lambda: None)

    def _build_observed(self, step: TrajectoryStep, context: CardContext) -> None:
        with _part("Observe", "visibility"):
            ui.html(_observed(step, context.run), sanitize=False)

    def _build_decided(self, step: TrajectoryStep, context: CardContext) -> None:
        decision = step.decision
        with _part("Decide", "call_split"):
            edited = edited_mark(context.run.edits.message(decision.seq))
            ui.html(joined(tag("strong", decided(step)), edited), sanitize=False)
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
                    if is_task(call):
                        TaskLine(call, context.task_of)
            if len(step.calls) > CALLS:
                more = f"And {plural(len(step.calls) - CALLS, 'more call')}; the timeline has them all."
                ui.html(tag("p", more, cls="faint"), sanitize=False)


def _part(title: str, symbol: str) -> ui.element:
    """A named part of the card, to be filled."""
    with ui.element("section").classes("decision-part"):
        ui.html(joined(icon(symbol), title), sanitize=False, tag="h2")
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


def _node_head(step: TrajectoryStep, node: NodeRun, context: CardContext, *, alive: bool) -> Html:
    decision = step.decision
    return joined(
        icon(kind_icon(node), "step-icon"),
        tag("strong", f"Step {step.number}: {visible(node.label)}"),
        tag("span", node_note(node, context.task_of, alive=alive), cls="faint"),
        tag("time", since(context.run.began_for(decision.seq), decision.at), title=moment_text(decision.at)),
    )


def _observed(step: TrajectoryStep, run: RunSoFar) -> Html:
    if not step.observed:
        return tag("p", "Nothing new.", cls="faint")
    shown = [_observation(one, run) for one in step.observed[:OBSERVED]]
    if len(step.observed) > OBSERVED:
        shown.append(tag("li", f"And {len(step.observed) - OBSERVED:,} more.", cls="faint"))
    return tag("ul", *shown, cls="observations")


def _observation(one: Message | ToolResult, run: RunSoFar) -> Html:
    if isinstance(one, Message):
        edited = edited_mark(run.edited_message(one))
        return tag("li", tag("strong", "User: "), head(one.text, 400) or "(no text)", edited)
    edited = edited_mark(run.edits.result(one.call_id))
    tone = "observed-failed" if one.failed else "observed-ok"
    return tag("li", tag("strong", f"{one.name}: ", cls=tone), head(one.text, 400) or STATUS_WORDS[one.status], edited)
