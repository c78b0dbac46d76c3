"""Python code that the user wrote, run in the sandbox."""

import re
import textwrap

from app.llm.demo.ask import Ask
from app.llm.demo.plan import Answer, Plan, Wish, fenced, needs, told

_FENCE = re.compile(r"```[a-zA-Z0-9]*+[ \t]*+\n?(.*?)```", re.DOTALL)
_ORDER = re.compile(r"\W*(?:please\s+)?(?:run|execute)\b(?P<what>[^:\n`]*+)(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_ABOUT_PYTHON = re.compile(r"\b(?:python|code|program|script)\b", re.IGNORECASE)


def run_code(ask: Ask) -> Plan | None:
    code = code_in(ask.text)
    return _run(ask, code) if code else None


def code_in(text: str) -> str:
    """The Python code that the text asks to be run, as a block or behind "run this Python code:"."""
    order = _ORDER.match(text)
    if order is None:
        return ""
    if fence := _FENCE.search(order["rest"]):
        return textwrap.dedent(fence[1]).strip("\n")
    is_announced = order["rest"].startswith(":") and _ABOUT_PYTHON.search(order["what"])
    return textwrap.dedent(order["rest"][1:]).strip().strip("`") if is_announced else ""


def _run(ask: Ask, code: str) -> Plan:
    needs(ask, "execute_python")
    lines = len(code.splitlines())
    size = "one line" if lines == 1 else f"{lines} lines"
    [result] = yield Answer(
        thought=f"That is {size} of Python. I run it in the sandbox, where it can do no harm.",
        wishes=(Wish("execute_python", {"code": code}),),
    )
    if result.status == "error":
        return Answer(text=f"Your code did not run to its end. Python says:\n\n{fenced(result.text)}")
    if result.failed:
        return told(result)
    if not result.text.strip():
        return Answer(text="Your code ran to its end. It printed nothing; add a `print(…)` to see something.")
    return Answer(text=f"Your code ran in the sandbox. This came out:\n\n{fenced(result.text)}")
