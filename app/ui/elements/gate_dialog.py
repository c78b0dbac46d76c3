"""A variant that becomes the active one: what the gate of its agent says of that, the ways on, and the way back."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from nicegui import background_tasks, ui

from app.domain.agents import Agent, unpromoted
from app.domain.errors import WorkbenchError
from app.domain.evals.drafts import Estimate
from app.domain.evals.gates import LONGEST_REASON, GateClosed, GateOutcome, GateState
from app.domain.provenance import Trigger
from app.ui.elements.addresses import experiment_address
from app.ui.elements.buttons import Look, button
from app.ui.elements.format import dollars
from app.ui.elements.markup import Html, icon, tag
from app.ui.elements.notices import notify, problems_shown
from app.ui.elements.questions import answer_to, keep_typed, named_dialog
from app.workbench import Workbench

PAGE = Trigger(kind="page")
STATE_WORDS: dict[GateState, str] = {"green": "gate passed", "amber": "not known yet", "red": "held back"}
_LOOKS: dict[GateState, tuple[str, str]] = {
    "green": ("pill-done", "check_circle"),
    "amber": ("pill-paused", "help"),
    "red": ("pill-failed", "cancel"),
}
Answer = tuple[Literal["past", "run"], str]


@dataclass(frozen=True, slots=True)
class Promotion:
    before: Agent
    """As it was right before: a person may have looked at its gate for minutes."""
    after: Agent


async def undo_promotion(workbench: Workbench, promotion: Promotion) -> None:
    """Let the variant before it be the active one again, unless one was promoted since; then say so."""
    before, after = promotion.before, promotion.after
    with problems_shown():
        stored = await workbench.agents.change(after.id, partial(unpromoted, before=before, after=after))
        if stored.active != before.active:
            notify(f"Nothing was taken back: variant {stored.active} was promoted since.")


async def past_the_gate(workbench: Workbench, agent_id: str, act: Callable[[], Awaitable[Agent]]) -> Promotion | None:
    """What was done by `act`, which makes a variant of the agent the active one.

    Where the gate holds that back a person is asked: `None` when they left it so. Raises as `act` does.
    """
    before = workbench.agents.get(agent_id)
    try:
        return Promotion(before, await act())
    except GateClosed as closed:
        return await ask_about(workbench, agent_id, closed.outcome)


async def ask_about(workbench: Workbench, agent_id: str, outcome: GateOutcome) -> Promotion | None:
    """Show what the gate says of the variant: it is the active one then where a person said why, else `None`."""
    answer = await GateDialog(workbench, workbench.agents.get(agent_id), outcome).asked()
    match answer:
        case ("past", reason):
            before = workbench.agents.get(agent_id)
            after = await workbench.gating.activate(agent_id, outcome.variant, by="page", override=reason)
            return Promotion(before, after)
        case ("run", _):
            experiment = await workbench.gating.run(agent_id, outcome.variant, PAGE)
            ui.navigate.to(experiment_address(experiment.id))
        case _:
            pass
    return None


def gate_pill(outcome: GateOutcome) -> Html:
    """Its state in two words; a click on it is heard as the action `gate`."""
    look, symbol = _LOOKS[outcome.state]
    words = "gate runs" if outcome.running else STATE_WORDS[outcome.state]
    return tag(
        "button",
        icon(symbol),
        words,
        cls=f"pill {look} gate-state",
        data_action="gate",
        data_testid="gate-state",
        data_state=outcome.state,
        aria_label=f"Gate of variant {outcome.variant}: {words}",
        title=" ".join(line.words for line in outcome.lines),
    )


class GateDialog:
    """Built for one question; `await asked()` gives the answer, `None` when they leave it as it is."""

    def __init__(self, workbench: Workbench, agent: Agent, outcome: GateOutcome) -> None:
        self._workbench, self._agent, self._outcome = workbench, agent, outcome
        title = f"Gate: variant {outcome.variant} of {agent.name}"
        with named_dialog(title) as self._dialog, ui.card().classes("dialog-card dialog-small") as card:
            card.props("data-testid=gate-dialog")
            ui.html(tag("span", title), sanitize=False, tag="h2").classes("section-title")
            ui.html(gate_lines(outcome), sanitize=False)
            if outcome.experiment_id:
                address = experiment_address(outcome.experiment_id)
                ui.html(tag("a", "Look at the experiment", href=address), sanitize=False)
            self._build_ways()
        keep_typed(self._dialog, card)

    def _build_ways(self) -> None:
        self._reason: ui.textarea | None = None
        if self._outcome.state != "green":
            self._reason = ui.textarea("Why it may be active nevertheless", on_change=self._show_way).classes("fill")
            self._reason.props(
                f"outlined dense autogrow maxlength={LONGEST_REASON} data-testid=gate-reason debounce=50"
            )
            self._reason.props('hint="Kept in the history of the agent."')
        self._price = ui.label().classes("faint").props("role=status data-testid=gate-price")
        with ui.element("div").classes("row-line dialog-buttons"):
            button("Cancel", lambda: self._dialog.submit(None), look="quiet")
            if not self._outcome.running:
                run = "Run it again" if self._outcome.experiment_id else "Run the gate"
                button(run, lambda: self._dialog.submit(("run", "")), look="plain", testid="gate-run")
            label = "Promote" if self._reason is None else "Promote nevertheless"
            look: Look = "primary" if self._reason is None else "danger"
            self._past = button(label, self._go_past, look=look, testid="gate-override")
        self._show_way()
        if not self._outcome.running:
            background_tasks.create(self._show_price(), name="price of a gate", context=self._price)

    async def asked(self) -> Answer | None:
        answer = await answer_to(self._dialog, tuple)
        return answer if answer is None else (answer[0], str(answer[1]))

    def _show_way(self) -> None:
        self._past.set_enabled(self._reason is None or bool(str(self._reason.value or "").strip()))

    def _go_past(self) -> None:
        self._dialog.submit(("past", str(self._reason.value or "").strip() if self._reason else ""))

    async def _show_price(self) -> None:
        """What running it costs, before it is run."""
        try:
            draft = self._workbench.gating.draft(self._agent, self._outcome.variant)
            estimate = await self._workbench.experimenting.estimate(draft)
        except WorkbenchError as problem:
            words = str(problem)
        else:
            words = price_words(estimate, draft.ceiling_usd)
        if not self._price.is_deleted:
            self._price.text = words


def price_words(estimate: Estimate, ceiling: float) -> str:
    """What running it costs; `ceiling` in US dollars, 0 for none."""
    runs, judges = estimate.high_usd, estimate.judge_high_usd
    cost = "what that costs is not known"
    if runs is not None and judges is not None:
        cost = f"about {dollars(runs + judges)} at most"
    stops = f"it stops at {dollars(ceiling)}" if ceiling else "it has no ceiling"
    return " ".join((f"Running it takes {estimate.cells} tries, {cost}; {stops}.", *estimate.notes))


def gate_lines(outcome: GateOutcome) -> Html:
    """What each rule says, as a list."""
    rows = (
        tag("li", icon(_LOOKS[line.state][1]), tag("span", line.words), cls=f"gate-line is-{line.state}")
        for line in outcome.lines
    )
    return tag("ul", *rows, cls="gate-lines")
