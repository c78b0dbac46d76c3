"""P4: what a durable append costs beside a bare write and fdatasync of the same bytes, and how it grows.

All sides take turns in one run on one disk, so that a slow moment of the machine hits all of them alike.
"""

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from app.domain.events import Entry
from app.domain.values import now
from app.store.folder.folder import DataFolder
from app.store.journal.database import JournalDB
from app.store.journal.disk import Disk
from tests.figures import Figure
from tests.traces import called, said, started, trace_of

ROUNDS = 600
MANY = 50_000
DOCUMENT = {
    "run_id": "r" * 16,
    "text": "What is 5 + 10, then multiply by 3? " * 5,
    "cost": 0.001,
    "status": "completed",
}


def run(rounds: int = ROUNDS, many: int = MANY) -> list[Figure]:
    """Measure on the disk that holds the checkout; the larger table is of that `many` documents."""
    with tempfile.TemporaryDirectory(dir=_real_disk()) as name:
        return [*asyncio.run(_appends(Path(name), rounds)), _growth(Path(name), rounds, many)]


def _real_disk() -> Path:
    """A folder that is not in memory; the checkout is on a real disk."""
    return Path(__file__).resolve().parents[2]


async def _appends(folder: Path, rounds: int) -> list[Figure]:
    """One event at a time, each awaited until it is durable."""
    data = DataFolder.open(folder / "data")
    trace = await data.traces.create("r1", "s1")
    trace.append(trace_of(started(session_id="s1"), run_id="r1")[0])
    await trace.flush()
    plain, message, raw_plain, raw_message = [], [], [], []
    bare, bare_session = Bare(folder / "bare"), Bare(folder / "bare-session")
    seq = 0
    for number in range(rounds):
        sizes = _sizes(folder)
        seq += 1
        plain.append(await _append(trace.append, trace.flush, Entry(run_id="r1", seq=seq, at=now(), event=called())))
        grown = _grown(folder, sizes)
        raw_plain.append(bare.append(grown["r1.tdb"]))
        sizes, seq = _sizes(folder), seq + 1
        entry = Entry(run_id="r1", seq=seq, at=now(), event=said(f"Thought {number} " * 20))
        message.append(await _append(trace.append, trace.flush, entry))
        grown = _grown(folder, sizes)
        raw_message.append(bare_session.append(grown["s1.tdb"]) + bare.append(grown["r1.tdb"]))
    await trace.close()
    await data.close()
    return [
        _ratio("P4 durable append of one event, against raw write + fdatasync", plain, raw_plain, 3),
        _ratio("P4 the same of a message, in two files on both sides", message, raw_message, 3),
    ]


async def _append(append: Callable[[Entry], None], flush: Callable[[], "asyncio.Future[None]"], entry: Entry) -> float:
    began = time.perf_counter()
    append(entry)
    await flush()
    return time.perf_counter() - began


def _sizes(folder: Path) -> dict[str, int]:
    files = (folder / "data" / "runs" / "r1.tdb", folder / "data" / "sessions" / "s1.tdb")
    return {file.name: file.stat().st_size for file in files if file.exists()}


def _grown(folder: Path, before: dict[str, int]) -> dict[str, int]:
    return {name: size - before.get(name, 0) for name, size in _sizes(folder).items()}


class Bare:
    """A file that is only written to and synced."""

    def __init__(self, path: Path) -> None:
        self._disk = Disk()
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def append(self, length: int) -> float:
        content = b"x" * (length - 1) + b"\n"
        began = time.perf_counter()
        os.write(self._descriptor, content)
        self._disk.sync(self._descriptor)
        return time.perf_counter() - began


def _growth(folder: Path, rounds: int, many: int) -> Figure:
    """Inserts into a table of many documents and into one of 100, in turns."""
    small, large = _filled(folder / "small.tdb", 100), _filled(folder / "large.tdb", many)
    in_small, in_large = [], []
    for _ in range(rounds):
        for table, times in ((small, in_small), (large, in_large)):
            began = time.perf_counter()
            table.insert(DOCUMENT)
            times.append(time.perf_counter() - began)
    return _ratio(f"P4 durable insert into {many:,} documents, against into 100", in_large, in_small, 1.5)


def _filled(path: Path, documents: int) -> JournalDB:
    database = JournalDB(path)
    database.insert_multiple([DOCUMENT] * documents)
    return database


def _ratio(name: str, ours: list[float], theirs: list[float], bar: float) -> Figure:
    """The ratio of the medians, with both in microseconds."""
    one, other = statistics.median(ours), statistics.median(theirs)
    value = f"{one / other:.2f} x ({one * 1e6:.0f} µs against {other * 1e6:.0f} µs)"
    return Figure(name, value, f"at most {bar} x", one / other <= bar)
