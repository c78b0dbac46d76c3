"""Tools called by their names: one that is asked for, or the same one again and again until a limit ends that."""

import re

from pydantic import JsonValue, TypeAdapter, ValidationError

from app.domain.tools import canonical_name
from app.llm.demo.ask import Ask
from app.llm.demo.plan import Answer, Plan, Wish, fenced, needs, told

_PAIR = r"""\b(\w++)=("[^"]*+"|'[^']*+'|[^\s,"']++)"""
_COMMAND = re.compile(
    r"\W*(?:please\s+)?(?:call|use)\s++(?:the\s++)?(?:tool\s++)?`?(?P<name>[A-Za-z]\w*+(?:-\w++)*+)`?(?:\s++with\b)?\s*+"
    rf"(?:(?P<object>\{{.*\}})|(?P<pairs>(?:{_PAIR}[\s,]*+)*+))[.!?\s]*+$",
    re.IGNORECASE | re.DOTALL,
)
_LIKE_A_TOOL = re.compile(r"\w[_-]\w")
"""What names a tool, though there may be none: other words behind `use` are no names."""
_LOOP = re.compile(r"\W*(?:loop|get stuck in a loop)(?: for ?ever)?\W*+$", re.IGNORECASE)
_OBJECT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])
_VALUE: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


def call_tool(ask: Ask) -> Plan | None:
    """One call of the tool that the text names, then what came of it."""
    command = _COMMAND.match(ask.text)
    if command is None:
        return None
    names = {canonical_name(tool): tool for tool in ask.tools}
    tool = names.get(canonical_name(command["name"]))
    if tool is None and not _LIKE_A_TOOL.search(command["name"]):
        return None
    return _call(Wish(tool or command["name"], _arguments(command["object"], command["pairs"])))


def _call(wish: Wish) -> Plan:
    [result] = yield Answer(text=f"I call `{wish.tool}` as you asked. ", wishes=(wish,))
    if result.status == "unknown":
        return Answer(
            text=f"There is no tool `{result.name}` for me to call, so nothing was done. The app told me so:\n\n"
            f"{fenced(result.text)}\n\nPut a file with a function of that name into the tools folder, and I can."
        )
    if result.failed:
        return told(result)
    return Answer(text=f"I called `{result.name}`. This came out:\n\n{fenced(result.text or '(nothing to read)')}")


def loop(ask: Ask) -> Plan | None:
    """The same call for ever, until one of the agent's limits ends the run."""
    return _loop(ask) if _LOOP.match(ask.text) else None


def _loop(ask: Ask) -> Plan:
    needs(ask, "calculator")
    text = "I call the calculator and never stop by myself. "
    while True:
        yield Answer(text=text, wishes=(Wish("calculator", {"operation": "add", "x": 1, "y": 1}),))
        text = "And again. "


def _arguments(written: str | None, pairs: str | None) -> dict[str, JsonValue]:
    """What was written as a JSON object or as `name=value` pairs."""
    if not written:
        return {name: _value(value) for name, value in re.findall(_PAIR, pairs or "")}
    try:
        return _OBJECT.validate_json(written)
    except ValidationError:
        return {}


def _value(text: str) -> JsonValue:
    try:
        return _VALUE.validate_json(text)
    except ValidationError:
        return text.strip("'")
