"""Tools called by their names: one that is asked for, or the same one again and again until a limit ends that."""

import re

from pydantic import JsonValue, TypeAdapter, ValidationError

from app.domain.messages import ToolResult
from app.domain.tools import ToolSpec, canonical_name
from app.llm.demo.answer import Answer, Wish, fenced
from app.llm.demo.ask import Ask
from app.llm.demo.missing import told

_COMMAND = re.compile(
    r"^\W*(?:(?:please|can you|could you|now)\s+)*(?:call|invoke|use|run|try)\s+(?:the\s+)?(?:tool\s+)?[`\"']?"
    r"(?P<name>[A-Za-z]\w*(?:-\w+)*)[`\"']?(?:\s+tool)?(?:\s+(?:now|please|again)\b)*\s*(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_WITH = re.compile(r"^(?:with|on|for)\b\s*:?\s*|^:\s*", re.IGNORECASE)
_PAIR = re.compile(r"""(?<!\w)(\w++)\s*+(?:=|:)\s*+("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;]+)(?:\s*(?:,|;|and\b)\s*|\s+|$)""")
_LIKE_A_TOOL = re.compile(r"\w[_-]\w")
"""What names a tool, though there may be none: other words behind `use` are no names."""
_LOOP = re.compile(
    r"^\W*(?:please\s+)?(?:(?:get stuck|go|run|be|end up)\s+)?(?:(?:in|into)\s+)?"
    r"(?:an?\s+)?(?:endless\s+|infinite\s+)?loop(?:\s+(?:for\s?ever|endlessly|until you are stopped))?"
    r"(?P<varied>\s+with (?:other|different|new) \w+)?\W*$"
    r"|\brepeat yourself\b|\bnever stop calling\b",
    re.IGNORECASE,
)
_OBJECT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])
_VALUE: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


def call_tool(ask: Ask) -> Answer | None:
    """One call of the tool that the text names, then what came of it.

    `None` where nothing is named that could be a tool, or what to call it with is unclear.
    """
    command = _COMMAND.match(ask.text)
    if command is None:
        return None
    spec = _granted(command["name"], ask)
    if spec is None and not _LIKE_A_TOOL.search(command["name"]):
        return None
    arguments = _arguments(command["rest"].strip(), spec)
    if arguments is None:
        return None
    if ask.results:
        return _said(ask.results[-1])
    tool = spec.name if spec else command["name"]
    return Answer(text=f"I call `{tool}` as you asked. ", wishes=(Wish(tool, arguments),))


def loop(ask: Ask) -> Answer | None:
    """The same call for ever, or other arguments each time: which of its limits ends the run depends on that."""
    asked = _LOOP.search(ask.text)
    if asked is None:
        return None
    if "calculator" not in ask.tools:
        return Answer(text="To go round in circles I need the tool `calculator`, and this agent has not got it.")
    x = len(ask.rounds) if asked["varied"] else 1
    return Answer(
        text=f"Round {len(ask.rounds) + 1}. " if ask.rounds else "I call the calculator and never stop by myself. ",
        wishes=(Wish("calculator", {"operation": "add", "x": x, "y": 1}),),
    )


def _granted(written: str, ask: Ask) -> ToolSpec | None:
    return next((spec for spec in ask.specs if canonical_name(spec.name) == canonical_name(written)), None)


def _arguments(rest: str, spec: ToolSpec | None) -> dict[str, JsonValue] | None:
    """What the words behind the name say: a JSON object, `name=value` pairs, or the text of its first argument."""
    said = _WITH.match(rest)
    text = rest[said.end() :].strip() if said else rest
    if not text.strip(".!? "):
        return {}
    if (found := _object(text.rstrip(".!? "))) is not None:
        return found
    if spec is not None and (found := _pairs(text)):
        return found
    properties = spec.parameters.get("properties") if spec is not None else None
    if said and isinstance(properties, dict) and properties:
        return {next(iter(properties)): text.strip("\"'")}
    return {} if re.fullmatch(r"\{.*\}[.!? ]*", text, re.DOTALL) else None


def _object(text: str) -> dict[str, JsonValue] | None:
    try:
        return _OBJECT.validate_json(text)
    except ValidationError:
        return None


def _pairs(text: str) -> dict[str, JsonValue]:
    """What stands there as `name=value`; nothing where there are other words too."""
    pairs = list(_PAIR.finditer(text))
    return {pair[1]: _value(pair[2]) for pair in pairs} if "".join(pair.group() for pair in pairs) == text else {}


def _value(text: str) -> JsonValue:
    try:
        return _VALUE.validate_json(text)
    except ValidationError:
        return text.strip("'")


def _said(result: ToolResult) -> Answer:
    if result.status == "unknown":
        return Answer(
            text=f"There is no tool `{result.name}` for me to call, so nothing was done. The app told me so:\n\n"
            f"{fenced(result.text)}\n\nPut a file with a function of that name into the tools folder, and I can."
        )
    if result.failed:
        return told(result)
    return Answer(text=f"I called `{result.name}`. This came out:\n\n{fenced(result.text or '(nothing to read)')}")
