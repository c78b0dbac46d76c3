"""The variables of a prompt, one box each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from nicegui import ui

from app.domain.agents import Variable
from app.domain.prompts import PromptFault, faults, variables_of

Mark = Literal["", "new", "unused"]


MOST_FIELDS = 50
"""Boxes on a page; more would make every update of the page slow."""


@dataclass(frozen=True, slots=True)
class Field:
    """A variable with the value in its box."""

    variable: Variable
    value: str
    mark: Mark = ""


def fields_of(prompt: str, declared: Sequence[Variable], values: dict[str, str] | None = None) -> list[Field]:
    """The prompt's variables in order of appearance, then the declared ones it does not use.

    The value of a field is the one given, else the variable's default.
    """
    known = {one.name: one for one in declared}
    used = variables_of(prompt)
    given = values or {}

    def field(name: str, mark: Mark) -> Field:
        variable = known.get(name, Variable(name=name))
        return Field(variable, given.get(name, variable.default), mark)

    found = [field(name, "" if name in known else "new") for name in used]
    return [*found, *(field(name, "unused") for name in known if name not in used)]


def declared_with(prompt: str, declared: Sequence[Variable]) -> tuple[Variable, ...]:
    """The declared variables, and those the prompt uses and nobody declared."""
    known = {one.name for one in declared}
    return (*declared, *(Variable(name=name) for name in variables_of(prompt) if name not in known))


def brace_faults(prompt: str) -> list[PromptFault]:
    """Braces in the prompt that make no variable: never closed, or with something else than a name between them."""
    return faults(prompt, variables_of(prompt))


def fault_words(fault: PromptFault) -> str:
    """What is wrong, and the way out."""
    name = fault.name or " "
    match fault.fault:
        case "unclosed":
            return f"“{{{{{name}” is never closed. Write {{{{name}}}}, or leave out the braces."
        case "bad_name":
            return f"“{{{{{name}}}}}” is no variable: use letters, digits and _ only. It is sent as written."
        case "undeclared":
            return f"{{{{{name}}}}} is new: it has no default yet."
        case "unused":
            return f"The prompt does not use {{{{{name}}}}}."


class VariablesForm(ui.element):
    """A box for each field; `on_value` gets name and value half a second after typing stops.

    With `on_describe` each field has a second box for the description, and `on_remove` takes unused ones away.
    """

    def __init__(
        self,
        on_value: Callable[[str, str], object],
        *,
        on_describe: Callable[[str, str], object] | None = None,
        on_remove: Callable[[str], object] | None = None,
    ) -> None:
        super().__init__()
        self.classes("variables-form")
        self._on_value = on_value
        self._on_describe = on_describe
        self._on_remove = on_remove
        self._shown: list[tuple[Variable, Mark]] | None = None
        self._boxes: dict[str, ui.textarea] = {}
        self._values: dict[str, str] = {}
        """By variable: its value as it was given last."""

    def show(self, fields: Sequence[Field]) -> None:
        """Show these fields; boxes stay as they are while variables and values are the same, so that typing goes on."""
        shape = [(field.variable.model_copy(update={"default": ""}), field.mark) for field in fields]
        if self._on_describe is not None:
            shape = [(one.model_copy(update={"description": ""}), mark) for one, mark in shape]
        before, self._values = self._values, {field.variable.name: field.value for field in fields}
        if shape == self._shown and not self._changed_elsewhere(before):
            return
        self._shown = shape
        self.clear()
        self._boxes = {}
        with self:
            if not fields:
                ui.label("No variables. Write {{name}} in the prompt to make one.").classes("faint")
            for field in fields[:MOST_FIELDS]:
                self._build(field)
            if len(fields) > MOST_FIELDS:
                ui.label(f"And {len(fields) - MOST_FIELDS:,} more variables, which keep their values.").classes("faint")

    def put(self, name: str, value: str) -> None:
        """Write into the box of that variable, if there is one."""
        if name in self._boxes:
            self._boxes[name].value = value

    def _changed_elsewhere(self, before: dict[str, str]) -> bool:
        """Whether a box still holds what its field had before, and its field something else: nobody is typing in it."""
        return any(str(box.value or "") == before[name] != self._values[name] for name, box in self._boxes.items())

    def _build(self, field: Field) -> None:
        name = field.variable.name
        with ui.element("div").classes("variable"):
            with ui.element("div").classes("variable-head"):
                ui.label(name).classes("mono variable-name")
                if self._on_describe is None and field.variable.description:
                    ui.label(field.variable.description).classes("faint variable-description")
                if field.mark:
                    words = "new" if field.mark == "new" else "not used"
                    ui.label(words).classes("chip" if field.mark == "new" else "chip is-warn")
                if field.mark == "unused" and self._on_remove is not None:
                    remove = ui.button("Remove", on_click=partial(self._on_remove, name), color=None)
                    remove.props("flat no-caps").classes("btn-quiet variable-remove")
                    remove.props["aria-label"] = f"Remove {name}"
            self._boxes[name] = self._box(name, field.value)
            if self._on_describe is not None:
                self._description(name, field.variable.description)

    def _box(self, name: str, value: str) -> ui.textarea:
        box = ui.textarea(value=value, on_change=lambda event: self._on_value(name, str(event.value or "")))
        box.props("outlined dense autogrow rows=1 debounce=500 data-testid=variable-input")
        box.props["aria-label"] = f"Value of {name}" if self._on_describe is None else f"Default of {name}"
        if self._on_describe is None:
            box.props["placeholder"] = "empty"
        else:
            box.props('label="Default" stack-label')
        box.props["data-variable"] = name
        return box

    def _description(self, name: str, description: str) -> None:
        describe = self._on_describe
        if describe is None:
            return
        box = ui.input(value=description, on_change=lambda event: describe(name, str(event.value or "")))
        box.props('outlined dense debounce=500 label="What it is for" stack-label data-testid=variable-description')
        box.props["aria-label"] = f"Description of {name}"
