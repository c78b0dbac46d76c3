"""The processes of all tool files: none outlives the app."""

import asyncio
from pathlib import Path

from app.domain.tool_settings import TrustedFile
from app.late import late

with late():
    from app.tools.worker import file_worker


class Workers:
    def __init__(self) -> None:
        self._live: set[file_worker.FileWorker] = set()
        self._endings: set[asyncio.Task[None]] = set()

    def make(self, path: Path, text: str, trusted: TrustedFile) -> "file_worker.FileWorker":
        """A worker for that text; its process starts when it is needed."""
        worker = file_worker.FileWorker(path, text, interpreter=trusted.interpreter)
        self._live.add(worker)
        return worker

    def end(self, worker: "file_worker.FileWorker") -> None:
        """End it in the background; nothing happens to one that was ended."""
        if worker in self._live:
            self._live.discard(worker)
            worker.shut()
            task = asyncio.create_task(worker.close())
            self._endings.add(task)
            task.add_done_callback(self._endings.discard)

    async def close(self) -> None:
        """End all of them, and return when they are gone."""
        for worker in list(self._live):
            self.end(worker)
        await asyncio.gather(*self._endings)
