"""Where a key can be kept: the system's keyring, a file of its owner's alone, or memory."""

import asyncio
import json
import os
import re
import secrets
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from app.domain.errors import StorageError
from app.store.journal.disk import Disk, write_new

PlaceName = Literal["keyring", "file", "memory"]
FILE = "provider-keys.json"
CHOSEN = "keyringrc.cfg"
"""In which the owner of the system says which keyring is used."""
SERVICE = "Agent Playground"
SECONDS = 3.0
"""How long a keyring may take for one thing: one that is locked without anybody to unlock it never answers."""
LONGEST_ENTRY = 1_000
"""Characters; Windows cuts an entry at 2,560 bytes, and a token of a sign-in may be longer."""
_PARTS = re.compile(r"Agent Playground: (\d{1,4}) parts ([0-9a-f]{8})")
NO_KEYRING = "This system has no keyring."
_NO_KEYRINGS = ("keyring.backends.fail", "keyring.backends.null", "keyrings.alt")
"""Those that keep nothing, or keep it readable for everybody."""

T = TypeVar("T")
_KEYS = TypeAdapter(dict[str, str])


class KeyPlace(Protocol):
    name: PlaceName

    async def read(self, name: str) -> str:
        """The key, empty where there is none. Raises `StorageError` where the place does not answer."""
        ...

    async def write(self, name: str, key: str) -> None:
        """Raises `StorageError`."""
        ...

    async def delete(self, name: str) -> None:
        """Nothing happens where there is none. Raises `StorageError`."""
        ...


class Keyring(Protocol):
    """What is used of a backend of the `keyring` library."""

    def get_password(self, service: str, username: str) -> str | None: ...
    def set_password(self, service: str, username: str, password: str) -> None: ...
    def delete_password(self, service: str, username: str) -> None: ...


def system_keyring() -> Keyring:
    """The keyring of this system, whatever it is; where there can be none, one that keeps nothing."""
    import keyring.core  # noqa: PLC0415  it looks through all installed packages, which no start needs

    return keyring.get_keyring() if _may_be_there() else keyring.core.load_keyring("keyring.backends.fail.Keyring")


def _may_be_there() -> bool:
    """False on Linux without what keyrings are asked over, where nobody has chosen or installed another one.

    To look for them all takes 10 MB, for libraries of those that are not there.
    """
    from keyring.util.platform_ import config_root  # noqa: PLC0415  see above

    if sys.platform != "linux" or os.environ.get("PYTHON_KEYRING_BACKEND") or (config_root() / CHOSEN).exists():
        return True
    bus = Path(os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}"), "bus")
    if os.environ.get("DBUS_SESSION_BUS_ADDRESS") or bus.exists():
        return True
    return any(not one.module.startswith("keyring.") for one in entry_points(group="keyring.backends"))


class KeyringPlace:
    """The system's keyring. It may hang, so each question is asked in a thread that nobody waits for at the end.

    `owner` tells the keys of one data folder from those of another.
    """

    name: PlaceName = "keyring"

    def __init__(self, owner: str, backend: Callable[[], Keyring], seconds: float = SECONDS) -> None:
        self._owner = owner
        self._backend = backend
        self._seconds = seconds
        self._found: Keyring | None = None

    async def probe(self) -> str:
        """Why it cannot be used, empty where it can: something is written, read and deleted again."""
        try:
            return await self._asked(self._tried)
        except StorageError as problem:
            return str(problem)

    async def read(self, name: str) -> str:
        return await self._asked(lambda: self._whole(self._user(name)))

    async def write(self, name: str, key: str) -> None:
        await self._asked(lambda: self._store(self._user(name), key))

    async def delete(self, name: str) -> None:
        def delete() -> None:
            user = self._user(name)
            self._remove((user, *_parts_of(user, self._opened().get_password(SERVICE, user) or "")))

        await self._asked(delete)

    def _whole(self, user: str) -> str:
        """The key, put together where it lies in parts; empty where one of them is gone."""
        found = self._opened().get_password(SERVICE, user) or ""
        if not (names := _parts_of(user, found)):
            return found
        parts = [self._opened().get_password(SERVICE, one) or "" for one in names]
        return "".join(parts) if all(parts) else ""

    def _store(self, user: str, key: str) -> None:
        """What was there stays whole until all of the new one is there."""
        keyring, head = self._opened(), key
        before = keyring.get_password(SERVICE, user) or ""
        if len(key) > LONGEST_ENTRY:
            pieces = [key[at : at + LONGEST_ENTRY] for at in range(0, len(key), LONGEST_ENTRY)]
            head = f"Agent Playground: {len(pieces)} parts {secrets.token_hex(4)}"
            for one, piece in zip(_parts_of(user, head), pieces, strict=True):
                keyring.set_password(SERVICE, one, piece)
        keyring.set_password(SERVICE, user, head)
        self._remove(_parts_of(user, before))

    def _remove(self, users: Iterable[str]) -> None:
        for user in users:
            if self._opened().get_password(SERVICE, user) is not None:
                self._opened().delete_password(SERVICE, user)

    def _user(self, name: str) -> str:
        return f"{name} ({self._owner})"

    def _tried(self) -> str:
        keyring, user, canary = self._opened(), self._user("probe"), secrets.token_urlsafe(12)
        if type(keyring).__module__.startswith(_NO_KEYRINGS):
            return NO_KEYRING
        keyring.set_password(SERVICE, user, canary)
        kept = keyring.get_password(SERVICE, user)
        keyring.delete_password(SERVICE, user)
        return "" if kept == canary else "The system's keyring did not give back what was written to it."

    def _opened(self) -> Keyring:
        if self._found is None:
            self._found = self._backend()
        return self._found

    async def _asked(self, question: Callable[[], T]) -> T:
        try:
            return await asyncio.wait_for(_in_daemon(question), self._seconds)
        except TimeoutError:
            raise StorageError(f"The system's keyring did not answer within {self._seconds:g} seconds.") from None
        except Exception as error:
            raise StorageError(f"The system's keyring refused: {_words(error)}.") from error


