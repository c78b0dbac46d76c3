"""Which files of a folder may run."""

import asyncio
from pathlib import Path

from app.domain.tool_settings import TrustedFile
from app.domain.values import now, well_formed
from app.late import late
from app.tools.ports import TrustedFiles
from app.tools.user_tools.reading import tool_paths

with late():
    from app.tools.worker import file_worker


class Trust:
    """Which tool files may run: those whose owner said so, by their path."""

    def __init__(self, stored: TrustedFiles, *, everything: bool) -> None:
        """With `everything` each file may run until somebody takes that back, and nothing of it is stored."""
        self._stored = stored
        self._everything = everything
        self._unasked: dict[Path, TrustedFile] = {}
        self._refused: set[Path] = set()

    def get(self, path: Path) -> TrustedFile | None:
        """How the file may run, `None` where it may not."""
        stored = self._stored.find(str(path))
        if stored is not None or not self._everything or path in self._refused:
            return stored
        return self._unasked.setdefault(path, TrustedFile(path=str(path), trusted_at=now()))

    async def neighbours(self, folder: Path) -> "file_worker.Neighbours":
        """Which tool files of the folder another one may import, as of now."""
        paths = await asyncio.to_thread(tool_paths, folder)
        allowed = tuple(well_formed(str(path)) for path in paths if self.get(path))
        return file_worker.Neighbours(folder=str(folder), allowed=allowed)

    async def give(self, path: Path, interpreter: str) -> None:
        """Let it run from now on, with that Python; it keeps its place before files that came later."""
        self._refused.discard(path)
        before = self.get(path)
        trusted_at = before.trusted_at if before else now()
        await self._stored.save(TrustedFile(path=str(path), interpreter=interpreter, trusted_at=trusted_at))

    async def take_back(self, path: Path) -> None:
        self._refused.add(path)
        await self._stored.delete(str(path))

    async def forget(self, path: Path) -> None:
        """The file is gone; another one in its place has to be asked about."""
        await self._stored.delete(str(path))

    async def move(self, path: Path, new_path: Path) -> None:
        """The file goes by another path from now on, with what was decided about it."""
        if path in self._refused:
            self._refused.add(new_path)
        if stored := self._stored.find(str(path)):
            await self._stored.save(stored.model_copy(update={"path": str(new_path)}))
            await self._stored.delete(str(path))
