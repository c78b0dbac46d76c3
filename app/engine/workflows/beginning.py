"""What a workflow is given: the message and the values that were sent with it, as its `input` takes them."""

from pydantic import JsonValue

from app.domain.events import MessageAdded
from app.domain.tools import JsonSchema
from app.domain.values import json_in
from app.domain.workflows.document import InputNode
from app.domain.workflows.fitting import types_of
from app.engine.run.run import Run
from app.engine.workflows.given import as_text, check

MOST_HISTORY = 200
"""Messages before."""


def input_of(node: InputNode, run: Run) -> dict[str, JsonValue]:
    """Raises `NodeFailed` for what it does not take.

    A message is its `text`; where that need not be there, a message that is a JSON object of its fields is these.
    """
    started, properties = run.started, fields_of(node.takes)
    said = (entry.event.message.text for entry in run.recorder.entries if isinstance(entry.event, MessageAdded))
    text = next(said, "")
    given = _object_in(node.takes, text) or _text_of(node.takes, text)
    given |= {
        name: read_value(properties[name], value) for name, value in started.variables.items() if name in properties
    }
    for name, schema in properties.items():
        if isinstance(schema, dict) and "default" in schema:
            given.setdefault(name, schema["default"])
    check(node.takes, given, "was given")
    if node.history:
        before = (one for one in started.history if one.role in ("user", "assistant") and one.text.strip())
        told: list[JsonValue] = [{"role": one.role, "text": one.text} for one in before]
        given["history"] = told[-MOST_HISTORY:]
    if node.files:
        given["files"] = [*sorted(run.started.files)]
    return given


def written_value(value: JsonValue) -> str:
    """How a field's value travels as one of a run's variables."""
    return as_text(value)


def read_value(schema: JsonValue, written: str) -> JsonValue:
    """The value again: a text where the field takes one, else the JSON that it is."""
    types = types_of(schema) if isinstance(schema, dict) else set()
    if "string" in types or (not types and not written.lstrip().startswith(("{", "["))):
        return written
    try:
        return json_in(written)
    except (ValueError, RecursionError):
        return written


def _object_in(takes: JsonSchema, text: str) -> dict[str, JsonValue] | None:
    required, properties = takes.get("required"), fields_of(takes)
    if (isinstance(required, list) and "text" in required) or not text.lstrip().startswith("{"):
        return None
    try:
        value = json_in(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and value.keys() <= (properties.keys() or value.keys()) else None


def _text_of(takes: JsonSchema, text: str) -> dict[str, JsonValue]:
    """Nothing where it takes no text."""
    return {"text": text} if "text" in fields_of(takes) or takes.get("additionalProperties") is not False else {}


def fields_of(schema: JsonSchema) -> JsonSchema:
    """The schema of each field, by its name."""
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}
