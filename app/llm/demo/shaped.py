"""The demo model's answer as JSON: the simplest value that a schema lets through, with words of the answer in it."""

import json
import re

from pydantic import JsonValue

from app.domain.sessions import title_of
from app.domain.tools import JsonSchema
from app.llm.demo.writing import words_of

_NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")
_MARKUP = re.compile(r"[*_`#]+")
_DEEPEST = 12


def shaped(schema: JsonSchema, text: str) -> str:
    """JSON of that schema, as far as a script can guess it.

    Texts hold the first line of `text`, numbers the last one in it; what may be null and is no number there is null. Of
    several values it takes the one that `text` speaks of most, by what the description says behind `value:`.
    """
    return json.dumps(_value(schema, text, 0), ensure_ascii=False, indent=2)


def _value(schema: JsonValue, text: str, depth: int) -> JsonValue:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return text
    for word in ("const", "default"):
        if word in schema:
            return schema[word]
    for word in ("enum", "anyOf", "oneOf", "allOf"):
        choices = schema.get(word)
        if isinstance(choices, list) and choices:
            return _chosen(choices, schema, text) if word == "enum" else _value(choices[0], text, depth + 1)
    return _of_type(_type(schema, text), schema, text, depth)


def _chosen(choices: list[JsonValue], schema: JsonSchema, text: str) -> JsonValue:
    """The first one where the text speaks of none."""
    described, spoken = str(schema.get("description", "")), set(words_of(text))

    def weight(choice: JsonValue) -> int:
        _, _, said = described.partition(f"{choice}:")
        return len(spoken & set(words_of(f"{choice} {said.partition(';')[0]}")))

    return max(choices, key=weight)


def _of_type(kind: str, schema: JsonSchema, text: str, depth: int) -> JsonValue:
    match kind:
        case "object":
            return _object(schema, text, depth)
        case "array":
            fewest = schema.get("minItems")
            count = max(1, fewest) if isinstance(fewest, int) and fewest < 100 else 1
            return [_value(schema.get("items", {}), text, depth + 1)] * count
        case "number" | "integer":
            return _number(schema, text, whole=kind == "integer")
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return _text(schema, text)


def _object(schema: JsonSchema, text: str, depth: int) -> JsonValue:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {name: _value(inner, text, depth + 1) for name, inner in properties.items()}


def _type(schema: JsonSchema, text: str) -> str:
    kind = schema.get("type")
    if isinstance(kind, list) and kind:
        return _likeliest(kind, text)
    if isinstance(kind, str):
        return kind
    return "object" if "properties" in schema else "array" if "items" in schema else "string"


def _likeliest(kinds: list[JsonValue], text: str) -> str:
    has_number = _NUMBER.search(text) is not None
    numbers = [kind for kind in kinds if kind in ("number", "integer")] if has_number else []
    return str((numbers or [kind for kind in kinds if kind == "null"] or kinds)[0])


def _number(schema: JsonSchema, text: str, *, whole: bool) -> int | float:
    found = _NUMBER.findall(text)
    number = float(found[-1].replace(",", "")) if found else 0.0
    low, high = schema.get("minimum"), schema.get("maximum")
    number = max(number, float(low)) if isinstance(low, int | float) else number
    number = min(number, float(high)) if isinstance(high, int | float) else number
    return int(number) if whole or number.is_integer() else number


def _text(schema: JsonSchema, text: str) -> str:
    longest = schema.get("maxLength")
    line = title_of(_MARKUP.sub("", text))
    return line[:longest] if isinstance(longest, int) and longest >= 0 else line
