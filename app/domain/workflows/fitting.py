"""Whether what one schema describes fits another.

To tell it of any two is not feasible, so there are three answers: it fits, it cannot fit, or it may, which is checked
when the value is there. What a schema says by other words than those asked for here is a may.
"""

from collections.abc import Callable
from typing import Literal

from pydantic import JsonValue

from app.domain.json_schema import same_text
from app.domain.tools import JsonSchema

Fit = Literal["cannot", "may", "fits"]
DEEPEST = 6
MOST_VALUES = 50
"""Of one list that are looked at one by one: whatever comes behind them may fit or not."""
_WORDS = {"type", "properties", "required", "items", "enum", "const", "anyOf", "additionalProperties"}
_SAYS_NOTHING = {"title", "description", "default", "examples", "$schema", "$id", "$comment", "deprecated", "$defs"}
_TYPES: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    str: "string",
    list: "array",
    dict: "object",
}
_SIZES: tuple[Fit, ...] = ("cannot", "may", "fits")


def fit(given: JsonSchema, wanted: JsonSchema, depth: int = 0) -> Fit:
    """Whether each value that is as `given` says is as `wanted` says; `cannot` where none of them is."""
    if depth > DEEPEST or not given or not wanted.keys() - _SAYS_NOTHING:
        return "may" if wanted.keys() - _SAYS_NOTHING else "fits"
    if (values := _values(given)) is not None:
        return _each(_first(values, lambda value: value_fit(value, wanted, depth)))
    if isinstance(choices := given.get("anyOf"), list):
        return _each(_first(choices, lambda choice: fit(_schema(choice), wanted, depth + 1)))
    if isinstance(choices := wanted.get("anyOf"), list):
        return _one(_first(choices, lambda choice: fit(given, _schema(choice), depth + 1)))
    told = _least([_types_fit(types_of(given), types_of(wanted)), _rest(wanted)])
    if _values(wanted) is not None:
        return _least([told, "may"])
    return _least([told, _properties_fit(given, wanted, depth), _items_fit(given, wanted, depth)])


def value_fit(value: JsonValue, wanted: JsonSchema, depth: int = 0) -> Fit:
    """Whether that very value is as `wanted` says."""
    if depth > DEEPEST:
        return "may"
    if (values := _values(wanted)) is not None:
        return "fits" if _is_among(value, values) else "cannot"
    if isinstance(choices := wanted.get("anyOf"), list):
        return _one(_first(choices, lambda choice: value_fit(value, _schema(choice), depth + 1)))
    answers = [_types_fit(frozenset({type_of(value)}), types_of(wanted)), _rest(wanted)]
    if isinstance(value, dict):
        inner = _object(wanted.get("properties"))
        answers += ["cannot"] if any(name not in value for name in _required(wanted)) else []
        answers += [value_fit(value[name], _schema(inner[name]), depth + 1) for name in inner.keys() & value.keys()]
        answers += ["cannot"] if _is_closed(wanted) and value.keys() - inner.keys() else []
    if isinstance(value, list) and isinstance(wanted.get("items"), dict):
        answers += _first(value, lambda one: value_fit(one, _schema(wanted["items"]), depth + 1))
    return _least(answers)


def along(schema: JsonSchema, steps: tuple[str | int, ...]) -> JsonSchema | None:
    """What is said of the value at that path: `{}` for nothing, `None` where there surely is no value."""
    for step in steps:
        types = types_of(schema)
        if types and ("object" if isinstance(step, str) else "array") not in types:
            return None
        inside = _inside(schema, step)
        if inside is None:
            return None
        schema = inside
    return schema


def types_of(schema: JsonSchema) -> frozenset[str]:
    """The types it names; empty where it names none."""
    named = schema.get("type")
    if (values := _values(schema)) is not None:
        return frozenset(type_of(value) for value in values)
    if isinstance(named, list):
        return frozenset(one for one in named if isinstance(one, str))
    return frozenset({named}) if isinstance(named, str) else frozenset()


