"""Fields of a form for single values: texts, numbers, choices, moments, and any JSON."""

import json
import math
import re
from collections.abc import Callable, Sequence
from datetime import datetime

from nicegui import events, ui

from app.domain.values import well_formed
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.visible import visible
from app.ui.schema_form.field import Field
from app.ui.schema_form.fitting import in_full, misfits, same
from app.ui.schema_form.json import BrokenJson, as_json, read_json
from app.ui.schema_form.shape import ABSENT, Given, as_words

LONG_NAMES = re.compile("code|text|content|body|csv|rows|source|script|prompt|markdown|html|json")
LONGEST_SCHEMA = 4_000
"""Characters shown of the schema beside a box of JSON."""
_EMIT_INDEX = "(event) => emit(event.target.selectedIndex)"


class TextField(Field):
    """Text of any length."""

    def build_box(self, given: Given) -> None:
        self._empty: Given = ABSENT if given is ABSENT else ""
        value = given if isinstance(given, str) else ""
        box = ui.textarea(value=value, placeholder=_example(self), on_change=self._typed)
        box.props('outlined dense autogrow rows=1 spellcheck="false" hide-bottom-space').classes("text-box")
        if LONG_NAMES.fullmatch(self.slot.name) or "\n" in value:
            box.classes("is-long")
        box.props["aria-label"] = self.slot.name
        self._written = box

    def read(self) -> Given:
        text = well_formed(self._written.value or "")
        return text if text or self.slot.required else self._empty

    def _typed(self) -> None:
        self._empty = self.emptied("")
        self.edited()


class NumberField(Field):
    """A number, kept as it was written: large whole numbers lose nothing."""

    look = "is-short"

    def build_box(self, given: Given) -> None:
        value = "" if given is ABSENT or given is None else json.dumps(given)
        box = ui.input(value=value, placeholder=_example(self), on_change=self.edited)
        box.props("outlined dense type=number hide-bottom-space").classes("number-input")
        box.props["step"] = "1" if self.shape.kind == "integer" else "any"
        box.props["aria-label"] = self.slot.name
        self._written = box

    def read(self) -> Given:
        text = str(self._written.value or "").strip()
        if not text:
            return ABSENT
        try:
            return int(text)
        except ValueError:
            return _number(text)

    def wrong(self, value: Given) -> str:
        if isinstance(value, str):
            return f"“{value[:40]}” is no number."
        if self.shape.kind == "integer" and isinstance(value, float) and not value.is_integer():
            return "A whole number, please."
        return super().wrong(value)

    def kind_words(self) -> str:
        least, most = self.shape.limit("minimum"), self.shape.limit("maximum")
        if least is None:
            return self.shape.words if most is None else f"{self.shape.words}, up to {in_full(most)}"
        return f"{self.shape.words}, {in_full(least)} {'or more' if most is None else f'to {in_full(most)}'}"


class ChoiceOfValues(Field):
    """One of the values the schema lists; yes or no is such a list too."""

    look = "is-short"

    def build_box(self, given: Given) -> None:
        choices = self.shape.choices
        self._values: list[Given] = [value for _, value in choices]
        named = [words for words, _ in choices]
        chosen = next((n for n, (_, one) in enumerate(choices) if given is not ABSENT and same(one, given)), None)
        if not self.slot.required or chosen is None:
            self._values.insert(0, ABSENT)
            named.insert(0, "Choose…" if self.slot.required else "Not sent")
            chosen = 0 if chosen is None else chosen + 1
        self._chosen = self._values[chosen]
        select_box(self.slot.name, named, chosen, self._choose)

    def read(self) -> Given:
        return self._chosen

    def _choose(self, event: events.GenericEventArguments) -> None:
        self._chosen = self._values[int(event.args)]
        self.edited()


class ConstField(Field):
    """The one value there can be; left out of what need not have it."""

    look = "is-short"

    def build_box(self, given: Given) -> None:
        self._sent = self.slot.required or given is not ABSENT
        ui.html(visible(tag("code", as_words(self.shape.schema.get("const")))), sanitize=False).classes("const-value")

    def read(self) -> Given:
        return self.shape.schema.get("const") if self._sent else ABSENT


