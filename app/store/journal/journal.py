"""The storage of our TinyDB: each change is one durable line of an append-only journal, reads come from memory.

TinyDB's own storage rewrites the whole file for each insert and can be destroyed in the middle of that.

Without a `Writer` a change is durable when the call returns, or raises `StorageError` and did nothing. With one it is
in memory at once and durable after `await durable()`, which takes back what could not be written.
"""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path

from pydantic import JsonValue
from pydantic_core import from_json, to_json
from tinydb.storages import Storage

from app.domain.errors import StorageError
from app.domain.garbage import no_collection
from app.store.journal.compaction import UNKNOWN_FORM, rewritten
from app.store.journal.disk import Disk
from app.store.journal.frames import Batch, Changes, Document, Stretch, batch_of, frame, scan, table_of
from app.store.journal.logfile import LogFile
from app.store.journal.packed import BLOCK, Columns, Packed
from app.store.journal.past import Past
from app.store.journal.pause import Pause
from app.store.journal.tables import Tables, Undo, make, make_undoable
from app.store.journal.trouble import in_words
from app.store.journal.writer import Channel, Writer

SPARE_CHANGES = 1000
"""Changes in the file beyond one and a quarter for each document after which it is compacted."""
SPARE_BYTES = 256 * 1024
"""Bytes of what documents were before, beyond what they are now, after which it is compacted too."""


