"""The dialog that runs on from a step: what is edited, who answers, which tools are called for real."""

import json
from collections.abc import Awaitable, Callable, Sequence

from nicegui import background_tasks, events, ui

from app.domain.agents import Agent, model_of, template_of
from app.domain.edits import ToolSource
from app.domain.errors import NotFound, WorkbenchError
from app.domain.events import Entry, MessageAdded, RunStarted
from app.domain.forks.forks import CallAgain, ForkCheck, ToolPlan, plans_by_default
from app.domain.prompts import filled
from app.domain.provenance import Trigger
from app.domain.tools import GrantedTool
from app.domain.trace.trajectory import step_number
from app.ui.elements.addresses import run_address
from app.ui.elements.buttons import button, loading
from app.ui.elements.format import plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.model_picker import ModelPicker
from app.ui.elements.notices import notify, problems_shown
from app.ui.elements.questions import keep_typed
from app.ui.elements.variant_select import variant_words
from app.ui.elements.visible import visible
from app.ui.run.fork_draft import ForkDraft, editable_at, prompt_template, sent_prompt
from app.workbench import Workbench

AFTER = {
    "live": "Call it for real",
    "recorded": "Give it the recorded results, never call it",
    "recorded_or_live": "Recorded result where there is one, else call it",
    "edited": "Always answer with the text below",
}
BEFORE = {"recorded": "Keep the results it gave", "live": "Call it again for real"}
OnChoose = Callable[[str, ToolPlan], Awaitable[object]]
OnType = Callable[[str, ToolPlan], None]
AS_RECORDED = 0
"""In the list of variants: what the run was made with."""
SENT = "This is the text that was sent, with its variables filled in."
VARIABLES = "Its variables are filled in as they were in this run."
MODEL_OF_RUN = "The model of the run"
MODEL_OF_VARIANT = "The variant's own model"


def open_fork(workbench: Workbench, run_id: str, entries: Sequence[Entry], seq: int, *, note: str = "") -> None:
    """Ask how the run is to go on from that entry; what comes of it opens as a run of its own.

    `note` is added to what can be edited there.
    """
    first = entries[0].event if entries else None
    if not isinstance(first, RunStarted) or not 0 <= seq < len(entries):
        notify("The beginning of this run cannot be read, so nothing can run on from it.")
        return
    ForkDialog(workbench, run_id, first, entries, seq, note=note)


def open_fork_with(workbench: Workbench, run_id: str, entries: Sequence[Entry], note: str) -> None:
    """The same from the run's message, to which the note is added as its edit."""
    said = (entry.seq for entry in entries if isinstance(entry.event, MessageAdded) and entry.event.origin == "user")
    open_fork(workbench, run_id, entries, max(said, default=-1), note=note)


