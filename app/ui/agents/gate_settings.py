"""The dialog in which a person says what guards the promotion of an agent's variants."""

import asyncio
from collections.abc import Sequence

from nicegui import background_tasks, ui

from app.domain.agents import Agent
from app.domain.evals.cases import Case, Dataset
from app.domain.evals.gate_rules import needs_words, stops_words
from app.domain.evals.gates import Gate, GateRules
from app.domain.evals.scorers import span_of
from app.ui.elements.addresses import EVALS
from app.ui.elements.buttons import button
from app.ui.elements.editor_numbers import number_box, with_field
from app.ui.elements.format import plural
from app.ui.elements.markup import joined, tag
from app.ui.elements.questions import answer_to, named_dialog
from app.workbench import Workbench

AWAY = "away"
_RECORDED = "Tools answer from what the cases recorded"
_LIVE = "Tools are called for real"


async def change_gate(workbench: Workbench, agent: Agent) -> None:
    """Ask what guards the agent, and set it. Raises `WorkbenchError`."""
    answer = await GateSettings(workbench, agent).asked()
    if isinstance(answer, Gate):
        await workbench.gating.set(agent.id, answer)
    elif answer == AWAY:
        await workbench.gating.set(agent.id, None)


class GateSettings:
    """Built for one question; `await asked()` gives a gate, `AWAY` for none, `None` when they leave it as it is."""

    def __init__(self, workbench: Workbench, agent: Agent) -> None:
        self._workbench = workbench
        self._datasets = {one.id: one for one in workbench.datasets.all() if one.scorers}
        self._gate = gate = agent.gate
        chosen = gate.dataset_id if gate and gate.dataset_id in self._datasets else next(iter(self._datasets), "")
        self._rules: GateRules = gate or GateRules()
        self._cases: Sequence[Case] = ()
        with named_dialog("Gate") as self._dialog, ui.card().classes("dialog-card gate-settings") as card:
            card.props("data-testid=gate-settings")
            ui.html("What guards promotion", sanitize=False, tag="h2").classes("section-title")
            ui.label(_WORDS).classes("faint")
            if not self._datasets:
                ui.html(_NONE, sanitize=False).props("data-testid=gate-no-dataset")
            else:
                self._build_choice(chosen)
                self._build_numbers()
                self._notices = ui.label().classes("faint").props("role=status data-testid=gate-notices")
            with ui.element("div").classes("row-line dialog-buttons"):
                button("Cancel", lambda: self._dialog.submit(None), look="quiet")
                if gate is not None:
                    button("Take the gate away", lambda: self._dialog.submit(AWAY), look="danger", testid="gate-away")
                if self._datasets:
                    button("Save", self._confirm, look="primary", testid="gate-save")
        if self._datasets:
            self._show_dataset()

    async def asked(self) -> object | None:
        return await answer_to(self._dialog, object)

    def _build_choice(self, chosen: str) -> None:
        names = {one.id: one.name for one in self._datasets.values()}
        self._dataset = ui.select(names, label="Dataset", value=chosen, on_change=self._show_dataset).classes("fill")
        self._dataset.props("outlined dense options-dense data-testid=gate-dataset")
        self._primary = ui.select({"": ""}, label="What decides", value="", on_change=self._take_primary).classes(
            "fill"
        )
        self._primary.props("outlined dense options-dense data-testid=gate-primary")
        ways = {"recorded": _RECORDED, "live": _LIVE}
        self._tools = ui.select(ways, label="Tools", value=self._rules.tools).classes("fill")
        self._tools.props("outlined dense options-dense data-testid=gate-tools")
        self._tools.on_value_change(lambda event: self._take("tools", event.value))

    def _build_numbers(self) -> None:
        rules, take = self._rules, self._take
        with ui.element("div").classes("settings-grid"):
            number_box("repeats", "Tries of each case", rules.repeats, take, of="gate")
            number_box("ceiling_usd", "Money for one try of the gate", rules.ceiling_usd, take, suffix="US$", of="gate")
            self._share_box("margin", "No worse than", "points", note="Asks proof; takes many cases")
            self._share_box("most_cost", "Median cost, at most", "% more")
            self._share_box("most_latency", "Time of 95 %, at most", "% more")

    def _share_box(self, field: str, label: str, suffix: str, *, note: str = "") -> None:
        share = getattr(self._rules, field)
        shown = None if share is None else round(share * 100, 6)
        number_box(field, label, shown, self._take_percent, suffix=suffix, hint="off", note=note, of="gate")

    def _take(self, field: str, value: object) -> None:
        self._rules = with_field(self._rules, field, value)
        self._show_needs()

    def _take_percent(self, field: str, value: float | None) -> None:
        self._take(field, None if value is None else value / 100)

    def _take_primary(self) -> None:
        self._take("primary", str(self._primary.value or ""))

    def _show_dataset(self) -> None:
        dataset, self._cases = self._chosen, ()
        names = [scorer.name for scorer in dataset.scorers]
        own = f"The dataset's own choice: {dataset.primary or names[0]}"
        self._primary.set_options({"": own, **{name: name for name in names}})
        self._primary.value = self._rules.primary if self._rules.primary in names else ""
        if self._gate is None:  # nothing could answer for a case that holds no record
            self._tools.value = "recorded" if self._workbench.cases.all_recorded(dataset.id) else "live"
        self._show_needs()
        background_tasks.create(self._count(dataset), name="count the cases of a gate", context=self._notices)

    @property
    def _chosen(self) -> Dataset:
        return self._datasets[str(self._dataset.value)]

    async def _count(self, dataset: Dataset) -> None:
        cases = await asyncio.to_thread(self._workbench.cases.of, dataset.id)
        await asyncio.to_thread(stops_words, len(cases))  # what so many notice takes long to work out, once
        if not self._notices.is_deleted and dataset is self._chosen:  # nobody chose another one meanwhile
            self._cases = cases
            self._show_needs()

    def _show_needs(self) -> None:
        """What it can notice, before it is set."""
        must = sum(case.must_pass for case in self._cases)
        words = [f"{plural(len(self._cases), 'case')}, of which {must} must pass in every try."]
        span = span_of(self._chosen.decided_by(self._rules.primary))
        words.append(stops_words(len(self._cases), span=span))
        if self._rules.margin is not None:
            words.append(needs_words(self._rules.margin, span=span))
        self._notices.text = " ".join(words)

    def _confirm(self) -> None:
        rules = {name: getattr(self._rules, name) for name in GateRules.model_fields}
        self._dialog.submit(Gate(**rules, dataset_id=self._chosen.id))


_WORDS = (
    "A variant is promoted when it was tried beside the active one on this dataset, passed all cases that must pass, "
    "and shows no sign of being worse. Past that only with a reason. Going back to an earlier active variant is free."
)
_NONE = joined(
    "There is no dataset with a scorer yet. ", tag("a", "Make one on the Evals page", href=EVALS), ", then come back."
)