class JournalStorage(Storage):
    """Tables in memory, their changes in a file. What is on disk of a table is parsed when it is first asked for."""

    def __init__(
        self,
        path: Path | str,
        *,
        disk: Disk | None = None,
        writer: Writer | None = None,
        pause: Pause | None = None,
        head: int = -1,
        later: Collection[str] = (),
    ) -> None:
        """Raises `StorageError`.

        `pause` is called every few lines that are read, for a reader in a thread. `head` is for a first look: so many
        bytes are read, and nothing may be written. What is damaged of the tables `later` is known once they are read.
        """
        self.path = Path(path)
        self._disk = disk or Disk()
        self._pause = pause
        self._later = later
        self._forms: dict[str, Callable[[], Packed]] = {}
        self._awake = Tables(self._forms)
        self._asleep: dict[str, list[bytes | Stretch]] = {}
        """By table: the changes of it that are not parsed yet."""
        self._parsing = threading.RLock()
        """Whoever parses a table has it: all others who ask for a table that is asleep wait until it is awake."""
        self._warming: dict[str, asyncio.Lock] = {}
        self._damaged: list[str] = []
        self._past = Past()
        self.log = self._load(head)
        """The file, for an owner that only adds lines to it."""
        self._channel = Channel(self.log, writer) if writer is not None else None
        self._unsettled: deque[Undo] = deque()
        """How to take back each change that is not durable yet, oldest first."""
        self._settled = 0
        self._joined: tuple[list[bytes], Undo] | None = None
        """The lines that are to reach the disk together, while they are put, and how to take their changes back."""

    @property
    def damaged(self) -> tuple[str, ...]:
        """A sentence for each record that could not be read."""
        return tuple(self._damaged)

    def names(self) -> list[str]:
        """The names of the tables."""
        for name in list(self._asleep):
            self.table(name)
        return list(self._awake)

    def has(self, name: str) -> bool:
        """Whether there is such a table, be it empty."""
        self.table(name)
        return name in self._awake

    def holds_only(self, name: str) -> bool:
        """Whether nothing was ever written of any other table, and all there is could be read."""
        return not self._damaged and {*self._awake, *self._asleep} <= {name}

    def table(self, name: str) -> Mapping[int, Document]:
        """The live documents by id, to be read only; none where there is no such table."""
        if name in self._asleep:  # until it is awake
            self._wake(name, self._pause)
        return self._awake.get(name, {})

    def pack(self, name: str, columns: Callable[[], Columns], block: int = BLOCK) -> None:
        """Keep the table packed, with such columns, from its first use on; so many documents together."""
        if name not in self._forms:
            self._forms[name] = lambda: Packed(columns(), block)
            if (known := self._awake.pop(name, None)) is not None:
                self._awake[name].update(known)

    def packed(self, name: str) -> Packed:
        """The live documents of a table that is kept packed; an empty one where there is no such table yet."""
        table = self.table(name)
        return table if isinstance(table, Packed) else self._forms[name]()

    def payloads(self, name: str) -> list[bytes]:
        """The changes of the table as JSON, oldest first, as long as nobody asked for its documents."""
        return [asleep for asleep in self._asleep.get(name, ()) if isinstance(asleep, bytes)]

    async def warm(self, name: str) -> None:
        """Parse the table off the event loop, so that asking for it does not take the loop's time."""
        async with self._warming.setdefault(name, asyncio.Lock()):  # else each who waits takes a thread
            if name in self._asleep:
                await asyncio.to_thread(self._wake, name, Pause())

    def commit(self, changes: Changes) -> None:
        """Make the changes as one: all of them or none. Raises `StorageError`."""
        self._disk.admit()
        line = frame(changes)
        batch = batch_of(line[9:])
        for name, _ in batch:
            self.table(name)
        if self._channel is not None and self._joined is None:
            self._settle(self._channel)
        self._past.count(batch, len(line), self._awake)
        undo = make_undoable(batch, self._awake)
        if self._joined is not None:
            lines, before = self._joined
            lines.append(line)
            before += undo
            return
        self._store(line, undo)
        self._compact_when_due()

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """What is changed inside reaches the disk in one write, all of it or none; nothing is waited for there.

        Not one line: whoever reads a line over several tables has to parse them all. Raises `StorageError`.
        """
        if self._channel is not None:
            self._settle(self._channel)
        lines, undo = self._joined = [], []
        try:
            yield
        except BaseException:
            _take_back(undo)
            raise
        finally:
            self._joined = None
        if lines:
            self._store(b"".join(lines), undo)
            self._compact_when_due()

    def assume(self, changes: Changes) -> None:
        """Make the changes in what is read, and none in the file: for one that may not be written."""
        batch = batch_of(frame(changes)[9:])
        for name, _ in batch:
            self.table(name)
        make([batch], self._awake)

    def hand_over(self, writer: Writer) -> None:
        """Let the writer do the writing from here on."""
        self._channel = Channel(self.log, writer)

    async def durable(self) -> None:
        """Return when all changes are on disk. Raises `StorageError` and takes back those that cannot be."""
        if self._channel is None:
            return
        try:
            await self._channel.flush()
        except StorageError:
            self._take_back(self._channel)
            raise
        self._settle(self._channel)
        if self._asleep and self._past.outweighs(SPARE_BYTES):  # with the next change it is too late to wait for them
            await self._wake_all()
            if self._past.outweighs(SPARE_BYTES):
                self._compact_when_it_works()

    def compact(self) -> None:
        """Rewrite the file without what is no longer so: at once, or by the writer after what it has to write."""
        tables = {name: _frozen(self.table(name)) for name in self.names()}
        rewrite = partial(rewritten, self._disk, tables, bool(self._damaged))
        self._past.forget(tables)
        if self._channel is not None:
            self._channel.put(rewrite)
            return
        try:
            rewrite(self.log)
        except OSError as error:
            raise in_words(error, self.path) from error

    def has_past(self, name: str) -> bool:
        """Whether the file holds what documents of the table were before, or documents that are gone."""
        documents = len(self.table(name))  # which parses and counts what is in the file
        return self._past.changes[name] > documents

    async def forget_past(self) -> None:
        """Have the file rewritten soon without what documents were before, off the event loop."""
        await self._wake_all()
        self.compact()

    async def tidy(self) -> None:
        """Have the file rewritten where most of it is what documents were before; for an owner that ends."""
        if self._channel is None or not self._channel.taken:
            return  # whoever only looked at it leaves it as it is
        await self._wake_all()
        if self._past.outweighs():
            self.compact()

    def read(self) -> dict[str, dict[str, Document]] | None:
        """A copy of everything, in TinyDB's own form."""
        tables = {name: dict(self.table(name)) for name in self.names()}
        copied: dict[str, dict[str, Document]] = from_json(to_json(tables, inf_nan_mode="constants"))
        return copied or None

    def write(self, data: Mapping[str, Mapping[str, Mapping[str, JsonValue]]]) -> None:
        """Make the tables equal to `data`, as one change."""
        changes: list[tuple[str, dict[int, Document | None] | None]] = [(name, None) for name in self.names()]
        for name, documents in data.items():
            changes.append((name, {int(doc_id): dict(document) for doc_id, document in documents.items()}))
        if changes:
            self.commit(changes)

    def close(self) -> None:
        """Let go of the file."""
        self.log.close()

    def _load(self, head: int) -> LogFile:
        try:
            found = scan(self._disk.read(self.path, head), self.path.name, self._pause, self._later)
        except OSError as error:
            raise in_words(error, self.path) from error
        self._damaged = found.damaged
        last, same = "", b'["'
        for payload in found.payloads:
            if isinstance(payload, Stretch):
                self._asleep.setdefault(payload.table, []).append(payload)
                last = ""
            elif last and payload.startswith(same):  # as most are: a start goes through all
                self._asleep[last].append(payload)
            elif (name := table_of(payload)) is not None:
                self._asleep.setdefault(name, []).append(payload)
                last, same = name, b'["%b"' % name.encode()
            else:
                self._replay(payload)
                last = ""
        return LogFile(self.path, self._disk, found.end, found.unended)

    def _replay(self, payload: bytes) -> None:
        """Make the changes of a batch over several tables, behind what came before it."""
        for batch, length in self._parsed([payload], None):
            for name, _ in batch:
                self.table(name)
            self._past.count(batch, length, self._awake)
            make([batch], self._awake)

    async def _wake_all(self) -> None:
        for name in list(self._asleep):
            await self.warm(name)

    def _wake(self, name: str, pause: Pause | None) -> None:
        """Have in memory what is on disk of the table, behind what is there of it already."""
        with self._parsing:
            if (asleep := self._asleep.get(name)) is None:
                return  # another thread did it meanwhile
            tables, past = Tables(self._forms), Past()
            if name in self._awake:
                tables[name] = self._awake[name]
            with no_collection(_lines(asleep)):
                for batch, length in self._parsed(asleep, pause):
                    past.count(batch, length, tables)
                    make([batch], tables)
            self._awake.pop(name, None)  # it may have been dropped
            self._awake.update(tables)
            self._past.add(past)
            del self._asleep[name]  # last: who finds it here no more reads it without the lock

    def _parsed(self, asleep: list[bytes | Stretch], pause: Pause | None) -> Iterator[tuple[Batch, int]]:
        """Each change, and how many bytes it takes."""
        for payload in self._payloads(asleep, pause):
            if pause is not None:
                pause()
            try:
                yield batch_of(payload), len(payload)
            except UNKNOWN_FORM:
                self._damaged.append(f"A record of {self.path.name} is in a form that is not known here.")

    def _payloads(self, asleep: list[bytes | Stretch], pause: Pause | None) -> Iterator[bytes]:
        for one in asleep:
            if isinstance(one, Stretch):
                yield from one.payloads(self.path.name, self._damaged, pause)
            else:
                yield one

    def _has_many_changes(self) -> bool:
        return self._past.changes.total() + self._asleep_changes() > 1.25 * self._size() + SPARE_CHANGES

    def _size(self) -> int:
        """How many documents there are; those not parsed yet are counted by their changes."""
        return sum(map(len, list(self._awake.values()))) + self._asleep_changes()  # a thread may wake one meanwhile

    def _asleep_changes(self) -> int:
        return sum(map(_lines, list(self._asleep.values())))

    def _write(self, line: bytes) -> None:
        try:
            self.log.write(line)
            self.log.sync()
        except OSError as error:
            raise in_words(error, self.path) from error

    def _store(self, lines: bytes, undo: Undo) -> None:
        """Write what is made already."""
        if self._channel is not None:
            self._unsettled.append(undo)
            self._put(self._channel, lines)
            return
        try:
            self._write(lines)
        except StorageError:
            _take_back(undo)
            raise

    def _put(self, channel: Channel, line: bytes) -> None:
        try:
            channel.put(line)
        except StorageError:
            self._take_back(channel)
            raise

    def _settle(self, channel: Channel) -> None:
        """Forget how to take back what is durable by now."""
        if channel.failure is not None:
            self._take_back(channel)
        while self._settled < channel.durable:
            self._unsettled.popleft()
            self._settled += 1

    def _take_back(self, channel: Channel) -> None:
        """Undo all changes behind the last durable one, unless that was done already."""
        if channel.failure is None:
            return
        channel.recover()
        self._settle(channel)
        while self._unsettled:
            _take_back(self._unsettled.pop())

    def _compact_when_due(self) -> None:
        if self._has_many_changes() or (not self._asleep and self._past.outweighs(SPARE_BYTES)):
            self._compact_when_it_works()

    def _compact_when_it_works(self) -> None:
        """A journal that could not be compacted is whole, only longer than need be; it is tried again later."""
        with contextlib.suppress(StorageError):
            self.compact()


def _take_back(undo: Undo) -> None:
    for step in reversed(undo):
        step()


def _lines(asleep: list[bytes | Stretch]) -> int:
    if not isinstance(asleep[0], Stretch):  # each is a line; this is asked for with every change
        return len(asleep)
    return sum(one.lines if isinstance(one, Stretch) else 1 for one in asleep)


def _frozen(table: Mapping[int, Document]) -> Mapping[int, Document]:
    return table.frozen() if isinstance(table, Packed) else dict(table)
