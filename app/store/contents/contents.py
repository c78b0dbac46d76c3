"""Contents as pages show them: their beginning read here, or all of it linked where it can do nothing."""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.domain.errors import NotFound, StorageError
from app.store.contents.artifacts import Artifacts
from app.store.contents.signed_links import SignedLinks
from app.store.journal.trouble import in_words

BEGINNING = 64
"""Bytes that tell pictures from anything else."""


@dataclass(frozen=True, slots=True)
class StoredContent:
    """A content that was found unharmed."""

    path: Path
    beginning: bytes


class Contents:
    """`origin` is asked before each address, so that it can open when it is first needed; without it they are paths."""

    def __init__(self, artifacts: Artifacts, origin: Callable[[], str] = str, links: SignedLinks | None = None) -> None:
        self.links = links or SignedLinks()
        self._artifacts = artifacts
        self._origin = origin

    def picture(self, digest: str) -> str:
        """Where the content is shown, if it is a picture that can carry no script; else it is saved."""
        return self._origin() + self.links.address(digest)

    def download(self, digest: str, name: str) -> str:
        """Where the content is saved under that name."""
        return self._origin() + self.links.address(digest, name or digest)

    async def get(self, digest: str) -> bytes:
        """All of it; raises `NotFound` and `StorageError`."""
        return await self._artifacts.get(digest)

    async def size(self, digest: str) -> int:
        """How many bytes there are, unread; raises `NotFound` and `StorageError`."""
        return await asyncio.to_thread(self._size, self._artifacts.path(digest))

    async def stored(self, digest: str) -> StoredContent:
        """Where it lies, looked through in pieces; raises `NotFound` and `StorageError`."""
        return await asyncio.to_thread(self._looked_through, digest)

    def _size(self, path: Path) -> int:
        try:
            return path.stat().st_size
        except OSError as error:
            raise _trouble(error, path) from error

    def _looked_through(self, digest: str) -> StoredContent:
        path = self._artifacts.path(digest)
        try:
            with path.open("rb") as file:
                beginning = file.read(BEGINNING)
                file.seek(0)
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise _trouble(error, path) from error
        if found != digest:
            raise StorageError(f"The file {path} is damaged: its content is not the one that was stored.")
        return StoredContent(path, beginning)


def _trouble(error: OSError, path: Path) -> StorageError | NotFound:
    if isinstance(error, FileNotFoundError):
        return NotFound(f"There is no artifact {path.name}.")
    return in_words(error, path)
