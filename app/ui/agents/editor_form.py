"""The variant editor: everything that makes a behaviour, section by section."""

from collections.abc import Callable

from nicegui import ui

from app.domain.agents import Behaviour, Limits, Parameters, ToolChoice
from app.domain.errors import NotFound
from app.domain.tools import JsonSchema
from app.ui.agents.editor_parameters import ParametersForm
from app.ui.agents.editor_prompt import PromptSection
from app.ui.agents.editor_schema import SchemaEditor
from app.ui.agents.limits_form import LimitsForm
from app.ui.agents.tool_policies import ToolPolicies
from app.ui.elements.day_ceiling_form import DayCeilingForm
from app.ui.elements.markup import icon, joined, tag
from app.ui.elements.model_picker import ModelPicker, card_words
from app.workbench import Workbench


class EditorForm(ui.element):
    """Shows `behaviour`; `on_change` gets each other one that somebody makes of it."""

    def __init__(self, workbench: Workbench, behaviour: Behaviour, *, on_change: Callable[[Behaviour], None]) -> None:
        super().__init__("div")
        self.classes("editor-form")
        self._workbench = workbench
        self._behaviour = behaviour
        self._on_change = on_change
        with self:
            self._prompt = PromptSection(behaviour, on_change=self._change)
            with ui.element("section").classes("panel editor-section"):
                self._build_model()
            with ui.element("section").classes("panel editor-section"):
                ui.html("Tools", sanitize=False, tag="h2").classes("section-title")
                ToolPolicies(behaviour.tools, workbench.tools.all(), on_change=self._set_tools)
            with ui.element("section").classes("panel editor-section"):
                ui.html("Limits of a run", sanitize=False, tag="h2").classes("section-title")
                LimitsForm(behaviour.limits, on_change=self._set_limits)
                DayCeilingForm(workbench.preferences)
            with ui.element("section").classes("panel editor-section"):
                ui.html("Output schema", sanitize=False, tag="h2").classes("section-title")
                SchemaEditor(behaviour.output_schema, on_change=self._set_schema)

    def _build_model(self) -> None:
        ui.html("Model", sanitize=False, tag="h2").classes("section-title")
        with ui.element("div").classes("row-line model-line"):
            self._picker = ModelPicker(self._workbench.choices, self._behaviour.model, self._choose_model)
            self._model_facts = ui.html(sanitize=False).classes("faint").props("data-testid=model-facts")
        ParametersForm(self._behaviour.parameters, on_change=self._set_parameters)

    def saved(self) -> None:
        """What is in the editor is a variant now."""
        self._prompt.saved()

    async def look_up_model(self) -> None:
        """Say what is known of the model, and what is wrong with it."""
        name = self._behaviour.model
        try:
            await self._workbench.models.check(name)
        except NotFound as problem:
            self._picker.show(name, trouble=str(problem))
            self._model_facts.set_content(tag("span", icon("error_outline"), str(problem), cls="mark mark-warn"))
            return
        await self._workbench.catalog.ready()
        self._picker.show(name)
        self._model_facts.set_content(joined(card_words(self._workbench.catalog.card(name))))

    async def _choose_model(self, model: str | None) -> None:
        if model is None:
            return
        self._change(self._behaviour.model_copy(update={"model": model}))
        await self.look_up_model()

    def _set_parameters(self, parameters: Parameters) -> None:
        self._change(self._behaviour.model_copy(update={"parameters": parameters}))

    def _set_tools(self, tools: tuple[ToolChoice, ...]) -> None:
        self._change(self._behaviour.model_copy(update={"tools": tools}))

    def _set_limits(self, limits: Limits) -> None:
        self._change(self._behaviour.model_copy(update={"limits": limits}))

    def _set_schema(self, schema: JsonSchema | None) -> None:
        self._change(self._behaviour.model_copy(update={"output_schema": schema}))

    def _change(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self._prompt.take(behaviour)
        self._on_change(behaviour)
