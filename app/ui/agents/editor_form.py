"""The variant editor: everything that makes a behaviour, tab by tab."""

from collections.abc import Callable, Collection
from functools import partial

from nicegui import ui
from pydantic import ValidationError

from app.domain.agents import Limits, Parameters, PromptBehaviour
from app.domain.errors import NotFound
from app.ui.agents.editor_attachments import AttachmentRules
from app.ui.agents.editor_output import SchemaEditor
from app.ui.agents.editor_prompt import PromptSection
from app.ui.agents.editor_tabs import TABS, EditorTabs, Tab
from app.ui.agents.tool_loading import ToolLoadingForm
from app.ui.agents.tool_policies import ToolPolicies
from app.ui.elements.editor_numbers import V, ceilings, fault_words, number_box, with_field
from app.ui.elements.markup import icon, joined, tag
from app.ui.elements.model_options import card_words
from app.ui.elements.model_picker import ModelPicker
from app.workbench import Workbench


class EditorForm(EditorTabs):
    """Shows `behaviour`; `on_change` gets each other one that somebody makes of it."""

    def __init__(
        self,
        workbench: Workbench,
        behaviour: PromptBehaviour,
        *,
        tab: Tab,
        on_change: Callable[[PromptBehaviour], None],
        on_turn: Callable[[Tab], None],
    ) -> None:
        super().__init__(tab, on_turn=on_turn)
        self._workbench = workbench
        self._behaviour = behaviour
        self._on_change = on_change
        self._faulty: dict[Tab, dict[str, str]] = {}
        """By tab and box: what is wrong there."""
        self._unsaved: Collection[Tab] = ()
        self._to_build: dict[Tab, Callable[[], None]] = {
            "prompt": self._build_prompt,
            "model": self._build_model,
            "tools": self._build_tools,
            "limits": self._build_limits,
            "output": self._build_output,
        }
        self._build(self.tab)
        with self:
            ui.timer(0, self._build_others, once=True)

    def _build(self, *tabs: Tab) -> None:
        for tab in tabs:
            if (build := self._to_build.pop(tab, None)) is not None:
                with self.panels[tab], ui.element("section").classes("panel editor-section"):
                    build()

    async def _build_others(self) -> None:
        """What is behind the other tabs comes once the one that is looked at is seen; then what is wrong there."""
        self._build(*TABS)
        await self.look_up_model()

    def _build_prompt(self) -> None:
        fault = self._fault("prompt", "braces")
        self._prompt = PromptSection(self._behaviour, on_change=self._change, on_fault=fault)

    def _build_attachments(self) -> None:
        behaviour = self._behaviour
        ui.html("Attachments", sanitize=False, tag="h2").classes("section-title")
        AttachmentRules(
            behaviour.attachments,
            self._workbench.tools.specs(tuple(choice.name for choice in behaviour.tools)),
            on_change=partial(self._set, "attachments"),
            on_fault=self._fault("model", "media type"),
        )

    def _build_limits(self) -> None:
        set_limits, told = partial(self._set, "limits"), partial(self._tell, "limits")
        LimitsForm(self._behaviour.limits, on_change=set_limits, on_fault=told)
        ceilings(self._workbench.preferences)

    def _build_output(self) -> None:
        ui.html("Output schema", sanitize=False, tag="h2").classes("section-title")
        schema, fault = self._behaviour.output_schema, self._fault("output", "schema")
        SchemaEditor(schema, on_change=partial(self._set, "output_schema"), on_fault=fault)

    def _build_tools(self) -> None:
        behaviour, fault = self._behaviour, self._fault("tools", "missing")
        listed = self._workbench.tools.listed()
        ToolPolicies(behaviour.tools, listed, on_change=partial(self._set, "tools"), on_fault=fault)
        self._loading = ToolLoadingForm(self._workbench, behaviour, on_change=partial(self._set, "tool_loading"))

    def _build_model(self) -> None:
        with ui.element("div").classes("row-line model-line"):
            self._picker = ModelPicker(self._workbench, self._behaviour.model, self._choose_model)
            self._model_facts = ui.html(sanitize=False).classes("faint").props("data-testid=model-facts")
        own, told = self._behaviour.parameters, partial(self._tell, "model")
        form = ParametersForm(own, on_change=partial(self._set, "parameters"), on_fault=told)
        form.classes("developer-only")
        self._build_attachments()

    def saved(self) -> None:
        """What is in the editor is a variant now."""
        self._build(*TABS)
        self._prompt.saved()

    def show_unsaved(self, tabs: Collection[Tab]) -> None:
        """Mark the tabs in which something is not saved."""
        self._unsaved = tabs
        faults = {tab: next(iter(found.values())) for tab, found in self._faulty.items() if found}
        self.show_marks(tabs, faults)

    async def look_up_model(self) -> None:
        """Say what is known of the model, and what is wrong with it."""
        name, trouble = self._behaviour.model, ""
        try:
            await self._workbench.models.check(name)
        except NotFound as problem:
            trouble = str(problem)
        await self._workbench.catalog.ready()
        if self.is_deleted or name != self._behaviour.model:
            return  # the page was left meanwhile, or another one chosen
        self._fault("model", "unknown")(trouble)
        self._picker.show(name, trouble=trouble)
        self._model_facts.set_content(
            tag("span", icon("error_outline"), trouble, cls="mark mark-warn")
            if trouble
            else joined(card_words(self._workbench.catalog.card(name)))
        )

    async def _choose_model(self, model: str | None) -> None:
        if model is None:
            return
        self._change(self._behaviour.model_copy(update={"model": model}))
        await self.look_up_model()

    def _set(self, field: str, content: object) -> None:
        self._change(self._behaviour.model_copy(update={field: content}))

    def _change(self, behaviour: PromptBehaviour) -> None:
        self._build(*TABS)
        self._behaviour = behaviour
        self._prompt.take(behaviour)
        self._loading.take(behaviour)
        self._on_change(behaviour)

    def _fault(self, tab: Tab, box: str) -> Callable[[str], None]:
        return partial(self._tell, tab, box)

    def _tell(self, tab: Tab, box: str, words: str) -> None:
        """Know what is wrong with that box from now on; empty words: nothing."""
        found = self._faulty.setdefault(tab, {})
        found.pop(box, None)
        if words:
            found[box] = words
        self.show_unsaved(self._unsaved)