class ForkDialog:
    def __init__(
        self,
        workbench: Workbench,
        run_id: str,
        started: RunStarted,
        entries: Sequence[Entry],
        seq: int,
        *,
        note: str = "",
    ) -> None:
        self._workbench = workbench
        self._run_id = run_id
        self._started = started
        self._entries = entries
        self._rows: dict[str, ForkToolRow] = {}
        self._template = prompt_template(self._agent(), started)
        prompt = self._own_prompt(None)
        editable = editable_at(entries, seq)
        text = "\n\n".join(filter(None, (editable.text if editable else "", note)))
        self._draft = ForkDraft(seq, editable, text=text, system_prompt=prompt, own_prompt=prompt)
        self._asked = 0
        named = ui.dialog().props('aria-label="Run on from here"')
        with named as self._dialog, ui.card().classes("dialog-card fork-dialog") as card:
            card.props("data-testid=fork-dialog")
            number = step_number(entries, seq)
            title = f"Run on from step {number}" if number else "Run on from the first message"
            ui.html(title, sanitize=False, tag="h2").classes("section-title")
            self._build_edit()
            self._build_who()
            self._build_prompt()
            self._build_tools()
            self._build_foot()
        keep_typed(self._dialog, card)
        self._dialog.on("hide", self._dialog.delete)
        self._dialog.open()
        background_tasks.create(self._check(), name="fork check")

    def _build_foot(self) -> None:
        with ui.element("div").classes("fork-foot"):
            self._words = ui.html(tag("p", "Looking at what would happen…", cls="faint"), sanitize=False)
            self._words.classes("fork-check").props("role=status data-testid=fork-check")
            with ui.element("div").classes("row-line dialog-buttons"):
                self._join = ui.checkbox("As a branch of its conversation", value=True)
                self._join.bind_value_to(self._draft, "join").props("dense data-testid=fork-join")
                self._join.visible = False
                ui.element("span").classes("grow")
                button("Cancel", self._dialog.close, look="quiet")
                self._go = button("Run on", self._start, look="primary", icon="play_arrow", testid="fork-start")

    def _build_edit(self) -> None:
        editable = self._draft.editable
        if editable is None:
            return
        area = ui.textarea(editable.label, value=self._draft.text, on_change=self._check).classes("whole-width")
        area.props("outlined dense autogrow autofocus debounce=300 input-style=max-height:30vh data-testid=fork-edit")
        area.bind_value_to(self._draft, "text")

    def _build_who(self) -> None:
        agent = self._agent()
        with ui.element("div").classes("row-line wrap-line"):
            if agent is not None and agent.deleted_at is None:
                words = {one.number: variant_words(agent, one.number) for one in reversed(agent.variants)}
                box = ui.select({AS_RECORDED: "As it ran"} | words, value=AS_RECORDED, label="Variant")
                box.props("outlined dense options-dense data-testid=fork-variant").classes("grow")
                box.on_value_change(self._choose_variant)
            self._picker = ModelPicker(
                self._workbench,
                self._started.model,
                self._choose_model,
                reset=MODEL_OF_RUN,
                testid="fork-model",
            )

    def _build_prompt(self) -> None:
        with ui.expansion("System prompt").classes("whole-width").props("dense data-testid=fork-prompt-panel"):
            self._prompt = ui.textarea(value=self._draft.system_prompt, on_change=self._check).classes("whole-width")
            self._prompt.props('outlined dense debounce=300 aria-label="System prompt" data-testid=fork-prompt')
            self._prompt.bind_value_to(self._draft, "system_prompt")
            self._note = ui.html(self._prompt_note(None), sanitize=False, tag="p").classes("faint")
            self._note.bind_visibility_from(self._note, "content", backward=bool)

    def _prompt_note(self, variant: int | None) -> str:
        if variant is None and self._template is None:
            return SENT
        own = self._own_prompt(variant)
        return "" if filled(own, self._started.variables) == own else VARIABLES

    def _own_prompt(self, variant: int | None) -> str:
        """The prompt of the variant, or else of the run."""
        if variant is not None and (agent := self._agent()) is not None:
            return template_of(agent.variant(variant).behaviour)
        return self._template if self._template is not None else sent_prompt(self._started)

    def _build_tools(self) -> None:
        tools = [tool for tool in self._started.tools if tool.policy != "off"]
        if not tools:
            return
        with ui.expansion(f"Tools ({len(tools)})").classes("whole-width").props("dense data-testid=fork-tools"):
            by_default = plans_by_default(self._entries)
            for tool in tools:
                plan = by_default.get(tool.spec.name, ToolPlan())
                label = self._workbench.tools.label(tool.spec.name)
                self._rows[tool.spec.name] = ForkToolRow(tool, label, plan, self._choose_tool, self._type_result)

    async def _choose_variant(self, event: events.ValueChangeEventArguments[int]) -> None:
        variant = event.value or None
        self._draft.choose(variant, self._own_prompt(variant))
        self._prompt.value = self._draft.system_prompt
        self._note.set_content(self._prompt_note(variant))
        self._picker.reset = MODEL_OF_VARIANT if self._draft.variant else MODEL_OF_RUN
        self._picker.show(self._own_model())
        await self._check()

    async def _choose_model(self, model: str | None) -> None:
        own = self._own_model()
        self._draft.model = None if model == own else model
        self._picker.show(model or own)
        await self._check()

    def _own_model(self) -> str | None:
        """What answers where no other model is chosen: that of the chosen variant, else of the run."""
        agent = self._agent()
        if agent is None or self._draft.variant is None:
            return self._started.model
        return model_of(agent.variant(self._draft.variant).behaviour)

    async def _choose_tool(self, name: str, plan: ToolPlan) -> None:
        self._draft.tools[name] = plan
        for other, follows in plans_by_default(self._entries, self._draft.tools).items():
            if other in self._rows and other not in self._draft.tools:
                self._rows[other].follow(follows)
        await self._check()

    def _type_result(self, name: str, plan: ToolPlan) -> None:
        self._draft.tools[name] = plan

    async def _check(self) -> None:
        """Say what would happen; an answer that came too late says nothing."""
        self._asked += 1
        asked = self._asked
        try:
            check = await self._workbench.forks.check(self._run_id, self._draft.plan())
            words, possible, self._join.visible = check_words(check), True, check.can_join
        except WorkbenchError as error:
            words, possible = tag("p", str(error), cls="is-bad"), False
        if asked == self._asked and not self._dialog.is_deleted:
            self._words.set_content(words)
            self._go.set_enabled(possible)

    async def _start(self) -> None:
        with problems_shown(), loading(self._go):
            live = await self._workbench.forks.start(self._run_id, self._draft.plan(), trigger=Trigger(kind="page"))
            if not self._dialog.is_deleted:
                self._dialog.close()
                ui.navigate.to(run_address(live.run_id))

    def _agent(self) -> Agent | None:
        try:
            return self._workbench.agents.get(self._started.agent.id)
        except NotFound:
            return None


