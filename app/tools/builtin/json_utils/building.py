"""JSON put together from values and their places."""

from collections.abc import Iterable

from pydantic import JsonValue

from app.domain.errors import ToolError
from app.tools.builtin.documents import DEEPEST
from app.tools.builtin.json_utils.places import Place, Step, written


class _Branch:
    """An array or object in the making."""

    def __init__(self) -> None:
        self.parts: dict[Step, _Branch | _Leaf] = {}


class _Leaf:
    def __init__(self, value: JsonValue) -> None:
        self.value = value


def built(pairs: Iterable[tuple[Place, JsonValue]]) -> JsonValue:
    """The document that has these values at these places. Raises `ToolError` where two of them contradict."""
    top = _Branch()
    for place, value in pairs:
        if len(place) > DEEPEST:
            raise ToolError(f"{written(place)[:60]!r}… is more than {DEEPEST} levels deep.")
        # The whole document is one part of the branch above it, so that it may be a plain value.
        _add(top, ("", *place), value)
    return _finished(top.parts[""], ()) if top.parts else {}


def _add(branch: _Branch, place: Place, value: JsonValue) -> None:
    for number, step in enumerate(place[:-1], start=1):
        part = branch.parts.setdefault(step, _Branch())
        if isinstance(part, _Leaf):
            raise ToolError(f"{written(place[1:number])} is a plain value, so nothing can be inside it.")
        branch = part
    if place[-1] in branch.parts:
        raise ToolError(f"{written(place[1:])} has two values.")
    branch.parts[place[-1]] = _Leaf(value)


def _finished(part: _Branch | _Leaf, place: Place) -> JsonValue:
    if isinstance(part, _Leaf):
        return part.value
    numbers = [step for step in part.parts if isinstance(step, int)]
    if not numbers:
        return {str(step): _finished(inner, (*place, step)) for step, inner in part.parts.items()}
    if len(numbers) < len(part.parts):
        raise ToolError(f"{written(place)} has names and numbers in it: it is neither an object nor an array.")
    if max(numbers) != len(numbers) - 1:
        missing = next(number for number in range(len(numbers)) if number not in part.parts)
        raise ToolError(f"The array {written(place)} lacks its item {missing}.")
    return [_finished(part.parts[number], (*place, number)) for number in range(len(numbers))]