class MomentField(Field):
    """A date, a time of day, or both; a date with its time is sent with this computer's offset.

    A text that is none stands in a box for text.
    """

    look = "is-short"

    def build_box(self, given: Given) -> None:
        self._given = given if isinstance(given, str) else ""
        kind: str = "datetime-local" if self.shape.kind == "date-time" else self.shape.kind
        self._shown = local_minutes(self._given) if self.shape.kind == "date-time" else self._given
        if self._given and not self._shown:
            kind, self._shown = "text", self._given
        box = ui.input(value=self._shown, on_change=self.edited)
        box.props(f"outlined dense type={kind} hide-bottom-space").classes("moment-input")
        box.props["aria-label"] = self.slot.name
        self._written = box

    def read(self) -> Given:
        text = str(self._written.value or "")
        if not text:
            return ABSENT
        if text == self._shown:
            return self._given
        return with_offset(text) if self.shape.kind == "date-time" else text


class JsonField(Field):
    """Any JSON, beside its schema; also what does not fit that, so that nothing is lost that was written elsewhere."""

    def build_box(self, given: Given) -> None:
        value = "" if given is ABSENT else as_json(given)
        self._read, self._broken = given, ""
        with ui.element("div").classes("json-beside"):
            box = ui.textarea(value=value, placeholder="JSON, such as {“a”: 1} or “text”", on_change=self._typed)
            box.props('outlined dense autogrow rows=1 spellcheck="false" hide-bottom-space').classes("text-box is-json")
            box.props["aria-label"] = self.slot.name
            if self.shape.kind in ("object", "array", "choice"):
                schema = tag("pre", as_json(self.shape.part)[:LONGEST_SCHEMA], tabindex="0")
                ui.html(schema, sanitize=False).classes("json-schema").props["aria-label"] = "Schema"

    def read(self) -> Given:
        """What was written, as a text while it is no JSON."""
        return self._read

    def wrong(self, value: Given) -> str:
        if self._broken or value is ABSENT:
            return self._broken or super().wrong(value)
        return next(misfits(self.shape, value), "")

    def kind_words(self) -> str:
        return "any JSON" if self.shape.kind == "json" else f"{self.shape.words}, written as JSON"

    def _typed(self, event: events.ValueChangeEventArguments[str | None]) -> None:
        text = event.value or ""
        try:
            self._read, self._broken = (read_json(text) if text.strip() else ABSENT), ""
        except BrokenJson as problem:
            self._read, self._broken = text, f"{problem} A text needs quotation marks here."
        self.edited()


def select_box(
    label: str,
    choices: Sequence[str],
    chosen: int,
    on_change: Callable[[events.GenericEventArguments], object],
) -> ui.html:
    """The browser's own box to choose from; `on_change` gets the place of what was chosen in `event.args`."""
    box = ui.html(options_of(choices, chosen), sanitize=False, tag="select").classes("select-box")
    box.props["aria-label"] = label
    return box.on("change", on_change, js_handler=_EMIT_INDEX)


def options_of(choices: Sequence[str], chosen: int) -> Html:
    """What may be chosen in such a box, with the choice."""
    options = (tag("option", words, value=words, selected=place == chosen) for place, words in enumerate(choices))
    return visible(joined(*options))


def local_minutes(text: str) -> str:
    """A moment as a box for local date and time holds it; empty when it is none, or none that can be local."""
    try:
        moment = datetime.fromisoformat(text)
        local = moment.astimezone() if moment.tzinfo else moment
    except (ValueError, OverflowError, OSError):
        return ""
    return local.replace(tzinfo=None).isoformat(timespec="minutes")


def with_offset(text: str) -> str:
    """The local date and time of such a box, as RFC 3339 has it."""
    try:
        return datetime.fromisoformat(text).astimezone().isoformat()
    except (ValueError, OverflowError, OSError):
        return text


def _example(field: Field) -> str:
    examples = field.shape.schema.get("examples")
    example = examples[0] if isinstance(examples, list) and examples else field.shape.schema.get("example")
    return f"for example {as_words(example)}"[:120] if example is not None else ""


def _number(text: str) -> Given:
    """The number in that text, or the text where there is none."""
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text
