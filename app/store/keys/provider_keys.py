"""The keys that were saved for providers of models: read once off the event loop, then kept in memory.

A key goes to the system's keyring where that was seen to work, else to a file that only its owner may read, else it
stays in memory. It is never in a table, in `os.environ`, or in any text.
"""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.domain.errors import NotFound, StorageError
from app.domain.providers import KeptKey, ProviderSettings
from app.domain.secrets.pasted import CleanedKey, cleaned_key, last_four
from app.store.journal.database import JournalDB
from app.store.journal.disk import Disk
from app.store.journal.documents import Documents, Removable
from app.store.keys.key_places import FILE, SECONDS, FilePlace, KeyPlace, Keyring, KeyringPlace, MemoryPlace, PlaceName
from app.store.keys.key_places import system_keyring as the_system_keyring

_WORDS: dict[str, str] = {
    "keyring": "in the system's keyring",
    "file": "in a file of the data folder that only you may read",
    "memory": "in memory, until the app ends",
}


class ProviderSettingsStore(Removable[ProviderSettings]):
    """What was set for the providers of models, keys aside."""

    def __init__(self, database: JournalDB) -> None:
        super().__init__(Documents(database, "providers", ProviderSettings, noun="provider"), lambda one: one.name)

    def all(self) -> list[ProviderSettings]:
        """Those of which something was set, by name."""
        return sorted(self._documents.values(), key=lambda one: one.name)

    def get(self, key: str) -> ProviderSettings:
        """What was set for it; nothing where nothing was, or where it cannot be read."""
        try:
            return super().get(key)
        except (NotFound, StorageError):
            return ProviderSettings(name=key)

    def field(self, name: str, field: str) -> str:
        """One of its settings by name, empty where there is none such."""
        value: object = vars(self.get(name)).get(field, "")
        return value if isinstance(value, str) else ""

    async def change(self, key: str, change: Callable[[ProviderSettings], ProviderSettings]) -> ProviderSettings:
        """Apply `change` to what is set now and store it; returns what was stored."""
        return await self.save(change(self.get(key)))


class KeptKeys(Removable[KeptKey]):
    """Where each key is kept: without this every start would have to ask the keyring for keys that nobody saved."""

    def __init__(self, database: JournalDB) -> None:
        super().__init__(Documents(database, "kept_keys", KeptKey, noun="key"), lambda kept: kept.name)

    def all(self) -> list[KeptKey]:
        return list(self._documents.values())


@dataclass(frozen=True, slots=True)
class KeyDescription:
    """All that a page may know of a saved key."""

    where: str
    """`in the system's keyring`."""
    ends: str
    """Its last four characters; empty for a short one."""
    trouble: str = ""
    """Why it could not be read or written, and what follows from that."""


@dataclass(frozen=True, slots=True)
class WhereKept:
    """Where a key that is saved now goes."""

    place: PlaceName
    words: str
    why: str = ""
    """Why no better place is used; empty where this is the best."""


