"""A form made of a JSON Schema: fields on two levels, and JSON beside its schema for what lies deeper.

Used wherever a person gives values to a schema: arguments of a tool called by hand, answers to a question.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from nicegui import events, ui
from pydantic import JsonValue

from app.domain.tools import JsonSchema
from app.ui.elements.buttons import button
from app.ui.elements.markup import tag
from app.ui.schema_form.field import Field, Slot
from app.ui.schema_form.fitting import fits, suits
from app.ui.schema_form.shape import ABSENT, Given, Kind, Shape, defaults, option_words, shape_of
from app.ui.schema_form.simple import (
    ChoiceOfValues,
    ConstField,
    JsonField,
    MomentField,
    NumberField,
    TextField,
    select_box,
)

DEEPEST = 2
"""The level below which everything is JSON."""
MANY = 16
"""Values of an object that need not be there and are shown at once; more of them wait behind a button."""


class SchemaForm(ui.element):
    """Shows `values` in fields; `on_change` gets all values after each edit.

    `value` is what would be sent, `faults` what keeps it from being sent. What is left out has its default.
    """

    def __init__(
        self,
        schema: JsonSchema,
        values: Mapping[str, JsonValue] | None = None,
        on_change: Callable[[dict[str, JsonValue]], object] | None = None,
    ) -> None:
        """`schema` is that of an object. Without `values` the defaults of the schema are filled in."""
        super().__init__("div")
        self.classes("schema-form").props("role=group")
        self._on_change = on_change
        shape = shape_of(schema, schema)
        if shape.kind != "object":
            shape = Shape("object", {"additionalProperties": True, **shape.schema}, shape.root)
        given = defaults(shape) if values is None else dict(values)
        with self:
            self._whole = ObjectField(shape, Slot(name="", place="", changed=self._edited), given)
            if not shape.properties and not shape.open:
                ui.html(tag("p", "It takes no arguments.", cls="faint"), sanitize=False)

    @property
    def value(self) -> dict[str, JsonValue]:
        """What would be sent."""
        found = self._whole.value
        return found if isinstance(found, dict) else {}

    @property
    def faults(self) -> dict[str, str]:
        """What keeps it from being sent, under its place, such as `filter.columns[0]`, in the order of the fields."""
        return dict(self._whole.faults())

    def ask(self) -> bool:
        """Whether something keeps it from being sent; it is now said at its field, and the first gets the focus."""
        if not self.faults:
            return False
        self._whole.ask()
        first = f"#{self.html_id} [data-fault] :is(input, textarea, select, button)"
        self.client.run_javascript(f"setTimeout(() => document.querySelector({first!r})?.focus())")
        return True

    def _edited(self) -> None:
        if self._on_change is not None:
            self._on_change(self.value)


class ObjectField(Field):
    """Named values, and one box of JSON for those of other names, where the schema invites them or some were given."""

    look = "is-wide is-group"

    def build_box(self, given: Given) -> None:
        self._fields: dict[str, Field] = {}
        self._others: JsonField | None = None
        self._sent = self.slot.required or given is not ABSENT
        if not self._sent:
            add = button("Add", self._add_all, icon="add").classes("field-add")
            add.props["aria-label"] = f"Add {self.slot.name}"
            return
        values = given if isinstance(given, dict) else defaults(self.shape)
        with ui.element("div").classes("field-group" if self.slot.place else "field-stack"):
            self._named = ui.element("div").classes("field-list")
            self._build_named(values)
            others = {name: value for name, value in values.items() if name not in self.shape.properties}
            if others or self.shape.open:
                self._build_others(others)

    def read(self) -> Given:
        if not self._sent:
            return ABSENT
        named = ((name, one.value) for name, one in self._fields.items())
        return {name: value for name, value in named if value is not ABSENT} | self._other_values()

    def wrong(self, value: Given) -> str:
        twice = next((name for name in self._other_values() if name in self.shape.properties), None)
        return super().wrong(value) if twice is None else f"The name “{twice}” is there twice."

    def inner_fields(self) -> Iterator[Field]:
        yield from self._fields.values()
        if self._others is not None:
            yield self._others

    def _build_named(self, values: dict[str, JsonValue]) -> None:
        properties, needed = self.shape.properties, self.shape.required
        later = [name for name in properties if name not in needed and name not in values][MANY:]
        with self._named:
            for name in properties:
                if name not in later:
                    self._add(name, values.get(name, ABSENT))
            if later:
                more = button(f"{len(later)} more that need not be sent", look="quiet", icon="expand_more")
                more.on_click(partial(self._add_later, later, more))

    def _add(self, name: str, given: Given) -> None:
        slot = self.slot.inner(name, f".{name}", required=name in self.shape.required)
        self._fields[name] = build_field(self.shape.properties[name], slot, given)

    def _add_later(self, names: list[str], more: ui.button) -> None:
        more.delete()
        with self._named:
            for name in names:
                self._add(name, ABSENT)

    def _add_all(self) -> None:
        default = self.shape.default
        self._fill(default if isinstance(default, dict) else defaults(self.shape))
        self.edited()

    def _build_others(self, values: dict[str, JsonValue]) -> None:
        allowed = {"type": "object", "additionalProperties": self.shape.schema.get("additionalProperties", True)}
        name = "Values of other names" if self.shape.properties else "Values"
        slot = self.slot.inner(name, ".*", required=False)
        self._others = JsonField(Shape("object", allowed, self.shape.root), slot, values or ABSENT)

    def _other_values(self) -> dict[str, JsonValue]:
        """None while they are no JSON object, which is told at their box."""
        values = ABSENT if self._others is None else self._others.value
        return values if isinstance(values, dict) else {}


class ListField(Field):
    """Values in order, each of which can be moved and removed."""

    look = "is-wide is-group"

    def build_box(self, given: Given) -> None:
        self._items: list[Field] = []
        self._empty: Given = ABSENT if given is ABSENT else []
        self._rows = ui.element("div").classes("field-items")
        values: list[Given] = [*given] if isinstance(given, list) else []
        least = min(20, int(self.shape.limit("minItems") or 0)) if self.slot.required else 0
        for value in values or [ABSENT] * least:
            self._append(value)
        add = button("Add an item", self._add_item, icon="add").classes("field-add")
        add.props["aria-label"] = f"Add an item to {self.slot.name}"

    def read(self) -> Given:
        if not self._items and not self.slot.required:
            return self._empty
        return [None if item.value is ABSENT else item.value for item in self._items]

    def inner_fields(self) -> Iterator[Field]:
        return iter(self._items)

    def _append(self, given: Given) -> None:
        place = len(self._items)
        self._empty = self.emptied([])
        slot = self.slot.inner(f"{place + 1}", f"[{place}]", act=partial(self._act, place))
        with self._rows:
            self._items.append(build_field(self.shape.item, slot, given))

    def _add_item(self) -> None:
        self._append(ABSENT)
        self.edited()

    def _act(self, place: int, action: str) -> None:
        """Draw the items anew in another order: their places are part of what they are called."""
        values = [item.value for item in self._items]
        target = {"up": place - 1, "down": place + 1}.get(action, place)
        if not 0 <= target < len(values):
            return
        value = values.pop(place)
        if action != "remove":
            values.insert(target, value)
        self._items.clear()
        self._rows.clear()
        for one in values:
            self._append(one)
        self.edited()
        if self._items:
            self._items[min(target, len(self._items) - 1)].focus_action(action)


class AlternativesField(Field):
    """First which of several kinds of value, then the value."""

    look = "is-wide is-group"

    def build_box(self, given: Given) -> None:
        options = self.shape.options
        place = 0 if given is ABSENT else next((n for n, one in enumerate(options) if suits(one, given)), 0)
        sent = self.slot.required or given is not ABSENT
        optional = [] if self.slot.required else ["Not sent"]
        words = [*optional, *map(option_words, options)]
        select_box(f"Kind of {self.slot.name}", words, place + len(optional) if sent else 0, self._choose)
        self._place = ui.element("div").classes("field-group")
        self._build_inner(place if sent else -1, given)

    def read(self) -> Given:
        return ABSENT if self._inner is None else self._inner.value

    def wrong(self, value: Given) -> str:
        return "" if self._inner is not None else super().wrong(value)

    def inner_fields(self) -> Iterator[Field]:
        return iter(()) if self._inner is None else iter((self._inner,))

    def _build_inner(self, place: int, given: Given) -> None:
        """The field of that alternative, none for -1."""
        self._place.clear()
        self._place.set_visibility(place >= 0)
        self._inner: Field | None = None
        if place >= 0:
            option = self.shape.options[place]
            with self._place:
                slot = replace(self.slot, name=option_words(option), required=True, act=None)
                self._inner = build_field(option, slot, given)

    def _choose(self, event: events.GenericEventArguments) -> None:
        self._build_inner(int(event.args) - (0 if self.slot.required else 1), ABSENT)
        self.edited()


_FIELDS: dict[Kind, type[Field]] = {
    "string": TextField,
    "number": NumberField,
    "integer": NumberField,
    "boolean": ChoiceOfValues,
    "enum": ChoiceOfValues,
    "const": ConstField,
    "date": MomentField,
    "date-time": MomentField,
    "time": MomentField,
    "object": ObjectField,
    "array": ListField,
    "choice": AlternativesField,
    "json": JsonField,
}


def build_field(shape: Shape, slot: Slot, given: Given) -> Field:
    """The field for a value; as JSON where the value does not fit its schema, or holds more than is drawn."""
    if _is_simple(shape) or (slot.level < DEEPEST and _holds_fields(shape)):
        fitting = given is ABSENT or fits(shape, given)
        return (_FIELDS[shape.kind] if fitting else JsonField)(shape, slot, given)
    if given is ABSENT and slot.required and shape.kind in ("object", "array"):
        given = defaults(shape) if shape.kind == "object" else []
    return JsonField(shape, slot, given)


def _is_simple(shape: Shape) -> bool:
    return shape.kind not in ("object", "array", "choice", "json")


def _holds_fields(shape: Shape) -> bool:
    """Whether what it holds is known well enough to be drawn."""
    return shape.kind == "choice" or bool(shape.properties) or (shape.kind == "array" and _is_simple(shape.item))
