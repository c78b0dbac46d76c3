"""The messages, tools and workflows of a session, each stored once by its digest, in the session's own database."""

import asyncio
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from app.domain.errors import NotFound
from app.store.journal.disk import Disk
from app.store.journal.frames import framed
from app.store.journal.journal import JournalStorage
from app.store.journal.pause import Pause
from app.store.journal.trouble import in_words
from app.store.journal.writer import Channel, Writer
from app.store.runs.packing import Packed, Unpacker

Values = dict[str, bytes]
"""JSON by digest."""
TABLES = ("messages", "tools", "workflows")
_AT_ONCE = 500
"""Sessions that are looked at before others have their turn."""
KEPT_SECONDS = 1.0
"""How long what was read of a session stays in memory: its runs are read one after the other, and share most."""
Unpacked = tuple[Unpacker, tuple[str, ...]]
"""Makes entries of a session's runs; with a sentence for each of its records that could not be read."""

_LINE = re.compile(rb'\["\w+",\{"(\d+)":\{"digest":"([0-9a-f]{64})","value":')
"""How a line with one value begins; it ends with `}}]`. What it looks like is known without parsing it."""

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class SessionValues:
    """A session's database while runs of it are written: it remembers what is there and adds what is new."""

    def __init__(self, journal: JournalStorage, writer: Writer) -> None:
        self.channel = Channel(journal.log, writer, keeps=True)
        self.users = 0
        """How many runs write to it."""
        self._known = {table: set(values_in(journal, table)) for table in TABLES}
        self._next_id = {table: _last_id(journal, table) + 1 for table in self._known}

    def add(self, packed: Packed) -> None:
        """Take what the entry refers to and is not stored yet; durable before lines of channels that come after."""
        self._add("messages", packed.messages)
        self._add("tools", packed.tools)
        self._add("workflows", packed.workflows)

    def _add(self, table: str, values: dict[str, bytes]) -> None:
        for digest, content in values.items():
            if digest not in self._known[table]:
                document = b'{"digest":"%b","value":%b}' % (digest.encode(), content)
                self.channel.put(framed(b'["%b",{"%d":%b}]' % (table.encode(), self._next_id[table], document)))
                self._next_id[table] += 1
                self._known[table].add(digest)


class OpenSessions:
    """The sessions whose runs are being written, each opened once however many those are."""

    def __init__(self, folder: Path, writer: Writer, disk: Disk) -> None:
        self._folder = folder
        self._writer = writer
        self._disk = disk
        self._open: dict[str, SessionValues] = {}
        self._opening = asyncio.Lock()
        self._read_last: tuple[tuple[str, int, int], Unpacked] | None = None
        self._forgetting: asyncio.TimerHandle | None = None

    async def open(self, session_id: str) -> SessionValues:
        """The session's values, to be given back with `close`. Raises `StorageError`."""
        async with self._opening:
            if session_id not in self._open:
                self._open[session_id] = SessionValues(await self._journal(session_id), self._writer)
            values = self._open[session_id]
            values.users += 1
            return values

    async def _journal(self, session_id: str) -> JournalStorage:
        """What is there is read in a thread."""
        path = self.path(session_id)
        opened = partial(JournalStorage, path, disk=self._disk)
        return await asyncio.to_thread(opened) if path.exists() else opened()

    def close(self, session_id: str) -> None:
        """Give the session back; its file is closed behind the last one, once all is written that was put."""
        values = self._open[session_id]
        values.users -= 1
        if values.users == 0:
            values.channel.let_go()
        for unused in [name for name, values in self._open.items() if values.users == 0 and values.channel.is_durable]:
            del self._open[unused]  # one with lines on their way is not read anew, or it would not know of them

    async def remove(self, is_over: Callable[[str], bool]) -> None:
        """Remove those databases for good; one to which a run is written stays. Raises `StorageError`."""
        try:
            for number, path in enumerate(await asyncio.to_thread(lambda: list(self._folder.glob("*.tdb")))):
                if number % _AT_ONCE == 0:
                    await asyncio.sleep(0)
                if is_over(path.stem):
                    async with self._opening:
                        if path.stem not in self._open:
                            await asyncio.to_thread(self._disk.remove, path)
        except OSError as error:
            raise in_words(error, self._folder) from error

    def read(self, session_id: str, pause: Pause) -> Unpacked:
        """What is stored; the same once more while its file is as it was and `keep_a_moment` keeps it."""
        path = self.path(session_id)
        stat = path.stat() if path.exists() else None
        stamp = (session_id, stat.st_mtime_ns, stat.st_size) if stat else (session_id, 0, 0)
        last = self._read_last
        if last is None or last[0] != stamp:
            journal = JournalStorage(path, disk=self._disk, pause=pause)
            last = stamp, (Unpacker({table: values_in(journal, table) for table in TABLES}), journal.damaged)
            self._read_last = last
        return last[1]

    def keep_a_moment(self) -> None:
        """Forget what was read last, but not at once."""
        if self._forgetting is not None:
            self._forgetting.cancel()
        self._forgetting = asyncio.get_running_loop().call_later(KEPT_SECONDS, self._forget)

    def _forget(self) -> None:
        self._read_last = None

    def path(self, session_id: str) -> Path:
        return database_path(self._folder, session_id, noun="session")


def values_in(journal: JournalStorage, table: str) -> Values:
    """The values of a session's table; parsing them is left to whoever needs one."""
    values: Values = {}
    for payload in journal.payloads(table):
        if (line := _LINE.match(payload)) is not None:
            values[line[2].decode()] = payload[line.end() : -3]
    return values


def _last_id(journal: JournalStorage, table: str) -> int:
    lines = (_LINE.match(payload) for payload in reversed(journal.payloads(table)))
    return next((int(line[1]) for line in lines if line is not None), 0)


def database_path(folder: Path, entity_id: str, *, noun: str) -> Path:
    """The database of that run or session; raises `NotFound` for what is no id."""
    if not _ID.fullmatch(entity_id):
        raise NotFound(f"{entity_id[:80]!r} is no {noun}: its id is made of letters, digits, - and _.")
    return folder / f"{entity_id}.tdb"
