"""JSON as a person writes it: read with the line and column of a mistake."""

import json

from pydantic import JsonValue, TypeAdapter

from app.ui.elements.visible import visible

_VALUE: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)
_MISTAKES = {
    "Expecting ',' delimiter": "a comma is missing before this",
    "Expecting ':' delimiter": "a colon is missing before this",
    "Expecting property name enclosed in double quotes": "a name in double quotes is expected",
    "Illegal trailing comma before end of object": "there is a comma too many before this",
    "Illegal trailing comma before end of array": "there is a comma too many before this",
    "Expecting value": "a value is expected",
    "Extra data": "the JSON has ended before this",
    "Unterminated string starting at": "a text begins here and has no closing quotation mark",
    "Invalid control character at": "a line break or tab in a text has to be written as \\n or \\t",
}


class BrokenJson(Exception):
    """The text is no JSON; the message says where and why."""


def read_json(text: str) -> JsonValue:
    """The value in that text. Raises `BrokenJson`."""
    try:
        value = _VALUE.validate_python(json.loads(text, parse_constant=_refuse))
        json.dumps(value, ensure_ascii=False).encode()  # fails for half a character, such as "\\ud800"
    except json.JSONDecodeError as mistake:
        words = _MISTAKES.get(mistake.msg, mistake.msg)
        raise BrokenJson(f"Line {mistake.lineno}, column {mistake.colno}: {words}.") from mistake
    except (ValueError, RecursionError) as problem:
        raise BrokenJson(f"This cannot be read as JSON: {problem}.") from problem
    return value


def read_arguments(text: str) -> dict[str, JsonValue]:
    """The arguments in that text; none in a blank one. Raises `BrokenJson`."""
    found = read_json(text) if text.strip() else {}
    if not isinstance(found, dict):
        raise BrokenJson("Arguments are one JSON object: {“name”: value, …}.")
    return found


def as_json(value: object) -> str:
    """The value as indented JSON, with nothing hidden in it."""
    return visible(json.dumps(value, indent=2, ensure_ascii=False))


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")
