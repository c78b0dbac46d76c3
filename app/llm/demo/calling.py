"""Tools called by their names: one that is asked for, or the same one again and again until a limit ends that."""

import re

from pydantic import JsonValue, TypeAdapter, ValidationError

from app.domain.messages import ToolResult
from app.llm.demo.answer import Answer, Wish, fenced
from app.llm.demo.ask import Ask
from app.llm.demo.missing import told

_CALL = re.compile(
    r"^\W*(?:please\s+|now\s+|can you\s+)*(?:call|invoke|use|run|try)\s+(?:the\s+)?(?:tool\s+)?"
    r"[`\"']?(?P<tool>[a-z][\w-]*)[`\"']?(?:\s+tool)?(?:\s+(?:now|please|again))*"
    r"(?:\s*(?:with|on|:)?\s*(?P<arguments>\{.*\}))?\s*[.!?]*\s*$",
    re.IGNORECASE | re.DOTALL,
)
_LOOP = re.compile(
    r"^\W*(?:please\s+)?(?:(?:get stuck|go|run|be|end up)\s+)?(?:(?:in|into)\s+)?"
    r"(?:an?\s+)?(?:endless\s+|infinite\s+)?loop(?:\s+(?:for\s?ever|endlessly|until you are stopped))?"
    r"(?P<varied>\s+with (?:other|different|new) \w+)?\W*$"
    r"|\brepeat yourself\b|\bnever stop calling\b",
    re.IGNORECASE,
)
_OBJECT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


def call_tool(ask: Ask) -> Answer | None:
    """One call of the tool that the text names, then what came of it."""
    named = _CALL.match(ask.text)
    if named is None:
        return None
    tool = _tool(named["tool"], ask.tools)
    if tool not in ask.tools and not re.search(r"\w[_-]\w", tool):
        return None
    if not ask.results:
        return Answer(text=f"I call `{tool}` as you asked. ", wishes=(Wish(tool, _arguments(named["arguments"])),))
    return _said(ask.results[-1])


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


def _tool(written: str, tools: frozenset[str]) -> str:
    """The tool as it is called: `-` and `_` are the same in its name."""
    return next((name for name in tools if name.replace("-", "_") == written.replace("-", "_")), written)


def _arguments(written: str | None) -> dict[str, JsonValue]:
    """The JSON object behind the name; none where there is no proper one."""
    try:
        return _OBJECT.validate_json(written or "{}")
    except ValidationError:
        return {}


def _said(result: ToolResult) -> Answer:
    if result.status == "unknown":
        return Answer(
            text=f"There is no tool `{result.name}` for me to call, so nothing was done. The app told me so:\n\n"
            f"{fenced(result.text)}\n\nPut a file with a function of that name into the tools folder, and I can."
        )
    return told(result) if result.failed else Answer(text=f"`{result.name}` returned:\n\n{fenced(result.text)}")
