"""What a function's docstring says: the description of the tool, and of each of its arguments.

Read are Google's `Args:` section and plain `name: text` lines; a name counts only when it is a parameter's.
"""

import inspect
import re
from collections.abc import Collection
from dataclasses import dataclass, field

LONGEST = 20_000
ARGS_HEADING = re.compile(r"^(args|arguments|parameters|params):$", re.IGNORECASE)
SECTION_HEADING = re.compile(r"^[A-Z][A-Za-z ]{0,30}:$")
WRAPPED = re.compile(r"(?<![\n:])\n(?=[^\s\-*+#>|\d])")
"""A line break within a paragraph: none before a list, a heading, a table or what is indented."""
ARGUMENT = re.compile(r"^(?::param\s+)?\*{0,2}(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")


@dataclass(slots=True)
class Docs:
    description: str = ""
    arguments: dict[str, str] = field(default_factory=dict)


def read_docstring(docstring: str | None, parameters: Collection[str]) -> Docs:
    """The description without the lines about arguments, its paragraphs unwrapped, and those by argument.

    What stands behind the first 20,000 characters is left out.
    """
    reading = _Reading(parameters)
    for line in inspect.cleandoc((docstring or "")[:LONGEST]).splitlines():
        reading.take(line)
    return reading.docs()


class _Reading:
    def __init__(self, parameters: Collection[str]) -> None:
        self._parameters = parameters
        self._description: list[str] = []
        self._arguments: dict[str, list[str]] = {}
        self._in_args = False
        self._current: str | None = None
        self._indent = 0

    def take(self, line: str) -> None:
        text, indent = line.strip(), len(line) - len(line.lstrip())
        if ARGS_HEADING.match(text):
            self._in_args, self._current = True, None
        elif self._starts_argument(text, indent):
            return
        elif text and self._current and indent > self._indent:
            self._arguments[self._current].append(text)
        elif self._in_args and (not text or (indent and not SECTION_HEADING.match(text))):
            self._current = None
        else:
            self._in_args, self._current = False, None
            self._description.append(line.rstrip())

    def _starts_argument(self, text: str, indent: int) -> bool:
        found = ARGUMENT.match(text)
        if not found or found[1] not in self._parameters:
            return False
        if self._current and indent > self._indent:
            return False
        self._current, self._indent = found[1], indent
        self._arguments[found[1]] = [found[2]] if found[2] else []
        return True

    def docs(self) -> Docs:
        description = re.sub(r"\n{3,}", "\n\n", "\n".join(self._description)).strip()
        return Docs(
            WRAPPED.sub(" ", description), {name: " ".join(lines) for name, lines in self._arguments.items() if lines}
        )