def _parts_of(user: str, head: str) -> list[str]:
    """Under which names the parts lie of what has this head; none where it is the key itself."""
    found = _PARTS.fullmatch(head)
    return [f"{user}, {found[2]} {number}" for number in range(int(found[1]))] if found else []


def _words(error: Exception) -> str:
    """Never more than its kind: a backend may quote what it was given."""
    return type(error).__name__


async def _in_daemon(question: Callable[[], T]) -> T:
    """Its answer. Unlike one of a pool, the thread does not keep the app from ending."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: BaseException | None) -> None:
        if answer.done():
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(value)  # type: ignore[arg-type]  # `None` only where T is

    def ask() -> None:
        value: T | None = None
        failed: BaseException | None = None
        try:
            value = question()
        except Exception as error:  # noqa: BLE001  handed to whoever asked
            failed = error
        with suppress(RuntimeError):  # the app ended meanwhile
            loop.call_soon_threadsafe(settle, value, failed)

    threading.Thread(target=ask, name="keyring", daemon=True).start()
    return await answer


class FilePlace:
    """A file in the data folder that only its owner may read."""

    name: PlaceName = "file"

    def __init__(self, path: Path, disk: Disk | None = None) -> None:
        self._path = path
        self._disk = disk or Disk()
        self._changing = asyncio.Lock()
        """Each change writes the whole file."""

    async def read(self, name: str) -> str:
        return (await asyncio.to_thread(self._all)).get(name, "")

    async def write(self, name: str, key: str) -> None:
        async with self._changing:
            await asyncio.to_thread(lambda: self._store(self._all() | {name: key}))

    async def delete(self, name: str) -> None:
        def delete() -> None:
            kept = self._all()
            if kept.pop(name, None) is not None:
                self._store(kept)

        async with self._changing:
            await asyncio.to_thread(delete)

    def _all(self) -> dict[str, str]:
        try:
            content = self._disk.read(self._path)
            if content:
                self._disk.make_private(self._path)  # a copy from elsewhere may be readable for others
            return _KEYS.validate_json(content) if content else {}
        except (OSError, ValidationError) as error:
            words = f"The keys in {self._path} cannot be read: {_words(error)}. Remove the file and save them again."
            raise StorageError(words) from None

    def _store(self, kept: dict[str, str]) -> None:
        try:
            if kept:
                write_new(self._disk, self._path, json.dumps(kept, indent=1).encode())
            else:
                self._disk.remove(self._path)
            self._disk.sync_folder(self._path.parent)
        except OSError as error:
            raise StorageError(f"The key cannot be written to {self._path}: {error.strerror}.") from error


class MemoryPlace:
    """Nowhere: it is gone when the app ends."""

    name: PlaceName = "memory"

    async def read(self, name: str) -> str:  # noqa: ARG002
        return ""

    async def write(self, name: str, key: str) -> None:
        """The keys in use are in memory as it is."""

    async def delete(self, name: str) -> None:
        """Likewise."""
