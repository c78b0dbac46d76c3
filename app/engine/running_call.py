"""What a tool may use while it is called, in a run or by hand; see `domain.tools.CallContext`."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from app.domain.messages import FilePart, ImagePart
from app.domain.tools import Answer, Progress, Question, Workspace
from app.engine.attachments import kept
from app.engine.files import CallFiles
from app.engine.results import meant
from app.engine.stopwatch import Stopwatch


class Asks(Protocol):
    """Brings a question to a person."""

    async def ask(self, question: Question) -> Answer: ...


@dataclass
class Screen:
    """By call id: what running tools show."""

    printed: dict[str, str]
    progress: dict[str, Progress]


@dataclass
class RunningCall:
    call_id: str
    files: CallFiles
    began_with: Workspace
    screen: Screen
    person: Asks
    named: Callable[[], Iterable[str]]
    """The digests of all artifacts that this call may read by their name."""
    stopwatch: Stopwatch
    """The call's time-out."""
    ended: bool = False
    """True when nothing of the call is shown any more: a thread of it may still speak."""

    def printed(self, text: str) -> None:
        if not self.ended:
            self.screen.printed[self.call_id] = self.shown + text

    def progressed(self, progress: Progress) -> None:
        if not self.ended:
            self.screen.progress[self.call_id] = progress
            self.stopwatch.restart()

    async def keep(self, content: bytes, *, media_type: str, filename: str) -> ImagePart | FilePart:
        return await kept(self.files.artifacts, content, media_type=media_type, filename=filename)

    async def result(self, ref: str) -> bytes:
        return await self.files.artifacts.get(meant(ref, self.named()))

    async def ask(self, question: Question) -> Answer:
        with self.stopwatch.standing_still():
            return await self.person.ask(question)

    @property
    def shown(self) -> str:
        """What it has printed so far."""
        return self.screen.printed.get(self.call_id, "")

    def end(self) -> None:
        """Take what it showed off the screen; nothing more is shown."""
        self.ended = True
        self.screen.printed.pop(self.call_id, None)
        self.screen.progress.pop(self.call_id, None)
