"""Contents as pages show them: their beginning read here, or all of it linked where it can do nothing."""

import asyncio
import base64
import hashlib
import hmac
import re
import secrets
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from app.domain.errors import NotFound, StorageError
from app.store.contents.artifacts import Artifacts
from app.store.contents.sandboxes import Sandboxes
from app.store.journal.trouble import in_words

BEGINNING = 64
"""Bytes that tell pictures from anything else."""

HOLDS = 12 * 3600
"""Seconds that an address holds at least, and at most twice as many: those made in one stretch of it are the same."""
LONGEST_NAME = 200
"""Characters of a name."""
_ADDRESS = re.compile(r"/([A-Za-z0-9_-]{43})/(\d{1,15})/([0-9a-f]{64})(?:\?([A-Za-z0-9_.~%-]+))?")


class Expired(NotFound):
    """The address was given out by this process, too long ago."""


@dataclass(frozen=True, slots=True)
class Linked:
    """What an address leads to."""

    digest: str
    name: str
    """What to save it as, percent-encoded; empty for what is shown."""


class SignedLinks:
    """Addresses of contents that nobody can make up: signed by this process, each for one content, for some hours.

    An address is `/<signature>/<end>/<sha256>?<name>`, the name percent-encoded; without one the content is shown.
    `now` gives seconds of a clock that nobody sets.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._key = secrets.token_bytes(32)
        self._now = now

    def address(self, digest: str, name: str = "") -> str:
        """The path and query under which the content is saved as that, or shown when there is no name."""
        saved_as = quote(_plain(name) or "file", safe="") if name else ""
        until = (int(self._now()) // HOLDS + 2) * HOLDS
        path = f"/{self._signature(until, digest, saved_as)}/{until}/{quote(digest, safe='', errors='replace')}"
        return f"{path}?{saved_as}" if saved_as else path

    def read(self, address: str) -> Linked:
        """What the path and query lead to; raises `Expired`, or `NotFound` for what this process did not sign."""
        parts = _ADDRESS.fullmatch(address)
        if parts is None:
            raise NotFound("This is no address of a content.")
        signature, until, digest, name = parts.groups("")
        if not hmac.compare_digest(signature, self._signature(int(until), digest, name)):
            raise NotFound("This address was not given out by this app since it was started.")
        if int(until) <= self._now():
            raise Expired("This address held for some hours, which are over.")
        return Linked(digest, name)

    def _signature(self, until: int, digest: str, name: str) -> str:
        signed = hmac.digest(self._key, f"{until}/{digest}/{name}".encode(errors="replace"), hashlib.sha256)
        return base64.urlsafe_b64encode(signed).rstrip(b"=").decode()


@dataclass(frozen=True, slots=True)
class StoredContent:
    """A content that was found unharmed."""

    path: Path
    beginning: bytes


class Contents:
    """`origin` is asked before each address, so that it can open when it is first needed; without it they are paths."""

    def __init__(self, artifacts: Artifacts, origin: Callable[[], str] = str, links: SignedLinks | None = None) -> None:
        self.links = links or SignedLinks()
        self.sandboxes = Sandboxes(origin)
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


def _plain(name: str) -> str:
    """The name without what ends a path, is no character, or turns the direction of those after it."""
    last = name[-LONGEST_NAME:].replace("\\", "/").rpartition("/")[2]
    return "".join("_" if unicodedata.category(letter)[0] == "C" else letter for letter in last)