def type_of(value: JsonValue) -> str:
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    return _TYPES[type(value)]


def described(schema: JsonSchema) -> str:
    """The kind of value, in a few words."""
    words = {
        "integer": "a whole number",
        "array": "a list",
        "null": "nothing",
        "string": "text",
        "boolean": "yes or no",
    }
    types = sorted(types_of(schema))
    return " or ".join(words.get(one, f"a{'n' * (one[:1] == 'o')} {one}") for one in types[:4]) or "any value"


def _inside(schema: JsonSchema, step: str | int) -> JsonSchema | None:
    if isinstance(step, int):
        return _schema(schema.get("items"))
    properties, others = _object(schema.get("properties")), schema.get("additionalProperties")
    if step in properties:
        return _schema(properties[step])
    return None if _is_closed(schema) else _schema(others)


def _types_fit(given: frozenset[str], wanted: frozenset[str]) -> Fit:
    if not wanted:
        return "fits"
    whole = wanted | {"integer"} if "number" in wanted else wanted
    if given and given <= whole:
        return "fits"
    could = given | {"integer"} if "number" in given else given
    return "may" if not given or could & whole else "cannot"


def _properties_fit(given: JsonSchema, wanted: JsonSchema, depth: int) -> Fit:
    has, wants = _object(given.get("properties")), _object(wanted.get("properties"))
    sure = _required(given)
    answers: list[Fit] = []
    for name in _required(wanted) - sure:
        answers.append("cannot" if name not in has and _is_closed(given) else "may")
    for name in wants.keys() - has.keys() if not _is_closed(given) else ():
        other = fit(_schema(given.get("additionalProperties")), _schema(wants[name]), depth + 1)
        answers.append("may" if other == "cannot" and name not in sure else other)
    for name in wants.keys() & has.keys():
        inner = fit(_schema(has[name]), _schema(wants[name]), depth + 1)
        answers.append("may" if inner == "cannot" and name not in sure else inner)
    if _is_closed(wanted):
        surplus = has.keys() - wants.keys()
        answers.append("cannot" if surplus & sure else "may" if surplus or not _is_closed(given) else "fits")
    return _least(answers)


def _is_closed(schema: JsonSchema) -> bool:
    """Whether there are no properties but those that it names."""
    return schema.get("additionalProperties") is False and "patternProperties" not in schema


def _items_fit(given: JsonSchema, wanted: JsonSchema, depth: int) -> Fit:
    if not isinstance(wanted.get("items"), dict):
        return "fits"
    return fit(_schema(given.get("items")), _schema(wanted["items"]), depth + 1)


def _rest(wanted: JsonSchema) -> Fit:
    return "may" if wanted.keys() - _WORDS - _SAYS_NOTHING else "fits"


def _first(values: list[JsonValue], answer: Callable[[JsonValue], Fit]) -> list[Fit]:
    return [*map(answer, values[:MOST_VALUES]), *(("may",) if len(values) > MOST_VALUES else ())]


def _is_among(value: JsonValue, values: list[JsonValue]) -> bool:
    text = same_text(value)
    # Python's `==` takes true for 1, but is quick: only what is the same to it is written out.
    return any(one == value and same_text(one) == text for one in values)


def _each(answers: list[Fit]) -> Fit:
    """Of the kinds that a value may be of."""
    return answers[0] if answers and len(set(answers)) == 1 else "may"


def _one(answers: list[Fit]) -> Fit:
    """Of the kinds of which one is enough."""
    return max(answers, key=_SIZES.index, default="may")


def _least(answers: list[Fit]) -> Fit:
    return min(answers, key=_SIZES.index, default="fits")


def _values(schema: JsonSchema) -> list[JsonValue] | None:
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if isinstance(values, list) else None


def _required(schema: JsonSchema) -> set[str]:
    names = schema.get("required")
    return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()


def _object(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _schema(value: JsonValue) -> JsonSchema:
    return _object(value)
