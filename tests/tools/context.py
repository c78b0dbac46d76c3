"""A call's context for tests of tools: session files in memory, printed text in a list."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.domain.errors import ToolError
from app.domain.messages import AppPart, FilePart, ImagePart
from app.domain.tools import Answer, FileWrite, Progress, Question, Task, TaskEnd, ToolSpec, Workspace


class MemoryFiles:
    """Session files that forget everything with the test."""

    def __init__(self, **files: bytes) -> None:
        self.contents: dict[str, bytes] = {f"/{name.replace('_', '.')}": content for name, content in files.items()}

    def digests(self) -> Mapping[str, str]:
        return {path: hashlib.sha256(content).hexdigest() for path, content in self.contents.items()}

    async def read(self, path: str) -> bytes:
        if path not in self.contents:
            raise ToolError(f"There is no file {path}.")
        return self.contents[path]

    async def write(self, path: str, content: bytes) -> FileWrite:
        before = self.digests().get(path)
        self.contents[path] = content
        return FileWrite(path=path, before=before, after=self.digests()[path], size=len(content))


@dataclass
class Context:
    call_id: str = "call-1"
    files: MemoryFiles = field(default_factory=MemoryFiles)
    shown: list[str] = field(default_factory=list)
    progress: list[Progress] = field(default_factory=list)
    kept: dict[str, bytes] = field(default_factory=dict)
    """By sha256."""
    began_with: Workspace = field(default_factory=Workspace)
    asked: list[Question] = field(default_factory=list)
    answer: Answer = field(default_factory=lambda: Answer(decision="decline"))
    """What the person says to every question."""

    spawned: list[Task] = field(default_factory=list)
    ends: dict[str, TaskEnd] = field(default_factory=dict)
    """By id: what came of the tasks."""

    view: AppPart | None = None
    unsent: tuple[ToolSpec, ...] = ()
    loaded: list[str] = field(default_factory=list)

    def load(self, names: Sequence[str]) -> None:
        self.loaded.extend(names)

    def printed(self, text: str) -> None:
        self.shown.append(text)

    def progressed(self, progress: Progress) -> None:
        self.progress.append(progress)

    async def keep(self, content: bytes, *, media_type: str, filename: str) -> ImagePart | FilePart:
        digest = hashlib.sha256(content).hexdigest()
        self.kept[digest] = content
        if media_type.startswith("image/"):
            return ImagePart(artifact=digest, media_type=media_type, alt=filename)
        return FilePart(artifact=digest, media_type=media_type, filename=filename, size=len(content))

    def bring(self, view: AppPart) -> None:
        self.view = view

    async def result(self, ref: str) -> bytes:
        found = next((digest for digest in self.kept if digest.startswith(ref)), None)
        if found is None:
            raise ToolError(f"No result of this session is called {ref!r}.")
        return self.kept[found]

    async def ask(self, question: Question, until: "asyncio.Future[Answer] | None" = None) -> Answer:
        self.asked.append(question)
        return self.answer if until is None else await asyncio.shield(until)

    async def spawn(self, task: Task) -> str:
        self.spawned.append(task)
        return f"task-{len(self.spawned)}"

    async def join(self, task_id: str) -> TaskEnd:
        if task_id not in self.ends:
            raise ToolError(f"There is no task {task_id!r}.")
        return self.ends[task_id]
