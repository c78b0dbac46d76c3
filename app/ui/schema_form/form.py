"""A form made of a JSON Schema: a field for each value, whatever the schema nests.

Used wherever a person gives values to a schema: arguments of a tool called by hand, answers to a question.
"""

from collections.abc import Callable, Mapping

from nicegui import ui
from pydantic import JsonValue

from app.domain.tools import JsonSchema
from app.ui.elements.markup import tag
from app.ui.schema_form.field import Fault, Field, Slot
from app.ui.schema_form.groups import AlternativesField, ListField, ObjectField
from app.ui.schema_form.shape import ABSENT, Given, Kind, Shape, defaults, fits, shape_of
from app.ui.schema_form.simple import (
    BooleanField,
    ChoiceOfValues,
    ConstField,
    JsonField,
    MomentField,
    NumberField,
    TextField,
)

DEEPEST = 8
"""Values within values that get fields of their own; what lies deeper is written as JSON."""
_FIELDS: dict[Kind, type[Field]] = {
    "text": TextField,
    "number": NumberField,
    "integer": NumberField,
    "boolean": BooleanField,
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
        shape = _as_object(shape_of(schema, schema))
        given = defaults(shape) if values is None else dict(values)
        with self:
            self._whole = ObjectField(shape, Slot(name="", place="", changed=self._edited, build=build_field), given)
            if not shape.properties and shape.extras is None:
                ui.html(tag("p", "It takes no arguments.", cls="faint"), sanitize=False)

    @property
    def value(self) -> dict[str, JsonValue]:
        """What would be sent."""
        found = self._whole.value
        return found if isinstance(found, dict) else {}

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What keeps it from being sent, in the order of the fields."""
        return tuple(self._whole.faults())

    def ask(self) -> tuple[Fault, ...]:
        """The faults, each now said at its field, what is missing too; the first gets the focus."""
        found = self.faults
        if found:
            self._whole.ask()
            first = f"#{self.html_id} [data-fault] :is(input, textarea, select, button)"
            self.client.run_javascript(f"setTimeout(() => document.querySelector({first!r})?.focus())")
        return found

    def _edited(self) -> None:
        if self._on_change is not None:
            self._on_change(self.value)


def build_field(shape: Shape, slot: Slot, given: Given) -> Field:
    """The field for a value; as JSON where the value does not fit its schema, or lies too deep."""
    if slot.depth > DEEPEST or (given is not ABSENT and not fits(shape, given)):
        return JsonField(shape, slot, given)
    return _FIELDS[shape.kind](shape, slot, given)


def _as_object(shape: Shape) -> Shape:
    if shape.kind == "object":
        return shape
    return Shape("object", {"type": "object", "additionalProperties": True, **shape.schema}, shape.root)
