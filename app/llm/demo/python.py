"""Python code that the user wrote, or one of a few known programs, run in the sandbox."""

import re
import textwrap

from app.domain.messages import ToolResult
from app.llm.demo.answer import Answer, Wish, fenced
from app.llm.demo.ask import Ask
from app.llm.demo.missing import told, without

_FENCE = re.compile(r"```[a-zA-Z0-9]*+[ \t]*+\n?(.*?)```", re.DOTALL)
_RUN = r"(?:run|execute|eval(?:uate)?|try(?: out)?)"
_WHAT = (
    r"(?:this|that|the|these|some|following|me|my|a|piece|bit|of|in|with|python|py"
    r"|code|script|snippet|program|lines?|for me|please)"
)
_COMMAND = re.compile(
    rf"^\W*(?:(?:please|can you|could you|now)\s+)*{_RUN}\b(?:\s+{_WHAT}\b)*[\s:]*(.+)$", re.IGNORECASE | re.DOTALL
)
_LABEL = re.compile(r"^\s*(?:python|py)\s*:\s*(.+)$", re.IGNORECASE | re.DOTALL)
_ABOUT_PYTHON = re.compile(r"\b(?:python|code|script|program|snippet)\b", re.IGNORECASE)
_LOOKS_LIKE_CODE = re.compile(
    r"\w\s*\(.{0,100}\)|^[ \t]*(?:import|from|for|while|def|if|with|class)\s|\w\s*=[^=]|\[.{0,100}\]", re.MULTILINE
)

_PROGRAMS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"\bfibonacci\b", re.IGNORECASE),
        "a, b = 0, 1\nnumbers = []\n"
        "for _ in range({count}):\n    numbers.append(a)\n    a, b = b, a + b\nprint(numbers)",
    ),
    (
        re.compile(r"\bprimes?\b", re.IGNORECASE),
        "primes = []\nn = 2\nwhile len(primes) < {count}:\n    if all(n % p for p in primes):\n"
        "        primes.append(n)\n    n += 1\nprint(primes)",
    ),
    (
        re.compile(r"\bsquares?\b|\bsquare numbers\b", re.IGNORECASE),
        "print([n * n for n in range(1, {count} + 1)])",
    ),
    (
        re.compile(r"\bfactorials?\b", re.IGNORECASE),
        "product = 1\nfor n in range(1, {count} + 1):\n    product *= n\n    print(n, product)",
    ),
)


def run_code(ask: Ask) -> Answer | None:
    code = code_in(ask.text)
    if code is None:
        return None
    lacking = without(ask, "execute_python")
    if lacking is not None:
        return lacking
    if not ask.results:
        lines = len(code.splitlines())
        size = "one line" if lines == 1 else f"{lines} lines"
        return Answer(
            thought=f"That is {size} of Python. I run it in the sandbox, where it can do no harm.",
            wishes=(Wish("execute_python", {"code": code}),),
        )
    return _shown(ask.results[-1])


def _shown(result: ToolResult) -> Answer:
    if result.status == "error":
        return Answer(text=f"Your code did not run to its end. Python says:\n\n{fenced(result.text)}")
    if result.failed:
        return told(result)
    if not result.text.strip():
        return Answer(text="Your code ran to its end. It printed nothing; add a `print(…)` to see something.")
    return Answer(text=f"Your code ran in the sandbox. This came out:\n\n{fenced(result.text)}")


def code_in(text: str) -> str | None:
    """The Python code that the text asks to be run, `None` when it does not ask for that."""
    fence = _FENCE.search(text)
    if fence:
        outside = text[: fence.start()] + text[fence.end() :]
        wanted = not outside.strip() or re.search(rf"\b{_RUN}\b|python", outside, re.IGNORECASE)
        return _tidied(fence.group(1)) if wanted else None
    label = _LABEL.match(text)
    if label:
        return _tidied(label.group(1))
    command = _COMMAND.match(text)
    if command and (_announced(text[: command.start(1)]) or _LOOKS_LIKE_CODE.search(command.group(1))):
        return _tidied(command.group(1))
    return _known_program(text)


def _announced(words: str) -> bool:
    """True when the words before say that code follows, as "run this Python code:" does."""
    return words.rstrip().endswith(":") and _ABOUT_PYTHON.search(words) is not None


def _known_program(text: str) -> str | None:
    if not _ABOUT_PYTHON.search(text):
        return None
    program = next((program for words, program in _PROGRAMS if words.search(text)), None)
    number = re.search(r"\b\d{1,3}\b", text)
    return program.format(count=number.group() if number else 10) if program else None


def _tidied(code: str) -> str:
    lines = textwrap.dedent(code).strip("\n")
    return lines.strip().strip("`") if "\n" not in lines else lines
