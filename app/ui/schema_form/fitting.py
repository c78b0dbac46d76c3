"""Whether a value is what a schema asks for, and in words what is wrong with it."""

import json
import math
import operator
from collections.abc import Callable, Iterator
from types import UnionType

from pydantic import JsonValue

from app.ui.schema_form.shape import Given, Kind, Shape

NEEDED = "This is needed."
_PYTHON: dict[Kind, type | UnionType] = {"number": int | float, "integer": int, "object": dict, "array": list}


def _is_multiple(value: float, step: float) -> bool:
    """Of a whole number that no float holds a whole step alone can tell."""
    if isinstance(value, int) and isinstance(step, int):
        return not step or value % step == 0
    try:
        return not step or math.isclose(value / step, round(value / step))
    except OverflowError:
        return True


_LIMITS: tuple[tuple[str, Callable[[float, float], bool], str], ...] = (
    ("minimum", operator.ge, "At least"),
    ("maximum", operator.le, "At most"),
    ("exclusiveMinimum", operator.gt, "More than"),
    ("exclusiveMaximum", operator.lt, "Less than"),
    ("multipleOf", _is_multiple, "A multiple of"),
)
"""Of a number: the word of a schema, what it wants, and how that is said."""


def fits(shape: Shape, value: JsonValue) -> bool:
    """Whether a field of that shape can show the value."""
    if value is None and shape.nullable:
        return True
    match shape.kind:
        case "enum" | "boolean":
            return any(same(value, choice) for _, choice in shape.choices)
        case "const":
            return same(value, shape.schema.get("const"))
        case "choice":
            return any(suits(option, value) for option in shape.options)
        case "json":
            return True
        case kind:
            return isinstance(value, _PYTHON.get(kind, str)) and not isinstance(value, bool)


def suits(shape: Shape, value: JsonValue) -> bool:
    """Whether the value looks like this alternative and not like another one."""
    if not fits(shape, value):
        return False
    if not isinstance(value, dict):
        return True
    telling = {name: one for name, one in shape.properties.items() if one.kind in ("const", "enum") and name in value}
    return set(shape.required) <= value.keys() and all(fits(one, value[name]) for name, one in telling.items())


def misfits(shape: Shape, value: JsonValue, place: str = "") -> Iterator[str]:
    """What keeps a value, or one within it, from fitting; begins with the place of that within."""
    told = f"{place.removeprefix('.')}: " if place else ""
    if value is None and shape.nullable:
        return
    if not fits(shape, value):
        yield f"{told}This should be: {shape.words}."
    elif words := out_of_bounds(shape, value):
        yield f"{told}{words}"
    elif shape.kind == "choice":
        yield from misfits(next(one for one in shape.options if suits(one, value)), value, place)
    elif shape.kind == "array" and isinstance(value, list):
        for index, one in enumerate(value):
            yield from misfits(shape.item, one, f"{place}[{index}]")
    elif shape.kind == "object" and isinstance(value, dict):
        for name in shape.required:
            if name not in value:
                yield f"{place}.{name}: {NEEDED}".removeprefix(".")
        for name, one in value.items():
            yield from misfits(shape.properties.get(name, shape.other), one, f"{place}.{name}")


def out_of_bounds(shape: Shape, value: Given) -> str:
    """Which limit of its schema the value itself does not keep; empty when it keeps all."""
    if isinstance(value, str | list):
        word, noun = ("Length", "character") if isinstance(value, str) else ("Items", "item")
        least, most = shape.limit(f"min{word}"), shape.limit(f"max{word}")
        if least and len(value) < least:
            return NEEDED if value == "" else f"At least {in_full(least)} {noun}{'' if least == 1 else 's'}, please."
        return f"At most {in_full(most)} {noun}s, please." if most is not None and len(value) > most else ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    for name, keeps, words in _LIMITS:
        limit = shape.limit(name)
        if limit is not None and not keeps(value, limit):
            return f"{words} {in_full(limit)}, please."
    return ""


def in_full(limit: float) -> str:
    """A number of a schema with all of its digits."""
    return str(limit).removesuffix(".0")


def same(one: JsonValue, other: JsonValue) -> bool:
    """Equal as JSON, where true is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
