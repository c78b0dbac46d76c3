"""What a server wrote to its standard error, what happened to it, and what is known of the way to it."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
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


@dataclass
class Link:
    """The way to a server: what is known of it beside what the server says, and what happens on it."""

    log: ServerLog
    started: bool = False
    lost: bool = False
    """Nothing more can come from it."""
    pid: int | None = None
    """Of its process, where it is one of ours."""
    exit_code: int | None = None
    garbage: int = 0
    """Lines of its standard output that were no messages."""
    http_status: int | None = None
    """Of its last answer, when that was a refusal."""
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def lose(self) -> None:
        self.lost = True
        self._news.set()

    def tools_changed(self) -> None:
        """It says that it has other tools now."""
        self._news.set()

    async def changed(self) -> bool:
        """Wait until its tools changed; false when it is lost."""
        await self._news.wait()
        self._news.clear()
        return not self.lost

    def begin_again(self, why: str) -> None:
        self.log.event(why)
        self._news.clear()
        self.lost = False
        self.exit_code = self.http_status = None


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 1] + "…"
