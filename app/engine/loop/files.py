"""The session's files during a run: names for artifacts, each change an event."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.domain.errors import ToolError
from app.domain.events import FileChanged
from app.domain.tools import FileWrite
from app.engine.ports import Artifacts, Clean


@dataclass
class CallFiles:
    """What one tool call may do to them."""

    call_id: str
    files: dict[str, str]
    """Path to sha256, shared by all calls of the run."""
    artifacts: Artifacts
    changed: Callable[[FileChanged], None]
    """Told of every change."""
    clean: Clean | None = None
    """Takes out of what the call stores the secrets that are taken out of what it gives back."""

    def digests(self) -> Mapping[str, str]:
        return dict(self.files)

    async def read(self, path: str) -> bytes:
        digest = self.files.get(path)
        if digest is None:
            known = ", ".join(sorted(self.files)) or "none yet"
            raise ToolError(f"There is no file {path}. Files of this session: {known}.")
        return await self.artifacts.get(digest)

    async def write(self, path: str, content: bytes) -> FileWrite:
        after = await self.artifacts.put(content, clean=self.clean)
        before = self.files.get(path)
        self.files[path] = after
        if after != before:
            self.changed(FileChanged(call_id=self.call_id, path=path, before=before, after=after))
        return FileWrite(path=path, before=before, after=after, size=len(content))
