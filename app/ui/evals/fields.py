"""Boxes for the fields of a value, and what is typed in them as values again."""

import json
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from nicegui import ui
from pydantic import JsonValue, ValidationError

from app.domain.errors import WorkbenchError
from app.domain.reading.numbers import plain, written_number
from app.domain.values import json_in
from app.ui.elements.model_picker import ModelPicker
from app.workbench import Workbench

Kind = Literal["line", "text", "lines", "switch", "number", "json", "model"]
NO_MODEL = "Choose a model"


class FieldWords(NamedTuple):
    """A field as a person is asked for it."""

    name: str
    label: str
    kind: Kind = "line"
    hint: str = ""
    options: Mapping[str, str] = {}
    """Where one of some values is chosen: each with its words."""


class Fields(ui.element):
    """A box for each; what is left empty is not among the values."""

    def __init__(self, workbench: Workbench, asked: Sequence[FieldWords], given: Mapping[str, JsonValue]) -> None:
        super().__init__("div")
        self.classes("stack eval-fields")
        self._workbench = workbench
        self._asked = asked
        self._boxes: dict[str, ui.input | ui.textarea | ui.checkbox | ui.select | ModelPicker] = {}
        with self:
            for words in asked:
                self._boxes[words.name] = self._box(words, given.get(words.name))

    def values(self) -> dict[str, JsonValue]:
        """By name; raises `WorkbenchError` that names the field that cannot be read."""
        read = ((words.name, self._read(words)) for words in self._asked)
        return {name: value for name, value in read if value is not None}

    def _box(
        self, words: FieldWords, value: JsonValue
    ) -> ui.input | ui.textarea | ui.checkbox | ui.select | ModelPicker:
        testid = f"data-testid=field-{words.name}"
        if words.kind == "switch":
            return ui.checkbox(words.label, value=value is True).props(f"dense {testid}")
        if words.kind == "model":
            return self._model(words, str(value or ""))
        box: ui.input | ui.textarea | ui.select
        if words.options:
            chosen = value if value in words.options else next(iter(words.options))
            box = ui.select(dict(words.options), value=chosen, label=words.label).props("options-dense")
        elif words.kind in ("text", "lines", "json"):
            box = ui.textarea(words.label, value=_written(words.kind, value)).props("autogrow")
        else:
            box = ui.input(words.label, value=_written(words.kind, value))
        box.classes("fill" if words.kind != "number" else "number-box").props(f"outlined dense {testid}")
        if words.hint:
            box.props["hint"] = words.hint
        return box

    def _model(self, words: FieldWords, model: str) -> ModelPicker:
        async def choose(chosen: str | None) -> None:
            picker.show(chosen or NO_MODEL)

        with ui.element("div").classes("row-line"):
            ui.label(words.label).classes("faint")
            picker = ModelPicker(self._workbench, model or NO_MODEL, choose, testid=f"field-{words.name}")
        return picker

    def _read(self, words: FieldWords) -> JsonValue:
        box = self._boxes[words.name]
        if isinstance(box, ModelPicker):
            return box.model if box.model != NO_MODEL else None
        if isinstance(box, ui.checkbox):
            return bool(box.value)
        return value_of(words.kind, str(box.value or ""), words.label)


def value_of(kind: Kind, typed: str, label: str) -> JsonValue:
    """What was typed into a box of that kind; `None` for nothing. Raises `WorkbenchError`."""
    if not typed.strip():
        return None
    match kind:
        case "lines":
            return [line.strip() for line in typed.splitlines() if line.strip()]
        case "number":
            number = None if "%" in typed else written_number(typed)
            if number is None:
                raise WorkbenchError(f"{label}: {typed.strip()!r} is no number.")
            return plain(number)
        case "json":
            return json_of(typed, label)
        case _:
            return typed


def json_of(typed: str, label: str) -> JsonValue:
    """Raises `WorkbenchError` with the place where it is no JSON."""
    try:
        return json_in(typed)
    except (ValueError, RecursionError) as error:
        raise WorkbenchError(f"{label}: this is no JSON: {error}.") from error


def fault_of(error: ValidationError) -> WorkbenchError:
    """What does not fit, in words."""
    fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = next((str(part) for part in reversed(fault["loc"]) if isinstance(part, str)), "")
    named = f"{place.replace('_', ' ').capitalize()}: " if place else ""
    return WorkbenchError(f"{named}{fault['msg'].removeprefix('Value error, ')}.".replace("..", "."))


def _written(kind: Kind, value: JsonValue) -> str:
    if value is None or value in ([], {}):
        return ""
    if kind == "lines" and isinstance(value, list):
        return "\n".join(map(str, value))
    return json.dumps(value, indent=2, ensure_ascii=False) if kind == "json" else str(value)
