"""What a JSON Schema asks a person for, value by value: references followed, alternatives told apart."""

import json
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Literal

from pydantic import JsonValue

from app.domain.tools import JsonSchema
from app.ui.schema_form.schema_references import DEEPEST, resolved

Kind = Literal[
    "text",
    "number",
    "integer",
    "boolean",
    "enum",
    "const",
    "date",
    "date-time",
    "time",
    "object",
    "array",
    "choice",
    "json",
]
MOST_OPTIONS = 60
ALTERNATIVES = ("anyOf", "oneOf")
FORMATS: dict[JsonValue, Kind] = {"date": "date", "date-time": "date-time", "time": "time"}
TYPES: dict[JsonValue, Kind] = {
    "string": "text",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
    "object": "object",
    "array": "array",
}
WORDS: dict[Kind, str] = {
    "text": "text",
    "number": "number",
    "integer": "whole number",
    "boolean": "yes or no",
    "enum": "choice",
    "const": "fixed",
    "date": "date",
    "date-time": "date and time",
    "time": "time of day",
    "object": "object",
    "array": "list",
    "choice": "one of several",
    "json": "any JSON",
}
_PYTHON: dict[Kind, tuple[type, ...]] = {
    "text": (str,),
    "date": (str,),
    "date-time": (str,),
    "time": (str,),
    "number": (int, float),
    "integer": (int,),
    "object": (dict,),
    "array": (list,),
}


class Absent(Enum):
    """The value of what is left out, which is another thing than null."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT
Given = JsonValue | Literal[Absent.ABSENT]


@dataclass(frozen=True)
class Shape:
    """One value that is asked for."""

    kind: Kind
    schema: JsonSchema = field(default_factory=dict)
    root: JsonSchema = field(default_factory=dict)
    """The whole schema, which references lead into."""
    nullable: bool = False
    choices: tuple[tuple[str, JsonValue], ...] = ()
    """Of an enum: words and value of each choice."""
    alternatives: tuple[JsonSchema, ...] = ()
    """Of a choice: the schemas among which one is chosen."""
    depth: int = 0
    """In how many choices it lies directly."""

    @property
    def title(self) -> str:
        return self._text("title")

    @property
    def description(self) -> str:
        return self._text("description")

    @property
    def default(self) -> Given:
        """What the tool takes when nothing is sent, as far as the schema says it."""
        return self.schema.get("default", ABSENT)

    @property
    def required(self) -> tuple[str, ...]:
        """Of an object: the names that must be there."""
        names = self.schema.get("required")
        return tuple(str(name) for name in names) if isinstance(names, list) else ()

    @cached_property
    def options(self) -> tuple["Shape", ...]:
        """Of a choice: the shapes of its alternatives."""
        return tuple(shape_of(one, self.root, self.depth + 1) for one in self.alternatives)

    @cached_property
    def properties(self) -> dict[str, "Shape"]:
        """Of an object: the values that are named in the schema."""
        named = self.schema.get("properties")
        return {name: shape_of(one, self.root) for name, one in named.items()} if isinstance(named, dict) else {}

    @property
    def extras(self) -> "Shape | None":
        """Of an object: what values of other names look like; `None` where the schema invites none."""
        allowed = self.schema.get("additionalProperties")
        if allowed is None and not self.properties:
            patterns = self.schema.get("patternProperties")
            allowed = next(iter(patterns.values()), True) if isinstance(patterns, dict) else True
        return shape_of(allowed, self.root) if allowed not in (None, False) else None

    def item(self, index: int) -> "Shape":
        """Of a list: what stands at that place."""
        first = self.schema.get("prefixItems")
        if isinstance(first, list) and index < len(first):
            return shape_of(first[index], self.root)
        return shape_of(self.schema.get("items", True), self.root)

    def limit(self, name: str) -> float | None:
        """A number that the schema gives under that name, such as `minimum`."""
        found = self.schema.get(name)
        return found if isinstance(found, int | float) and not isinstance(found, bool) else None

    @property
    def words(self) -> str:
        """What the value is, for a label."""
        if self.kind == "array":
            inner = self.item(0)
            return f"list of {_several(inner)}" if inner.kind not in ("json", "choice") else "list"
        return WORDS[self.kind]

    def _text(self, name: str) -> str:
        found = self.schema.get(name)
        return found if isinstance(found, str) else ""


def shape_of(schema: JsonValue, root: JsonSchema, depth: int = 0) -> Shape:
    """What that schema asks for; what a form cannot ask is asked as JSON."""
    if depth > DEEPEST:
        return Shape("json", root=root)
    found = resolved(schema, root)
    alternatives = [resolved(one, root) for one in _alternatives(found)]
    if not alternatives:
        return _plain(found, root)
    outer = {name: value for name, value in found.items() if name not in (*ALTERNATIVES, "type")}
    left = [one for one in alternatives if not _is_null(one)]
    nullable = len(left) < len(alternatives)
    if len(left) == 1:
        inner = shape_of({**left[0], **outer}, root, depth + 1)
        return replace(inner, nullable=nullable or inner.nullable)
    if constants := _constants(left):
        return Shape("enum", outer, root, nullable, constants)
    return Shape("choice", outer, root, nullable, alternatives=tuple(left[:MOST_OPTIONS]), depth=depth)


def fits(shape: Shape, value: JsonValue) -> bool:
    """Whether a field of that shape can show the value."""
    if value is None and shape.nullable:
        return True
    match shape.kind:
        case "enum":
            return any(same(value, choice) for _, choice in shape.choices)
        case "const":
            return same(value, shape.schema.get("const"))
        case "choice":
            return any(suits(option, value) for option in shape.options)
        case "boolean" | "json":
            return isinstance(value, bool) or shape.kind == "json"
        case kind:
            return isinstance(value, _PYTHON[kind]) and not isinstance(value, bool)


def suits(shape: Shape, value: JsonValue) -> bool:
    """Whether the value looks like this alternative and not like another one."""
    if not fits(shape, value):
        return False
    if not isinstance(value, dict):
        return True
    telling = {name: one for name, one in shape.properties.items() if one.kind in ("const", "enum") and name in value}
    return set(shape.required) <= value.keys() and all(fits(one, value[name]) for name, one in telling.items())


def defaults(shape: Shape) -> dict[str, JsonValue]:
    """The defaults that an object's schema names; a default of null is what leaving it out means."""
    named = ((name, one.default) for name, one in shape.properties.items())
    return {name: value for name, value in named if value is not ABSENT and value is not None}


