"""A tool that the user named, one of their own for example, called with the arguments they wrote."""

import json
import re
from collections.abc import Mapping

from pydantic import JsonValue

from app.domain.tools import ToolSpec, canonical_name
from app.llm.demo.answer import Answer, Wish, fenced
from app.llm.demo.ask import Ask
from app.llm.demo.missing import told

_COMMAND = re.compile(
    r"^\W*(?:(?:please|can you|could you|now)\s+)*(?:call|use|run|try)\s+(?:the\s+)?(?:tool\s+)?[`\"']?"
    r"(?P<name>[A-Za-z]\w*(?:-\w+)*)[`\"']?(?:\s+tool)?\s*(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_WITH = re.compile(r"^(?:with|on|for)\b\s*:?\s*|^:\s*", re.IGNORECASE)
_PAIR = re.compile(r"""(\w+)\s*(?:=|:)\s*("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;]+)(?:\s*(?:,|;|and\b)\s*|\s+|$)""")


def call_named(ask: Ask) -> Answer | None:
    """Call it, then show what came out; `None` where no granted tool is named, or what to call it with is unclear."""
    command = _COMMAND.match(ask.text)
    spec = ask.spec(canonical_name(command["name"])) if command else None
    arguments = _arguments(command["rest"].strip(), spec) if command and spec else None
    if spec is None or arguments is None:
        return None
    if not ask.results:
        return Answer(
            thought=f"You named the tool {spec.name}, so I call it with what you wrote.",
            wishes=(Wish(spec.name, dict(arguments)),),
        )
    result = ask.results[-1]
    if result.failed:
        return told(result)
    return Answer(text=f"I called `{spec.name}`. This came out:\n\n{fenced(result.text or '(nothing to read)')}")


def _arguments(rest: str, spec: ToolSpec) -> Mapping[str, JsonValue] | None:
    """What the words behind the tool's name say: a JSON object, `name=value` pairs, or the text of its one argument."""
    said = _WITH.match(rest)
    text = rest[said.end() :].strip() if said else rest
    if not text.strip(".!"):
        return None if spec.parameters.get("required") else {}
    if (found := _object(text)) is not None:
        return found
    pairs = list(_PAIR.finditer(text))
    if pairs and "".join(pair.group() for pair in pairs) == text:
        return {pair[1]: _value(pair[2]) for pair in pairs}
    properties = spec.parameters.get("properties")
    if said and isinstance(properties, dict) and properties:
        return {next(iter(properties)): text.strip("\"'")}
    return None


def _object(text: str) -> dict[str, JsonValue] | None:
    try:
        found: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _value(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return text.strip("'")
    return value
