"""What a server wrote to its standard error, and what happened to it: the last lines of both."""

from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime

MOST_LINES = 200
LONGEST_LINE = 2_000
"""Characters."""
Clean = Callable[[str], str]
"""Takes the known secrets out of a text."""


def unchanged(text: str) -> str:
    """Where no secrets are known."""
    return text


class ServerLog:
    """Bounded: a server may write as much as it likes."""

    def __init__(self, clean: Clean = unchanged) -> None:
        self._clean = clean
        self._lines: deque[str] = deque(maxlen=MOST_LINES)
        self._rest = b""

    def lines(self) -> tuple[str, ...]:
        return tuple(self._lines)

    def last_words(self, count: int = 3) -> str:
        """The last lines that are no event of ours, for a sentence about what went wrong."""
        written = [line for line in self._lines if not line.startswith("·")]
        return "\n".join(written[-count:])

    def event(self, text: str) -> None:
        """Note something that happened, with the time of day."""
        self._lines.append(f"· {datetime.now(UTC).astimezone():%H:%M:%S} {_cut(self._clean(text))}")

    def line(self, text: str) -> None:
        self._lines.append(_cut(self._clean(text)))

    def wrote(self, chunk: bytes) -> None:
        """Take in standard error as it comes; of a flood only the end is looked at."""
        *lines, self._rest = (self._rest + chunk).rsplit(b"\n", MOST_LINES)
        if len(lines) == MOST_LINES:
            lines[0] = lines[0].rsplit(b"\n", 1)[-1]
        self._rest = self._rest[-LONGEST_LINE:]
        for line in lines:
            self.line(line[: LONGEST_LINE * 4].decode(errors="replace").rstrip())

    def finish(self) -> None:
        """The last line, though nothing ended it."""
        if self._rest:
            self.line(self._rest.decode(errors="replace"))
            self._rest = b""


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 1] + "…"