Told = Callable[[str, str], None]
"""Gets a field's name and what is wrong with what was typed there, or "" once nothing is."""


def _taken(value: V, field: str, content: object, label: str, told: Told) -> V:
    """The value with that field; raises `ValidationError` where it cannot be so, and tells of it."""
    try:
        changed = with_field(value, field, content)
    except ValidationError as problem:
        told(field, f"{label}: {fault_words(problem).lower()}. The last good number stays in use.")
        raise
    told(field, "")
    return changed


PROVIDERS_CHOICE = "provider's choice"
_EFFORTS = {"": "Provider's choice", "minimal": "Minimal", "low": "Low", "medium": "Medium", "high": "High"}
_PARAMETERS = {"temperature": "Temperature", "top_p": "Top-p", "max_tokens": "Answer at most", "seed": "Seed"}


class ParametersForm(ui.element):
    """`on_change` gets parameters that can be; an empty box leaves the choice to the provider."""

    def __init__(self, parameters: Parameters, *, on_change: Callable[[Parameters], None], on_fault: Told) -> None:
        super().__init__("div")
        self.classes("settings-grid")
        self._parameters = parameters
        self._on_change, self._on_fault = on_change, on_fault
        with self:
            take, hint, names = self._take, PROVIDERS_CHOICE, _PARAMETERS
            number_box("temperature", names["temperature"], parameters.temperature, take, hint=hint, step=0.1)
            number_box("top_p", names["top_p"], parameters.top_p, take, hint=hint, step=0.05)
            number_box("max_tokens", names["max_tokens"], parameters.max_tokens, take, suffix="tokens", step=256)
            number_box("seed", names["seed"], parameters.seed, take, hint=hint)
            self._effort()
            self._stop()
            self._parallel()

    def _effort(self) -> None:
        box = ui.select(_EFFORTS, label="Reasoning effort", value=self._parameters.reasoning_effort or "")
        box.props("outlined dense options-dense stack-label data-testid=setting-reasoning-effort").classes("number-box")
        box.on_value_change(lambda: self._set("reasoning_effort", box.value or None))

    def _stop(self) -> None:
        box = ui.input_chips("Stop at (Enter adds one)", value=list(self._parameters.stop))
        box.props("outlined dense stack-label hide-dropdown-icon new-value-mode=add-unique data-testid=setting-stop")
        box.classes("number-box wide-box")
        box.on_value_change(lambda: self._set("stop", tuple(map(str, box.value or ()))))

    def _parallel(self) -> None:
        box = ui.switch("Several tool calls at once", value=self._parameters.parallel_tool_calls)
        box.props("dense data-testid=setting-parallel-tool-calls").classes("wide-box")
        box.on_value_change(lambda: self._set("parallel_tool_calls", bool(box.value)))

    def _set(self, field: str, content: object) -> None:
        try:
            self._take(field, content)
        except ValidationError:  # a browser sent what its own box does not offer
            return

    def _take(self, field: str, content: object) -> None:
        label = _PARAMETERS.get(field, field)
        self._parameters = _taken(self._parameters, field, content, label, self._on_fault)
        self._on_change(self._parameters)


_BOXES = (
    ("run_cost", "Money for a run", "US$", 0.1, "With all that it starts"),
    ("session_cost", "Money for a session", "US$", 1, "All its runs; 0: no limit"),
    ("day_cost", "Money for a day", "US$", 1, "Of all agents together"),
    ("run_tokens", "Tokens of a run", "", 1000, "Prompts and answers; 0: no limit"),
    ("max_steps", "Steps at most", "", 1, "How often the model is asked"),
    ("total_time", "Whole run", "s", 10, "Waiting for people not counted"),
    ("idle_timeout", "Wait for the model", "s", 5, "Until its next word comes"),
    ("tool_timeout", "Wait for a tool", "s", 1, "One call of it"),
    ("retries", "Further tries", "", 1, "Of a call that failed"),
    ("repeats", "Same call in a row", "", 1, "With the same result; 0: no limit"),
    ("result_size", "Largest tool result", "bytes", 1_000_000, "0: no limit"),
    ("spawn_depth", "Agents calling agents", "levels", 1, "Tasks within tasks"),
)


class LimitsForm(ui.element):
    """`on_change` gets limits that can be; what cannot be stays in its box, with the reason."""

    def __init__(self, limits: Limits, *, on_change: Callable[[Limits], None], on_fault: Told) -> None:
        super().__init__("div")
        self.classes("settings-grid")
        self._limits = limits
        self._on_change, self._on_fault = on_change, on_fault
        with self:
            for field, label, suffix, step, note in _BOXES:
                value = getattr(limits, field)
                box = number_box(field, label, value, self._take, suffix=suffix, step=step, note=note)
                box.classes("" if field.endswith("_cost") else "developer-only")

    def _take(self, field: str, number: float | None) -> None:
        label = next(label for name, label, *_ in _BOXES if name == field)
        self._limits = _taken(self._limits, field, number, label, self._on_fault)
        self._on_change(self._limits)
