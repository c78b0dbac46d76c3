"""R1, the power: every state that a power cut may leave of a busy data folder must open with all that was safe."""

import asyncio
import random
import shutil
import sys
import tempfile
from pathlib import Path

from tinydb.table import Document

from app.domain.agents import PromptBehaviour, new_agent
from app.domain.errors import NotFound, WorkbenchError
from app.domain.streaming import Draft
from app.domain.trace import run_row
from app.store.folder.folder import DataFolder
from app.store.journal.database import JournalDB
from app.store.journal.writer import Writer
from tests.figures import Figure
from tests.store.power import Record, RecordingDisk, acknowledged, leave
from tests.traces import asked, call, called, finished, ran, returned, said, started, trace_of

STATES = 5_000


def run(states: int = STATES) -> list[Figure]:
    """Cut the power that many times, at random moments of a short busy life."""
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        lost, unreadable = cut(scratch, states, seed=1)
    for line in (*lost[:20], *unreadable[:20]):
        print(line, file=sys.stderr)
    return [
        Figure("R1 power cuts, states tried", str(states), f"at least {STATES}", states >= STATES),
        Figure("R1 power cuts, safe data lost", str(len(lost)), "0", not lost),
        Figure("R1 power cuts, folders unreadable", str(len(unreadable)), "0", not unreadable),
    ]


def cut(scratch: Path, states: int, *, seed: int) -> tuple[list[str], list[str]]:
    """A sentence for each state in which something safe was lost, and for each that could not be read."""
    chance = random.Random(seed)
    lost: list[str] = []
    unreadable: list[str] = []
    for live, missed in ((app_life, missed_by_app), (journal_life, missed_by_journal)):
        origin, target = scratch / live.__name__, scratch / "left"
        log = asyncio.run(live(origin, chance))
        for number in range(states // 2):
            length = chance.randrange(len(log) + 1)
            target.mkdir()
            leave(log, length, chance, origin, target)
            where = f"{live.__name__}, state {number}, cut after {length} of {len(log)} calls"
            try:
                missing = asyncio.run(missed(target, acknowledged(log, length)))
                lost += [f"{where}: {what}" for what in missing]
            except WorkbenchError as error:
                unreadable.append(f"{where}: {error}")
            shutil.rmtree(target)
    return lost, unreadable


async def journal_life(folder: Path, chance: random.Random) -> list[Record]:
    """Change documents of one journal, which is compacted now and then; returns the log of the disk."""
    disk, writer = RecordingDisk(), Writer()
    database = JournalDB(folder / "x.tdb", disk=disk, writer=writer)
    for number in range(60):
        changed = chance.sample(range(1, 9), 3)
        for doc_id in changed:
            database.upsert(Document({"n": number, "text": "x" * chance.randrange(1500)}, doc_id))
        if chance.random() < 0.25:
            database.journal.compact()
        if chance.random() < 0.6:
            await database.journal.durable()
            for document in database:
                disk.acknowledge(str(document.doc_id), str(document["n"]))
    await asyncio.to_thread(writer.close)
    database.close()
    return disk.log


async def missed_by_journal(folder: Path, safe: dict[str, str]) -> list[str]:
    """The documents that are missing or older than they were."""
    found = JournalDB(folder / "x.tdb").journal.table("_default")
    numbers = {str(doc_id): document["n"] for doc_id, document in found.items()}
    return [doc_id for doc_id, number in safe.items() if doc_id not in numbers or int(number) > int(numbers[doc_id])]


async def app_life(folder: Path, chance: random.Random) -> list[Record]:
    """Store this and that in a data folder, some of it at the same time; returns the log of the disk."""
    disk = RecordingDisk()
    data = DataFolder.open(folder, disk=disk)
    disk.acknowledge("folder", "open")
    for number in range(6):
        await asyncio.gather(
            _store_agent(data, disk, number),
            _store_artifact(data, disk, number, chance),
            _store_run(data, disk, number),
        )
    await data.close()
    return disk.log


async def _store_agent(data: DataFolder, disk: RecordingDisk, number: int) -> None:
    made = new_agent(f"Agent {number}", PromptBehaviour(system_prompt="x" * 700), taken_slugs=data.agents.slugs())
    await data.agents.create(made)
    disk.acknowledge(f"agent {made.id}", "")
    for words in ("one", "two"):
        await data.agents.change(made.id, lambda agent, words=words: agent.model_copy(update={"description": words}))
        disk.acknowledge(f"agent {made.id}", words)


async def _store_artifact(data: DataFolder, disk: RecordingDisk, number: int, chance: random.Random) -> None:
    digest = await data.artifacts.put(chance.randbytes(2000 + number))
    disk.acknowledge(f"artifact {digest}", "")


async def _store_run(data: DataFolder, disk: RecordingDisk, number: int) -> None:
    run_id, add = f"r{number}", call("c1", x=number)
    events = (
        started(session_id=f"s{number % 2}", history=(said("Hello " * 40).message,)),
        asked(f"Question {number}"),
        called(),
        said(f"Let me see {number}", add),
        returned(),
        *ran(add, "15 " * 100),
        said("15"),
        finished(),
    )
    entries = trace_of(*events, run_id=run_id)
    trace = await data.traces.create(run_id, f"s{number % 2}")
    for entry in entries:
        trace.append(entry)
        if entry.seq == 2:
            trace.checkpoint(Draft(text="Let me"))
        if entry.seq % 2:
            await trace.flush()
            disk.acknowledge(f"run {run_id}", str(entry.seq))
    await data.rows.save(run_row(entries, alive=False))
    disk.acknowledge(f"row {run_id}", "")
    await trace.close()
    disk.acknowledge(f"run {run_id}", str(len(entries) - 1))


async def missed_by_app(folder: Path, safe: dict[str, str]) -> list[str]:
    """What of that is not there. Raises `WorkbenchError` where the folder or something in it cannot be read."""
    data = DataFolder.open(folder)
    try:
        return [what for what, value in safe.items() if not await _is_there(data, what, value)]
    finally:
        await data.close()


async def _is_there(data: DataFolder, what: str, value: str) -> bool:
    kind, _, name = what.partition(" ")
    try:
        match kind:
            case "agent":
                return data.agents.get(name).description in {"": ("", "one", "two"), "one": ("one", "two")}.get(
                    value, ("two",)
                )
            case "artifact":
                return bool(await data.artifacts.get(name))
            case "row":
                return data.rows.get(name) is not None
            case "run":
                seqs = [entry.seq for entry in (await data.traces.read(name)).entries]
                return seqs[: int(value) + 1] == list(range(int(value) + 1))
            case _:
                return True
    except NotFound:
        return False
