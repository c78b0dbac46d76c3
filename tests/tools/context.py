"""A call's context for tests of tools: session files in memory, printed text in a list."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.domain.errors import ToolError
from app.domain.tools import FileWrite


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

    def printed(self, text: str) -> None:
        self.shown.append(text)
