"""What a schema allows, the tool accepts."""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Literal, NotRequired

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, JsonValue
from typing_extensions import TypedDict

from app.tools.function.schema import tidy
from app.tools.function.tool import Tool


class Level(Enum):
    LOW = 1
    HIGH = 2


class Address(BaseModel):
    street: str
    number: int | None = None


class Person(BaseModel):
    name: str
    addresses: list[Address] = []


@dataclass
class Range:
    start: float
    end: float = 1.0


class Options(TypedDict):
    loud: bool
    word: NotRequired[str]


def everything(  # noqa: PLR0917  one of each
    text: str,
    count: int,
    ratio: float,
    flag: bool,
    mode: Literal["a", "b", 3],
    level: Level,
    person: Person,
    maybe: int | None,
    either: int | str | list[bool],
    numbers: list[int],
    table: dict[str, float],
    pair: tuple[int, str],
    many: tuple[float, ...],
    ranges: list[Range],
    options: Options,
    short: Annotated[str, Field(min_length=1, max_length=3)] = "x",
    bounded: Annotated[int, Field(ge=-5, le=5)] = 0,
    anything: JsonValue = None,
) -> str:
    """Take one of each."""
    return "taken"


TOOL = Tool(everything)
NUMBERS = st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def values(schema: JsonValue) -> st.SearchStrategy[JsonValue]:  # noqa: PLR0911  one of each
    """Values that the schema allows."""
    match schema:
        case {"enum": list(choices)}:
            return st.sampled_from(choices)
        case {"anyOf": list(choices)}:
            return st.one_of([values(choice) for choice in choices])
        case {"type": "string"}:
            return st.text(min_size=schema.get("minLength", 0), max_size=schema.get("maxLength", 20))
        case {"type": "integer"}:
            whole = st.integers(schema.get("minimum", -(2**62)), schema.get("maximum", 2**62))
            return whole | whole.filter(lambda number: abs(number) < 2**53).map(float)
        case {"type": "number"}:
            return NUMBERS
        case {"type": "boolean"}:
            return st.booleans()
        case {"type": "null"}:
            return st.none()
        case {"type": "array", "prefixItems": list(items)}:
            return st.tuples(*[values(item) for item in items]).map(list)
        case {"type": "array", "items": items}:
            return st.lists(values(items), max_size=4)
        case {"type": "object", "properties": dict(properties)}:
            required = schema.get("required", [])
            return st.fixed_dictionaries(
                {name: values(properties[name]) for name in required},
                optional={name: values(one) for name, one in properties.items() if name not in required},
            )
        case {"type": "object", "additionalProperties": items}:
            return st.dictionaries(st.text(), values(items), max_size=3)
    return JSON


@settings(max_examples=40)
@given(values(TOOL.spec.parameters))
def test_what_the_schema_allows_is_accepted(arguments: dict[str, JsonValue]) -> None:
    jsonschema.validate(arguments, TOOL.spec.parameters)
    assert set(TOOL.checked(arguments)) == set(TOOL.spec.parameters["properties"])


def test_the_schema_is_one_that_validators_know() -> None:
    jsonschema.Draft202012Validator.check_schema(TOOL.spec.parameters)
    assert "$ref" not in str(TOOL.spec.parameters)


def test_an_argument_named_title_stays() -> None:
    schema = {"title": "T", "type": "object", "properties": {"title": {"title": "Title", "type": "string"}}}
    assert tidy(schema) == {"type": "object", "properties": {"title": {"type": "string"}}}


def test_a_default_is_no_schema() -> None:
    schema = {"type": "object", "default": {"title": "kept", "$ref": "#/$defs/A"}, "$defs": {"A": {"type": "null"}}}
    assert tidy(schema) == {"type": "object", "default": {"title": "kept", "$ref": "#/$defs/A"}}


def test_two_that_refer_to_each_other_keep_their_definitions() -> None:
    definitions = {
        "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
        "B": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}, "c": {"$ref": "#/$defs/C"}}},
        "C": {"title": "C", "type": "string"},
    }
    tidied = tidy({"$ref": "#/$defs/A", "$defs": definitions})
    jsonschema.Draft202012Validator.check_schema(tidied)
    jsonschema.validate({"b": {"a": {"b": {"c": "deep"}}}}, tidied)
    assert not jsonschema.Draft202012Validator(tidied).is_valid({"b": {"a": {"b": {"c": 1}}}})
    assert "C" not in tidied["$defs"]


def test_each_of_two_that_refer_to_themselves_keeps_its_definition() -> None:
    definitions = {
        "A": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/$defs/B"}}},
        "B": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
    }
    assert tidy({"$ref": "#/$defs/A", "$defs": definitions}) == {"$ref": "#/$defs/A", "$defs": definitions}
