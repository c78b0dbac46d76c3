"""What a tool may use while it is called, in a run or by hand; see `domain.tools.CallContext`."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from app.domain.errors import ToolError
from app.domain.messages import AppPart, FilePart, ImagePart
from app.domain.streaming import TextDelta
from app.domain.tools import Answer, Progress, Question, Task, TaskEnd, ToolSpec, Workspace
from app.engine.loop.attachments import kept
from app.engine.loop.files import CallFiles
from app.engine.loop.results import resolve_ref
from app.engine.ports import Spawner
from app.engine.run.stopwatch import Stopwatch

if TYPE_CHECKING:
    from app.domain.secrets.redaction import Redaction
    from app.domain.secrets.stream import CleanStream


class Asks(Protocol):
    """Brings a question to a person."""

    async def ask(self, question: Question, until: "asyncio.Future[Answer] | None" = None) -> Answer: ...


class Tasks(Protocol):
    """Hands work over to runs of their own."""

    async def spawn(self, task: Task) -> str: ...

    async def join(self, task_id: str, progressed: Callable[[Progress], None]) -> TaskEnd: ...


class NoTasks:
    """Of a call that no agent makes."""

    async def spawn(self, task: Task) -> str:
        raise ToolError(f"Only an agent in a run can hand over a task, so {task.text[:40]!r} was not begun.")

    async def join(self, task_id: str, progressed: Callable[[Progress], None]) -> TaskEnd:  # noqa: ARG002  the port's
        raise ToolError(f"Only the agent that handed over the task {task_id!r} can wait for it, in a run.")


@dataclass(frozen=True)
class TasksOfRun:
    """Of a call in a run."""

    spawner: Spawner
    run_id: str
    call_id: str

    async def spawn(self, task: Task) -> str:
        return await self.spawner.spawn(self.run_id, self.call_id, task)

    async def join(self, task_id: str, progressed: Callable[[Progress], None]) -> TaskEnd:
        return await self.spawner.join(self.run_id, self.call_id, task_id, progressed)


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
    tasks: Tasks = field(default_factory=NoTasks)
    redaction: "Redaction | None" = None
    """Takes the known secrets out of what it shows, asks and gives back."""
    unsent: Sequence[ToolSpec] = ()
    loaded: tuple[str, ...] = ()
    """The tools that the call found."""
    view: AppPart | None = None
    """What the call brings along, also where it fails."""
    ended: bool = False
    """True when nothing of the call is shown any more: a thread of it may still speak."""

    def __post_init__(self) -> None:
        self._cleaned: CleanStream | None = self.redaction.stream() if self.redaction else None
        self.files.clean = self.redaction.content if self.redaction else None

    def printed(self, text: str) -> None:
        if not self.ended:
            clean = self._cleaned.take(TextDelta(text))[-1].text if self._cleaned else text
            self.screen.printed[self.call_id] = self._on_screen + clean

    def progressed(self, progress: Progress) -> None:
        if not self.ended:
            progress = self.redaction.value(progress) if self.redaction else progress
            self.screen.progress[self.call_id] = progress
            self.stopwatch.restart()

    def load(self, names: Sequence[str]) -> None:
        known = {spec.name for spec in self.unsent}
        self.loaded = tuple(dict.fromkeys((*self.loaded, *(name for name in names if name in known))))

    async def keep(self, content: bytes, *, media_type: str, filename: str) -> ImagePart | FilePart:
        files = self.files
        return await kept(files.artifacts, content, media_type=media_type, filename=filename, clean=files.clean)

    def bring(self, view: AppPart) -> None:
        self.view = self.redaction.value(view) if self.redaction else view

    async def result(self, ref: str) -> bytes:
        return await self.files.artifacts.get(resolve_ref(ref, self.named()))

    async def ask(self, question: Question, until: "asyncio.Future[Answer] | None" = None) -> Answer:
        question = self.redaction.value(question) if self.redaction else question
        with self.stopwatch.standing_still():
            return await self.person.ask(question, until)

    async def spawn(self, task: Task) -> str:
        return await self.tasks.spawn(task)

    async def join(self, task_id: str) -> TaskEnd:
        with self.stopwatch.standing_still():
            return await self.tasks.join(task_id, self.progressed)

    @property
    def shown(self) -> str:
        """What it has printed so far."""
        return self._on_screen + (self._cleaned.held if self._cleaned else "")

    @property
    def _on_screen(self) -> str:
        return self.screen.printed.get(self.call_id, "")

    def end(self) -> None:
        """Take what it showed off the screen; nothing more is shown."""
        self.ended = True
        self.screen.printed.pop(self.call_id, None)
        self.screen.progress.pop(self.call_id, None)
