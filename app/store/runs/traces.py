"""The traces: one database per run, which shares with the other runs of its session what they all refer to.

A run's database has the tables `run` (whose it is), `entries` and `draft` (the live text: what was new at each
checkpoint). Lines of the session are durable before the lines of a run that refer to them.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from app.domain.errors import NotFound, StorageError
from app.domain.events import Entry
from app.domain.garbage import no_collection
from app.domain.trace import StoredTrace
from app.store.journal.database import JournalDB
from app.store.journal.disk import Disk
from app.store.journal.frames import Document
from app.store.journal.pause import Pause
from app.store.journal.trouble import in_words
from app.store.journal.writer import Channel, Writer
from app.store.runs.packing import DamagedEntry, Unpacker, check_format, told_of_format
from app.store.runs.run_trace import RunTrace, joined
from app.store.runs.session_values import OpenSessions, database_path

OPENING_ENTRIES = 200
HEAD_START = 0.1
"""Seconds in which the opening can be shown before the reader competes for the interpreter again."""

Opening = Callable[[list[Entry]], None]
"""Takes the first entries of a trace while the others are still read; called on the event loop."""

_USUAL_ENTRY = 250
_HEAD = 128_000
_LONG = 2 * _HEAD
"""Bytes of a run: of one entry, of what is read for its opening, and from where it has one."""


class Traces:
    def __init__(self, runs: Path, sessions: Path, writer: Writer, disk: Disk | None = None) -> None:
        """`runs` and `sessions`: the folders of their databases."""
        self._folder = runs
        self._disk = disk or Disk()
        self._writer = writer
        self._sessions = OpenSessions(sessions, writer, self._disk)

    async def create(self, run_id: str, session_id: str) -> RunTrace:
        """The trace of a new run; its file begins with the first entry. Raises `StorageError`."""
        self._disk.admit()
        return await self._open(run_id, session_id, JournalDB(self._path(run_id), disk=self._disk))

    async def reopen(self, run_id: str) -> RunTrace:
        """Go on behind the last entry of a stored run. Raises `NotFound`, `StorageError`."""
        self._disk.admit()
        database = await asyncio.to_thread(self._database, run_id)
        check_format(_owner_of(database).get("format"))
        session_id = _session_of(database)
        if not session_id:
            raise StorageError(
                f"The head of run {run_id} is damaged, so it cannot go on. Start it anew from its session."
            )
        return await self._open(run_id, session_id, database)

    async def read(self, run_id: str, *, opening: Opening | None = None) -> StoredTrace:
        """All of the trace that can be read; what a newer app wrote is read as far as it is known. Raises `NotFound`.

        Of a long trace `opening` gets the first entries, `OPENING_ENTRIES` at most, before the others are read.
        """
        path = self._path(run_id)
        size = path.stat().st_size if path.exists() else 0
        tell = None if opening is None or size < _LONG else _on_this_loop(opening)
        with no_collection(size // _USUAL_ENTRY):
            try:
                return await asyncio.to_thread(self._read, run_id, tell)
            finally:
                self._sessions.keep_a_moment()

    async def ids(self) -> list[str]:
        """All runs that have a trace, in no order. Raises `StorageError`."""
        try:
            return await asyncio.to_thread(lambda: [path.stem for path in self._folder.glob("*.tdb")])
        except OSError as error:
            raise in_words(error, self._folder) from error

    async def delete(self, run_id: str) -> None:
        """Remove the trace for good; nothing happens where there is none."""
        path = self._path(run_id)
        try:
            await asyncio.to_thread(self._disk.remove, path)
        except OSError as error:
            raise in_words(error, path) from error

    async def forget_sessions(self, is_over: Callable[[str], bool]) -> None:
        """Remove for good what the runs of those sessions shared. Raises `StorageError`."""
        await self._sessions.remove(is_over)

    async def _open(self, run_id: str, session_id: str, database: JournalDB) -> RunTrace:
        session = await self._sessions.open(session_id)
        return RunTrace(
            run_id,
            session_id,
            Channel(database.journal.log, self._writer, keeps=True, after=session.channel),
            self._sessions,
            session,
            begun=database.journal.has("run"),
            pieces=max(database.journal.table("draft"), default=0),
        )

    def _database(self, run_id: str, pause: Pause | None = None, head: int = -1) -> JournalDB:
        path, nowhere = self._path(run_id), NotFound(f"There is no run {run_id!r}.")
        if not path.exists():
            raise nowhere
        try:
            database = JournalDB(path, disk=self._disk, pause=pause, head=head)
        except StorageError as error:
            if path.exists():
                raise
            raise nowhere from error  # it was deleted meanwhile
        if not path.exists():  # the same, and a missing file reads as an empty one
            raise nowhere
        return database

    def _read(self, run_id: str, tell: Opening | None) -> StoredTrace:
        """The trace; `tell` is given its first entries before the others are read."""
        pause = Pause()
        database = self._database(run_id, pause, head=-1 if tell is None else _HEAD)
        newer = told_of_format(_owner_of(database).get("format"))
        session_id = _session_of(database)
        unpacker, damaged = self._sessions.read(session_id, pause) if session_id else (Unpacker({}), ())
        if tell is not None:
            tell(_unpacked(database, unpacker, pause, OPENING_ENTRIES).entries)
            time.sleep(HEAD_START)
            database = self._database(run_id, pause)
        trace = _unpacked(database, unpacker, pause)
        trace.damaged = (*newer, *database.journal.damaged, *damaged, *trace.damaged)
        return trace

    def _path(self, run_id: str) -> Path:
        return database_path(self._folder, run_id, noun="run")


def _on_this_loop(taker: Opening) -> Opening:
    """For another thread: what it gives is taken here."""
    loop = asyncio.get_running_loop()

    def hand_over(entries: list[Entry]) -> None:
        loop.call_soon_threadsafe(taker, entries)

    return hand_over


def _unpacked(database: JournalDB, unpacker: Unpacker, pause: Pause, limit: int | None = None) -> StoredTrace:
    trace = StoredTrace([], joined(_in_order(database, "draft")))
    sentences: list[str] = []
    for stored in _in_order(database, "entries")[:limit]:
        pause()
        _take(trace.entries, stored, unpacker, sentences)
    trace.damaged = (*sentences, *_gaps(trace.entries))
    return trace


def _take(entries: list[Entry], stored: Document, unpacker: Unpacker, sentences: list[str]) -> None:
    place = f"Entry {stored.get('seq')}"
    try:
        entry, missing = unpacker.entry(stored)
    except DamagedEntry as error:
        sentences.append(f"{place} cannot be read: {error}.")
        return
    entries.append(entry)
    sentences.extend(f"{place} is not whole: {sentence}." for sentence in missing)


def _in_order(database: JournalDB, table: str) -> list[Document]:
    return [document for _, document in sorted(database.journal.table(table).items())]


def _session_of(database: JournalDB) -> str:
    """The session that the run says it belongs to, at its head or in its first entry; empty when both are damaged."""
    owner = _owner_of(database)
    first = database.journal.table("entries").get(1, {}).get("event")
    session_id = owner.get("session_id") or (first.get("session_id") if isinstance(first, dict) else None)
    return session_id if isinstance(session_id, str) else ""


def _owner_of(database: JournalDB) -> Document:
    """What the head of the file says of the run."""
    return database.journal.table("run").get(1, {})


def _gaps(entries: list[Entry]) -> list[str]:
    """A sentence for each place where entries are missing."""
    expected, sentences = 0, list[str]()
    for entry in entries:
        if entry.seq > expected:
            missing = (
                f"Entry {expected} is" if entry.seq == expected + 1 else f"Entries {expected} to {entry.seq - 1} are"
            )
            sentences.append(f"{missing} missing.")
        expected = entry.seq + 1
    return sentences
