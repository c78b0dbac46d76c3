"""Versions of tool files and their processes: each stays callable while somebody holds it, none outlives the app."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from app.domain.tool_settings import TrustedFile
from app.domain.tools import CallContext, ToolOutput, ToolSpec
from app.late import late

with late():
    from app.tools.worker import file_worker


class Version:
    """A text that a Python has loaded, with its worker, which ends once this is retired and nobody holds it."""

    def __init__(
        self,
        text: str,
        worker: "file_worker.FileWorker",
        loaded: "file_worker.Loaded",
        *,
        interpreter: str,
        end: "Callable[[file_worker.FileWorker], None]",
    ) -> None:
        self._text = text
        self._interpreter = interpreter
        self.worker = worker
        self.loaded = loaded
        self.tools = tuple(FileTool(spec, self) for spec in loaded.tools)
        self._end = end
        self._holders = 0
        self._retired = False

    def is_of(self, text: str | None, *, interpreter: str) -> bool:
        """Whether this is what that Python makes of that text."""
        return (self._text, self._interpreter) == (text, interpreter)

    def hold(self) -> Callable[[], None]:
        """Keep it callable until the result is called."""
        self._holders += 1
        held = True

        def release() -> None:
            nonlocal held
            self._holders -= held
            held = False
            self._end_if_unused()

        return release

    def retire(self) -> None:
        """A newer one took its place."""
        self._retired = True
        self._end_if_unused()

    def _end_if_unused(self) -> None:
        if self._retired and not self._holders:
            self._end(self.worker)


@dataclass(frozen=True, slots=True)
class FileTool:
    """A tool of one version of a file."""

    spec: ToolSpec
    version: Version
    label: str = ""

    async def run(self, arguments: Mapping[str, JsonValue], context: CallContext) -> ToolOutput:
        release = self.version.hold()
        try:
            return await self.version.worker.call(self.spec.name, arguments, context)
        finally:
            release()


class Workers:
    """The workers of all tool files."""

    def __init__(self, neighbours: "Callable[[], Awaitable[file_worker.Neighbours]]") -> None:
        """`neighbours` says what of the folder a process that starts may import."""
        self._neighbours = neighbours
        self._live: dict[file_worker.FileWorker, Path] = {}
        self._endings: set[asyncio.Task[None]] = set()

    def make(self, path: Path, text: str, trusted: TrustedFile) -> "file_worker.FileWorker":
        """A worker for that text; its process starts when it is needed."""
        worker = file_worker.FileWorker(path, text, interpreter=trusted.interpreter, neighbours=self._neighbours)
        self._live[worker] = path
        return worker

    def end(self, worker: "file_worker.FileWorker") -> None:
        """End it in the background; nothing happens to one that was ended."""
        if worker in self._live:
            del self._live[worker]
            worker.shut()
            task = asyncio.create_task(worker.close())
            self._endings.add(task)
            task.add_done_callback(self._endings.discard)

    def end_all_of(self, path: Path) -> None:
        """End those of every version of the file, whoever holds one."""
        for worker in [worker for worker, its_path in self._live.items() if its_path == path]:
            self.end(worker)

    def move(self, path: Path, new_path: Path) -> None:
        """The file goes by another path from now on, and so do its older versions."""
        self._live = {worker: new_path if its_path == path else its_path for worker, its_path in self._live.items()}

    async def close(self) -> None:
        """End all of them, and return when they are gone."""
        for worker in list(self._live):
            self.end(worker)
        await asyncio.gather(*self._endings)
