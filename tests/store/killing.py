"""Kill the app while it stores, and look whether all that it had promised is there.

Each cycle forks a child that stores what it can in a data folder, says through a pipe what it is about to store and
what is safe, and is killed: at a random moment, or at a named point of a named call of the disk.
"""

import asyncio
import os
import random
import select
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from app.domain.agents import PromptBehaviour, new_agent
from app.domain.errors import NotFound, WorkbenchError
from app.domain.streaming import Draft
from app.domain.trace import RunFilter, run_row
from app.store.folder.folder import DataFolder
from app.store.journal.disk import Disk
from tests.traces import asked, call, called, finished, ran, returned, said, started, trace_of

POINTS = ("before", "within", "after")
CALLS = ("write", "sync", "replace", "sync_folder", "truncate", "open")


@dataclass
class Toll:
    """What came of so many kills."""

    kills: int = 0
    inside: int = 0
    """Kills that landed while something was being stored."""
    by_point: dict[str, int] = field(default_factory=dict)
    """Kills at each named point."""
    lost: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Point:
    """The moment in which the child kills itself: around the n-th call of that kind."""

    call: str
    when: str
    nth: int

    def __str__(self) -> str:
        return f"{self.when} {self.call}"


class DeadlyDisk(Disk):
    """The real disk, on which the process dies at a given point."""

    def __init__(self, point: Point | None) -> None:
        self._point = point
        self._calls = 0

    def open(self, path: Path, *, new: bool = False) -> int:
        with_file = self._at("open")
        descriptor = super().open(path, new=new)
        self._leave(with_file)
        return descriptor

    def write(self, descriptor: int, content: memoryview, offset: int) -> int:
        deadly = self._at("write")
        if deadly == "within":
            super().write(descriptor, content[: len(content) // 2], offset)
            _die()
        taken = super().write(descriptor, content, offset)
        self._leave(deadly)
        return taken

    def sync(self, descriptor: int) -> None:
        deadly = self._at("sync")
        super().sync(descriptor)
        self._leave(deadly)

    def truncate(self, descriptor: int, length: int) -> None:
        deadly = self._at("truncate")
        super().truncate(descriptor, length)
        self._leave(deadly)

    def replace(self, source: Path, target: Path) -> None:
        deadly = self._at("replace")
        super().replace(source, target)
        self._leave(deadly)

    def sync_folder(self, folder: Path) -> None:
        deadly = self._at("sync_folder")
        super().sync_folder(folder)
        self._leave(deadly)

    def _at(self, kind: str) -> str:
        """When in this call the process dies; empty when it does not."""
        if self._point is None or self._point.call != kind:
            return ""
        self._calls += 1
        if self._calls != self._point.nth:
            return ""
        if self._point.when == "before":
            _die()
        return self._point.when

    def _leave(self, deadly: str) -> None:
        if deadly:
            _die()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()


def kill(scratch: Path, cycles: int, *, seed: int, fresh_after: int = 25) -> Toll:
    """Kill that many children; a folder is used again and again before the next begins with a fresh one."""
    chance, toll = random.Random(seed), Toll()
    safe: dict[str, str] = {}
    folder = scratch / "0"
    for cycle in range(cycles):
        if cycle % fresh_after == 0:
            folder, safe = scratch / str(cycle), {}
        point = _random_point(chance) if chance.random() < 0.5 else None
        begun = _one_child(folder, cycle, point, chance, safe)
        toll.kills += 1
        toll.inside += bool(begun)
        if point is not None:
            toll.by_point[str(point)] = toll.by_point.get(str(point), 0) + 1
        where = f"cycle {cycle}, {point or 'at a random moment'}"
        try:
            toll.lost += [f"{where}: {what}" for what in asyncio.run(missed(folder, safe))]
        except WorkbenchError as error:
            toll.unreadable.append(f"{where}: {error}")
    return toll


def _random_point(chance: random.Random) -> Point:
    kind = chance.choices(CALLS, weights=[6, 6, 2, 2, 1, 2])[0]
    return Point(kind, chance.choice(POINTS), chance.randrange(1, 25 if kind in ("write", "sync") else 6))


def _one_child(folder: Path, cycle: int, point: Point | None, chance: random.Random, safe: dict[str, str]) -> set[str]:
    """Let a child live and die; adds what it promised to `safe`, returns what it had begun and not finished."""
    reading, writing = os.pipe()
    seed = chance.randrange(1 << 30)
    child = os.fork()
    if child == 0:
        os.close(reading)
        asyncio.run(live(folder, cycle, writing, seed, DeadlyDisk(point)))
        os._exit(0)
    os.close(writing)
    if point is None:
        select.select([reading], [], [], 5)
        time.sleep(chance.random() * 0.03)
        os.kill(child, signal.SIGKILL)
    begun: set[str] = set()
    for line in _lines(reading):
        word, what, value = line.split("\t")
        if word == "begin":
            begun.add(what)
        else:
            begun.discard(what)
            safe[what] = value
    os.close(reading)
    os.waitpid(child, 0)
    return begun


def _lines(reading: int) -> Iterator[str]:
    """All whole lines until the child is dead."""
    text = b""
    while piece := os.read(reading, 1 << 16):
        text += piece
    yield from text.decode().splitlines()


class Promises:
    """What the child says before and after it stores something."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def begin(self, what: str) -> None:
        os.write(self._pipe, f"begin\t{what}\t\n".encode())

    def keep(self, what: str, value: str = "") -> None:
        os.write(self._pipe, f"safe\t{what}\t{value}\n".encode())


async def live(folder: Path, cycle: int, pipe: int, seed: int, disk: Disk) -> None:
    """Store agents, rows, traces and artifacts, several at a time, until killed."""
    promises, chance = Promises(pipe), random.Random(seed)
    promises.begin("folder")
    data = DataFolder.open(folder, disk=disk)
    promises.keep("folder")
    for number in range(30):
        name = f"{cycle}-{number}"
        await asyncio.gather(
            _store_agent(data, promises, name),
            _store_run(data, promises, name),
            _store_artifact(data, promises, chance),
        )
    promises.begin("close")
    await data.close()
    promises.keep("close")


async def _store_agent(data: DataFolder, promises: Promises, name: str) -> None:
    made = new_agent(name, PromptBehaviour(system_prompt="x" * 3000), taken_slugs=data.agents.slugs())
    what = f"agent {made.id}"
    promises.begin(what)
    await data.agents.create(made)
    for words in ("1", "2", "3"):
        promises.keep(what, words)
        promises.begin(what)
        await data.agents.change(made.id, lambda agent, words=words: agent.model_copy(update={"description": words}))
    promises.keep(what, "4")


async def _store_artifact(data: DataFolder, promises: Promises, chance: random.Random) -> None:
    promises.begin("artifact")
    digest = await data.artifacts.put(chance.randbytes(chance.randrange(60_000)))
    promises.keep(f"artifact {digest}")
    promises.keep("artifact")


async def _store_run(data: DataFolder, promises: Promises, name: str) -> None:
    add, what = call("c1", x=1), f"run {name}"
    events = (
        *(started(session_id="s1"), asked(f"Question {name}"), called(), said(f"Let me see {name}", add), returned()),
        *(*ran(add, "15 " * 500), said("15"), finished()),
    )
    entries = trace_of(*events, run_id=name)
    trace = await data.traces.create(name, "s1")
    for entry in entries:
        promises.begin(what)
        trace.append(entry)
        if entry.seq == 2:
            trace.checkpoint(Draft(text="Let me"))
        await trace.flush()
        promises.keep(what, str(entry.seq))
    promises.begin(f"row {name}")
    await data.rows.save(run_row(entries, alive=False))
    promises.keep(f"row {name}")
    await trace.close()


async def missed(folder: Path, safe: dict[str, str]) -> list[str]:
    """What of the promised is not there. Raises `WorkbenchError` where something cannot be read."""
    data = DataFolder.open(folder)
    try:
        lost = [what for what, value in safe.items() if not await _is_there(data, what, value)]
        rows = data.rows.find(RunFilter(), limit=10_000)
        torn = [row.run_id for row in rows.rows if (await data.traces.read(row.run_id)).damaged]
        return lost + [f"damage in run {run_id}" for run_id in torn] + list(data.damaged)
    finally:
        await data.close()


async def _is_there(data: DataFolder, what: str, value: str) -> bool:
    kind, _, name = what.partition(" ")
    try:
        match kind:
            case "agent":
                return int(data.agents.get(name).description or 0) >= int(value) - 1  # The first was no change.
            case "artifact" if name:
                return bool(await data.artifacts.get(name)) or True
            case "row":
                return data.rows.get(name) is not None
            case "run":
                seqs = [entry.seq for entry in (await data.traces.read(name)).entries]
                return seqs[: int(value) + 1] == list(range(int(value) + 1))
            case _:
                return True
    except NotFound:
        return False