class ProviderKeys:
    def __init__(
        self,
        kept: KeptKeys,
        folder: Path,
        *,
        keyring: Callable[[], Keyring] = the_system_keyring,
        seconds: float = SECONDS,
        disk: Disk | None = None,
    ) -> None:
        """`seconds`: how long the keyring may take for one thing."""
        self._kept = kept
        self._disk = disk or Disk()
        owner = hashlib.sha256(str(folder).encode()).hexdigest()[:8]
        self._keyring = KeyringPlace(owner, keyring, seconds)
        self._places: dict[str, KeyPlace] = {
            "keyring": self._keyring,
            "file": FilePlace(folder / FILE, self._disk),
            "memory": MemoryPlace(),
        }
        self._values: dict[str, str] = {}
        self._placed: dict[str, str] = {}
        self._troubles: dict[str, str] = {}
        self._reading: asyncio.Task[None] | None = None
        self._probing: asyncio.Task[str] | None = None
        self._changing = asyncio.Lock()
        """One change of a key after the other: a slow keyring must not delete what was saved meanwhile."""
        self.on_change: list[Callable[[], None]] = []
        """Told when there is another key."""

    def get(self, name: str) -> str:
        """The key of that name, such as `openai:key`; empty where none is saved or it was not read yet."""
        return self._values.get(name, "")

    def values(self) -> dict[str, str]:
        """Every key that may be in no text, by its name."""
        return dict(self._values)

    def describe(self, name: str) -> KeyDescription | None:
        """Where it is kept, and its end; `None` where none is saved."""
        place = self._placed.get(name)
        if place is None:
            return None
        return KeyDescription(_WORDS.get(place, place), last_four(self.get(name)), self._troubles.get(name, ""))

    async def ready(self) -> None:
        """Return when the saved keys are read; what could not be is described."""
        if self._reading is None:
            self._reading = asyncio.create_task(self._read(), name="read the providers' keys")
        await asyncio.shield(self._reading)

    async def look_again(self) -> None:
        """Try the keyring once more, and read what could not be read: somebody may have unlocked it meanwhile."""
        await self.ready()
        self._probing = None
        self._troubles = {name: why for name, why in self._troubles.items() if self._placed.get(name) != "keyring"}
        self._reading = None
        await self.ready()

    async def where(self) -> WhereKept:
        """Where the next key would be kept. The first time this tries the keyring, which takes at most seconds."""
        if not (why := await self._probed()):
            return WhereKept("keyring", _WORDS["keyring"])
        return WhereKept("file", _WORDS["file"], why)

    async def save(self, name: str, pasted: str) -> CleanedKey:
        """Keep the key in what was pasted in place of the one before, and use it from now on.

        Raises `WorkbenchError` in words that do not quote it where there is none. Where nothing can be written, it is
        kept in memory, as `describe` says then.
        """
        cleaned = cleaned_key(pasted)
        await self.keep(name, cleaned.value)
        return cleaned

    async def keep(self, name: str, secret: str, *, lasting: bool = False) -> None:
        """Keep the secret exactly as it is in place of the one before.

        With `lasting`, `StorageError` is raised where it would be gone when the app ends.
        """
        self._disk.admit()
        await self.ready()
        async with self._changing:
            before = self._placed.get(name)
            place = await self._written(name, secret)
            if lasting and place == "memory":
                raise StorageError(self._troubles.pop(name, "No key can be kept on this computer."))
            self._values[name], self._placed[name] = secret, place
            for tell in self.on_change:
                tell()
            await self._kept.save(KeptKey(name=name, place=place))
            if before not in (None, place):
                await self._places[before or place].delete(name)

    async def forget(self, name: str) -> None:
        """Delete it wherever it is kept. Raises `StorageError` where that did not work."""
        self._disk.admit()
        await self.ready()
        async with self._changing:
            place = self._placed.get(name)
            if place is None:
                return
            # A write that the keyring answered too late may have come through all the same.
            also = {"keyring"} if self._probing is not None and not await self._probed() else set()
            for one in {place, *also} & self._places.keys():
                await self._places[one].delete(name)
            await self._kept.delete(name)
            for known in (self._values, self._placed, self._troubles):
                known.pop(name, None)

    async def _written(self, name: str, key: str) -> PlaceName:
        """The best place that took it."""
        self._troubles.pop(name, None)
        order: tuple[PlaceName, ...] = ("file",) if await self._probed() else ("keyring", "file")
        for place in order:
            try:
                await self._places[place].write(name, key)
            except StorageError as problem:
                self._troubles[name] = str(problem)
            else:
                self._troubles.pop(name, None)
                return place
        return "memory"

    async def _read(self) -> None:
        kept = [one for one in self._kept.all() if one.place in self._places]
        if any(one.place == "keyring" for one in kept) and (why := await self._probed()):
            self._troubles |= {one.name: why for one in kept if one.place == "keyring"}
        await asyncio.gather(*(self._take(one) for one in kept))
        for tell in self.on_change:
            tell()

    async def _take(self, kept: KeptKey) -> None:
        if kept.place == "memory":
            return
        self._placed[kept.name] = kept.place
        if kept.name in self._troubles:
            return
        try:
            key = await self._places[kept.place].read(kept.name)
        except StorageError as problem:
            self._troubles[kept.name] = str(problem)
            return
        if key:
            self._values[kept.name] = key
        else:
            self._troubles[kept.name] = f"It is not {_WORDS[kept.place]} any more. Save it again."

    async def _probed(self) -> str:
        if self._probing is None:
            self._probing = asyncio.create_task(self._keyring.probe(), name="try the system's keyring")
        return await asyncio.shield(self._probing)


async def saved_keys(folder: Path) -> list[str]:
    """The keys that were saved in a data folder, which is only read; without those that cannot be read."""
    if not (folder / "app.tdb").is_file():
        return []
    path = await asyncio.to_thread(folder.absolute)
    keys = ProviderKeys(KeptKeys(JournalDB(path / "app.tdb")), path)
    await keys.ready()
    return list(keys.values().values())