def same(one: JsonValue, other: JsonValue) -> bool:
    """Equal as JSON, where true is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def option_words(shape: Shape) -> str:
    """What one alternative is called."""
    if shape.title:
        return shape.title
    telling = next((one.schema.get("const") for one in shape.properties.values() if one.kind == "const"), None)
    if shape.kind == "object" and telling is not None:
        return str(telling)
    if shape.kind == "object" and shape.properties:
        return f"object: {', '.join(list(shape.properties)[:4])}"
    return str(shape.schema.get("const")) if shape.kind == "const" else shape.words


def _plain(found: JsonSchema, root: JsonSchema) -> Shape:
    """A schema without alternatives."""
    choices = found.get("enum")
    if isinstance(choices, list):
        named = [(_choice_words(found, place, one), one) for place, one in enumerate(choices) if one is not None]
        return Shape("enum", found, root, None in choices, tuple(named))
    if "const" in found:
        return Shape("const", found, root)
    kind = TYPES.get(_type(found), "json")
    if kind == "text":
        kind = FORMATS.get(_text(found.get("format")), "text")
    return Shape(kind, found, root, nullable=found.get("nullable") is True)


def _type(found: JsonSchema) -> str:
    named = _text(found.get("type"))
    if not named and (found.keys() & {"properties", "additionalProperties", "patternProperties"}):
        return "object"
    return "array" if not named and (found.keys() & {"items", "prefixItems"}) else named


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _alternatives(found: JsonSchema) -> list[JsonValue]:
    for name in ALTERNATIVES:
        named = found.get(name)
        if isinstance(named, list) and named:
            return named
    types = found.get("type")
    if isinstance(types, list) and "enum" not in found and "const" not in found:
        return [{**found, "type": one} for one in types]
    return []


def _is_null(schema: JsonSchema) -> bool:
    return (
        schema.get("type") == "null" or schema.get("enum") == [None] or ("const" in schema and schema["const"] is None)
    )


def _constants(schemas: list[JsonSchema]) -> tuple[tuple[str, JsonValue], ...]:
    """The choices, when every alternative is one constant or an enum of some."""
    if not schemas or not all("const" in one or isinstance(one.get("enum"), list) for one in schemas):
        return ()
    found: list[tuple[str, JsonValue]] = []
    for one in schemas:
        listed = one.get("enum") if "const" not in one else [one["const"]]
        values = [value for value in listed if value is not None] if isinstance(listed, list) else []
        title = _text(one.get("title")) if len(values) == 1 else ""
        found += [(title or as_words(value), value) for value in values]
    return tuple(found)


def _choice_words(found: JsonSchema, place: int, value: JsonValue) -> str:
    names = found.get("enumNames")
    if isinstance(names, list) and place < len(names):
        return str(names[place])
    return as_words(value)


def as_words(value: JsonValue) -> str:
    """A value in one line: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _several(shape: Shape) -> str:
    several = {"number": "numbers", "integer": "whole numbers", "object": "objects", "date": "dates", "array": "lists"}
    return several.get(shape.kind, shape.words)