class ForkToolRow(ui.element):
    """Where the results of one tool come from; `on_choose` gets its name and what was chosen.

    `on_type` gets the same for each change of the text, which decides nothing else.
    """

    def __init__(self, tool: GrantedTool, label: str, plan: ToolPlan, on_choose: OnChoose, on_type: OnType) -> None:
        super().__init__()
        self.classes("fork-tool").props("role=group data-testid=fork-tool")
        self.props["data-tool"] = self.props["aria-label"] = tool.spec.name
        self._name = tool.spec.name
        self._on_choose, self._on_type = on_choose, on_type
        with self:
            outside = tag("span", "side effects", cls="chip is-warn") if tool.spec.side_effects else ""
            name = ui.html(
                joined(icon(tool.spec.icon), tag("strong", visible(label or tool.spec.name)), outside), sanitize=False
            )
            name.classes("fork-tool-name")
            with ui.element("div").classes("row-line wrap-line"):
                self._before = self._select(BEFORE, plan.before, "Up to here")
                self._after = self._select(AFTER, plan.after.mode, "From here on")
            self._fixed = ui.textarea("Result of every call", on_change=self._typed).classes("whole-width")
            self._fixed.props("outlined dense")
            self._fixed.visible = False

    def _select(self, options: dict[str, str], chosen: str, label: str) -> ui.select:
        box = ui.select(options, value=chosen, label=label, on_change=self._chosen).classes("grow")
        return box.props("outlined dense options-dense")

    def follow(self, plan: ToolPlan) -> None:
        """Choose what goes with the choice of another tool."""
        self._after.value = plan.after.mode

    async def _chosen(self) -> None:
        self._fixed.visible = self._after.value == "edited"
        await self._on_choose(self._name, self._plan())

    def _typed(self) -> None:
        self._on_type(self._name, self._plan())

    def _plan(self) -> ToolPlan:
        after = ToolSource.model_validate({"mode": self._after.value, "text": str(self._fixed.value or "")})
        return ToolPlan.model_validate({"before": self._before.value, "after": after})


def check_words(check: ForkCheck) -> Html:
    """What the fork would reuse, and what it would do for real; tools that change something outside stand out."""
    reused = f"{plural(check.reused_steps, 'step')} reused with {plural(check.reused_calls, 'result')}"
    files = f", {plural(len(check.files), 'file')} as of then" if check.files else ""
    really = f"If the model calls these from here on, they really run: {', '.join(check.live)}."
    live = really if check.live else "No tool really runs: results come from the record."
    lines = [tag("p", f"{reused}{files}. {live}"), *map(_again, check.again)]
    lines += [tag("p", words) for words in (check.moved, *check.notes) if words]
    if check.unasked:
        unasked = f"Nobody is asked before these are called: {', '.join(check.unasked)}."
        lines.append(tag("p", icon("warning"), " ", unasked, cls="is-warn", data_testid="fork-unasked"))
    if check.side_effects:
        warning = f"These have side effects: {', '.join(check.side_effects)}."
        lines.append(tag("p", icon("warning"), " ", warning, cls="is-warn", data_testid="fork-side-effects"))
    return visible(joined(*lines))


def _again(call: CallAgain) -> Html:
    """A call that is made as soon as the fork starts, with all that it is given."""
    when = "when you have allowed it" if call.asked else "at once, and nobody is asked"
    written = json.dumps(call.arguments, indent=2, ensure_ascii=False)
    given = tag(
        "pre", written, role="group", tabindex="0", aria_label=f"Arguments of {call.name}", data_testid="fork-again"
    )
    return joined(tag("p", f"{call.name} is called again {when}, with:"), given)
