"""Where a value stands in JSON, written as `customer.emails[0]`; odd names in quotes: `["first name"]`."""

import json
import re
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from app.domain.errors import ToolError

Step = str | int
Place = tuple[Step, ...]
ROOT = "$"
"""How the whole document is called."""
_PLAIN = re.compile(r"[^\W\d][\w-]*")
_STEP = re.compile(r'\.?([^\W\d][\w-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]')


def written(place: Sequence[Step]) -> str:
    words = "".join(map(_written_step, place)).removeprefix(".")
    return words or ROOT


def read(text: str) -> Place:
    """The place that the text names. Raises `ToolError` that shows where it cannot be read."""
    if text == ROOT:
        return ()
    steps: list[Step] = []
    position = 0
    while position < len(text):
        found = _STEP.match(text, position)
        if found is None or (position and found[1] and text[position] != "."):
            raise ToolError(f"{text!r} is no place such as customer.emails[0], from {text[position:][:30]!r} on.")
        steps.append(_step(found))
        position = found.end()
    return tuple(steps)


def leaves(value: JsonValue, place: Place = ()) -> Iterator[tuple[Place, JsonValue]]:
    """Each value that holds no other, and where it stands; empty arrays and objects are such values too."""
    inside: Iterator[tuple[Step, JsonValue]] | None = None
    if isinstance(value, dict) and value:
        inside = iter(value.items())
    elif isinstance(value, list) and value:
        inside = iter(enumerate(value))
    if inside is None:
        yield place, value
        return
    for step, inner in inside:
        yield from leaves(inner, (*place, step))


def _written_step(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN.fullmatch(step) else f"[{json.dumps(step, ensure_ascii=False)}]"


def _step(found: re.Match[str]) -> Step:
    name, number, quoted = found.groups()
    if quoted is None:
        return name if number is None else int(number[:12])
    unquoted: str = json.loads(quoted)
    return unquoted
