"""Arguments for a call: a form of their schema, and the same as JSON; either may be written in."""

from collections.abc import Callable, Mapping
from typing import Literal

from nicegui import events, ui
from pydantic import JsonValue

from app.domain.tools import JsonSchema
from app.ui.elements.choice import Choice
from app.ui.elements.markup import Html, icon, tag
from app.ui.schema_form.form import SchemaForm
from app.ui.schema_form.json import BrokenJson, as_json, read_arguments

Mode = Literal["form", "json"]
MODES: tuple[tuple[Mode, str], ...] = (("form", "Form"), ("json", "JSON"))


class ArgumentsEditor(ui.element):
    """`value` is what was last written that can be read; `on_change` gets it after each edit.

    `switch` chooses between form and JSON, and may be moved to where it suits.
    """

    def __init__(
        self,
        schema: JsonSchema,
        values: Mapping[str, JsonValue] | None,
        *,
        on_change: Callable[[dict[str, JsonValue]], object],
    ) -> None:
        """Without `values` the defaults of the schema are filled in."""
        super().__init__("div")
        self.classes("arguments")
        self._schema = schema
        self._on_change = on_change
        self._mode: Mode = "form"
        self._broken = ""
        self._form_is_old = False
        with self:
            label = "How to write the arguments"
            self.switch = Choice(MODES, self.show, label=label, testid="arguments-{}-tab", look="mode-switch")
            self._notice = ui.html(sanitize=False).props("role=status")
            self._place = ui.element("div").props("data-testid=tool-form")
            self._json = ui.element("div").classes("stack")
        self._build_json()
        self._build_form(values)
        self.value = self._form.value
        self.text = as_json(self.value)
        self._show()

    def put(self, values: Mapping[str, JsonValue] | None) -> None:
        """Show other values, `None` for the defaults; `on_change` is not called."""
        self._broken = ""
        self._build_form(values)
        self.value = dict(values) if values is not None else self._form.value
        self.text = as_json(self.value)
        self._say()
        self._show()

    def ready(self) -> dict[str, JsonValue] | None:
        """The arguments to call with; `None` when something is said that has to be changed first.

        JSON may hold what does not fit the schema: then the tool itself says so.
        """
        if self._mode == "json" and self._broken:
            self.client.run_javascript(f"document.querySelector('#{self._json.html_id} textarea')?.focus()")
            return None
        return None if self._mode == "form" and self._form.ask() else self.value

    @property
    def text(self) -> str:
        """What stands in the JSON box."""
        return str(self._written.value or "")

    @text.setter
    def text(self, text: str) -> None:
        self._written.value = text

    def show(self, mode: Mode) -> None:
        """Let the arguments be written in the form or as JSON; what is in the other one is taken over."""
        if mode == self._mode:
            return
        self._mode = mode
        if mode == "form" and self._form_is_old:
            self._build_form(self.value)
        self._say()
        self._show()

    def _build_form(self, values: Mapping[str, JsonValue] | None) -> None:
        self._form_is_old = False
        self._place.clear()
        with self._place:
            self._form = SchemaForm(self._schema, values, self._form_edited)

    def _build_json(self) -> None:
        with self._json:
            self._written = ui.textarea(on_change=self._json_edited)
            self._written.props('outlined dense autogrow spellcheck=false aria-label="Arguments as JSON"')
            self._written.props("data-testid=arguments-json").classes("schema-box arguments-json")
            self._fault = ui.html(sanitize=False).classes("field-note").props("data-testid=arguments-fault")

    def _form_edited(self, values: dict[str, JsonValue]) -> None:
        self.value = values
        self._broken = ""
        self.text = as_json(values)  # while nobody can write in it: what arrived as it is shown would be typed over
        self._on_change(values)

    def _json_edited(self, event: events.ValueChangeEventArguments[str | None]) -> None:
        if self._mode != "json":
            return
        try:
            values = read_arguments(event.value or "")
        except BrokenJson as problem:
            self._broken = str(problem)
        else:
            self._broken = ""
            self._form_is_old = self._form_is_old or values != self.value
            self.value = values
            self._on_change(values)
        self._say()

    def _say(self) -> None:
        self._fault.set_content(_fault(self._broken) if self._broken else "")
        words = f"The JSON cannot be read, so the form shows what could be read last. {self._broken}"
        self._notice.set_content(_fault(words) if self._broken and self._mode == "form" else "")

    def _show(self) -> None:
        self.switch.show(self._mode)
        self._place.visible = self._mode == "form"
        self._json.visible = self._mode == "json"
        self._notice.visible = bool(self._broken) and self._mode == "form"


def _fault(words: str) -> Html:
    return tag("span", icon("error_outline"), words, cls="field-fault", role="alert")
