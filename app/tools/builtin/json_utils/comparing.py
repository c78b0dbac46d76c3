"""How two JSON documents differ, and one merged into another."""

from collections.abc import Iterator
from typing import Literal

from pydantic import JsonValue

from app.domain.errors import ToolError
from app.tools.builtin.json_utils.places import Place, written

Arrays = Literal["replace", "append", "union", "by_index"]
Difference = tuple[Literal["added", "removed", "changed"], Place, JsonValue, JsonValue]
"""What happened where, with the value before and after."""
MOST_ITEMS = 100_000


def differences(before: JsonValue, after: JsonValue, place: Place = ()) -> Iterator[Difference]:
    """The smallest parts that differ. Arrays are compared item by item, 1 and 1.0 are the same, true and 1 are not."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys((*before, *after)):
            yield from _of_part(name in before, name in after, before.get(name), after.get(name), (*place, name))
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(max(len(before), len(after))):
            there, still = index < len(before), index < len(after)
            yield from _of_part(
                there, still, before[index] if there else None, after[index] if still else None, (*place, index)
            )
    elif not same(before, after):
        yield "changed", place, before, after


def _of_part(there: bool, still: bool, before: JsonValue, after: JsonValue, place: Place) -> Iterator[Difference]:
    if there and still:
        yield from differences(before, after, place)
    else:
        yield ("removed" if there else "added"), place, before, after


def same(left: JsonValue, right: JsonValue) -> bool:
    """Equal as JSON: Python takes true for 1."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[name], right[name]) for name in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def merged(base: JsonValue, other: JsonValue, arrays: Arrays) -> JsonValue:
    """The other document laid over the base: objects are merged name by name, all else is replaced."""
    if isinstance(base, dict) and isinstance(other, dict):
        joined = {name: merged(base[name], value, arrays) if name in base else value for name, value in other.items()}
        return {**base, **joined}
    if isinstance(base, list) and isinstance(other, list):
        return _merged_arrays(base, other, arrays)
    return other


def _merged_arrays(base: list[JsonValue], other: list[JsonValue], arrays: Arrays) -> list[JsonValue]:
    match arrays:
        case "replace":
            return other
        case "append":
            return [*base, *other]
        case "union":
            return _union(base, other)
        case "by_index":
            pairs = zip(base, other, strict=False)
            shorter = min(len(base), len(other))
            return [*(merged(one, two, arrays) for one, two in pairs), *base[shorter:], *other[shorter:]]


def _union(base: list[JsonValue], other: list[JsonValue]) -> list[JsonValue]:
    """The base and what the other has and it has not."""
    known = {_key(item) for item in base}
    added: list[JsonValue] = []
    for item in other:
        if _key(item) not in known:
            known.add(_key(item))
            added.append(item)
    return [*base, *added]


def _key(value: JsonValue) -> str:
    """The same text for the same JSON."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{name!r}:{_key(inner)}" for name, inner in sorted(value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_key, value)) + "]"
    return repr(int(value) if isinstance(value, float) and value.is_integer() else value)


def flattened(pairs: Iterator[tuple[Place, JsonValue]]) -> dict[str, JsonValue]:
    """Values by place. Raises `ToolError` when they are too many."""
    flat: dict[str, JsonValue] = {}
    for place, value in pairs:
        if len(flat) >= MOST_ITEMS:
            raise ToolError(f"The document has more than {MOST_ITEMS:,} values. Take a part of it.")
        flat[written(place)] = value
    return flat
