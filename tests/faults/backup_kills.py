"""Kill the app while it backs up, restores, or deletes old runs: what should stay stays, the next start ends or undoes.

Each cycle forks a child that does one of these to a fresh copy of the same data, and kills it at a random moment.
"""

import asyncio
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from app.domain.errors import WorkbenchError
from app.domain.sessions import Session
from app.domain.trace import run_row
from app.store.folder.archive import KEY_FILE
from app.store.folder.folder import DataFolder
from app.store.runs.retention import RemovedRuns, Retention
from app.store.runs.search import Search
from tests.figures import Figure
from tests.traces import BEGAN, asked, finished, said, started, trace_of

KILLS = 40
SESSIONS = 12
KEPT = 3
"""Sessions that retention keeps, of two runs each."""
RUNS = [f"r{session}-{turn}" for session in range(SESSIONS) for turn in range(2)]
STAY = set(RUNS[-2 * KEPT :])
BACKUP = "backup.zip"


@dataclass
class Toll:
    inside: int = 0
    """Kills that came before the work was done."""
    tried: int = 0
    wrong: list[str] = field(default_factory=list)


def run(kills: int = KILLS) -> list[Figure]:
    """Kill so many times in the middle of each kind of work."""
    if not hasattr(os, "fork"):
        return [Figure("R1 kill -9 in backup and retention", "Windows has no fork", f"at least {KILLS} each", None)]
    with tempfile.TemporaryDirectory() as name:
        template = Path(name) / "template"
        asyncio.run(prepare(template))
        return [_figure(kind, killed(kind, Path(name), template, kills)) for kind in WORK]


def _figure(kind: str, toll: Toll) -> Figure:
    for line in toll.wrong[:10]:
        print(line, file=sys.stderr)
    counted = f"{len(toll.wrong)} of {toll.inside} kills in the middle, {toll.tried - toll.inside} others"
    return Figure(f"{kind} killed: data lost, or left unfinished", counted, "0", not toll.wrong and toll.inside > 0)


def killed(kind: str, scratch: Path, template: Path, kills: int) -> Toll:
    chance, toll, whole = random.Random(kind), Toll(), 0.0
    while toll.inside < kills and toll.tried < 4 * kills + 1:
        folder = scratch / f"{kind}-{toll.tried}"
        shutil.copytree(template, folder)
        took, done = _one_child(kind, folder, chance.random() * whole if toll.tried else None)
        whole = whole * (0.5 if done else 1.2) or took  # the first one took its time where the machine did much else
        toll.inside += not done
        toll.tried += 1
        try:
            toll.wrong += [f"{kind} {toll.tried}: {what}" for what in asyncio.run(CHECKS[kind](folder))]
        except WorkbenchError as error:
            toll.wrong.append(f"{kind} {toll.tried}: {error}")
        shutil.rmtree(folder)
    return toll


def _one_child(kind: str, folder: Path, delay: float | None) -> tuple[float, bool]:
    """Let a child live for so many seconds, or to its end; how long it lived, and whether it was done."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.write(writing, b"begun")
        asyncio.run(WORK[kind](folder))
        os._exit(0)
    os.close(writing)
    os.read(reading, 5)
    began = time.monotonic()
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(reading)
    return time.monotonic() - began, os.waitstatus_to_exitcode(status) == 0


async def prepare(folder: Path) -> None:
    """Sessions of two runs each, a picture for each, and a backup of all that with one agent less."""
    data = DataFolder.open(folder)
    await data.agents.create(new_agent("Cook", PromptBehaviour(tools=(ToolChoice(name="shell"),)), taken_slugs=()))
    for number in range(SESSIONS):
        await _store_session(data, number)
        await data.artifacts.put(random.Random(number).randbytes(150_000))
    taken = await data.backups.take()
    data.backups.path(taken.name).rename(folder / "backups" / BACKUP)
    await data.agents.create(new_agent("Waiter", PromptBehaviour(), taken_slugs=()))
    await data.close()


async def _store_session(data: DataFolder, number: int) -> None:
    session, runs = f"s{number}", tuple(RUNS[2 * number : 2 * number + 2])
    for turn, run_id in enumerate(runs):
        entries = trace_of(
            started(session_id=session), asked("Hello"), said(f"Hi from {run_id} " * 50), finished(), run_id=run_id
        )
        trace = await data.traces.create(run_id, session)
        for entry in entries:
            trace.append(entry)
        await trace.close()
        at = BEGAN + timedelta(hours=number, minutes=turn)
        await data.rows.save(run_row(entries, alive=False).model_copy(update={"started_at": at}))
    made = Session(
        id=session, agent_id="a1", agent_slug="assistant", variant=1, created_at=BEGAN, updated_at=BEGAN, runs=runs
    )
    await data.sessions.create(made)


async def back_up(folder: Path) -> None:
    data = DataFolder.open(folder)
    await data.backups.take()
    await data.close()


async def restore(folder: Path) -> None:
    """Ask for it, and begin anew, which puts it in place."""
    data = DataFolder.open(folder)
    await data.backups.restore(BACKUP)
    await data.close()
    await DataFolder.open(folder).close()


async def restore_foreign(folder: Path) -> None:
    """As above, with nothing that shows that the backup is ours."""
    (folder / KEY_FILE).unlink(missing_ok=True)
    await restore(folder)


async def forget_old_runs(folder: Path) -> None:
    """As one start does it, and the next."""
    for _ in range(2):
        data = DataFolder.open(folder)
        search = Search(folder / "cache", data.rows, data.traces)
        await RemovedRuns(data.rows, data.sessions, data.traces, search, data.scores).remove()
        retention = Retention(data.rows, data.sessions, lambda: ())
        await retention.remove(retention.expired(days=0, runs=2 * KEPT))
        await search.close()
        await data.close()


async def check_backed_up(folder: Path) -> list[str]:
    data = DataFolder.open(folder)
    wrong = await _missing(data, RUNS) + _leftovers(folder)
    for backup in await data.backups.all():
        data.backups.check(data.backups.path(backup.name))
    await data.close()
    return wrong


async def check_restored(folder: Path) -> list[str]:
    """All is as it was, or as the backup has it, with what was there beside it."""
    data = DataFolder.open(folder)
    wrong = await _missing(data, RUNS) + _leftovers(folder)
    agents = sorted(agent.name for agent in data.agents.all())
    kept = _old_data(folder)
    await data.close()
    if agents == ["Cook"] and len(kept) == 1:
        old = DataFolder.open(kept[0])
        wrong += await _missing(old, RUNS)
        agents = sorted(agent.name for agent in old.agents.all())
        await old.close()
    elif kept:
        wrong.append(f"{len(kept)} folders of old data")
    return [*wrong, *([] if agents == ["Cook", "Waiter"] else [f"agents {agents}"])]


async def check_foreign(folder: Path) -> list[str]:
    """As above, and what was restored asks."""
    wrong = await check_restored(folder)
    data = DataFolder.open(folder)
    [cook] = [agent for agent in data.agents.all() if agent.name == "Cook"]
    asks, restored = cook.active_variant.behaviour.tools[0].policy == "ask", bool(_old_data(folder))
    await data.close()
    return wrong + ([] if asks == restored else [f"restored {restored}, asks {asks}"])


async def check_forgotten(folder: Path) -> list[str]:
    """No session lost a part, and two more starts bring it to its end."""
    data = DataFolder.open(folder)
    found = [data.sessions.get(f"s{number}") for number in range(SESSIONS)]
    shown = [run_id for session in found if session.deleted_at is None for run_id in session.runs]
    wrong = await _missing(data, shown)
    await data.close()
    await forget_old_runs(folder)
    data = DataFolder.open(folder)
    wrong += await _missing(data, sorted(STAY))
    left = set(await data.traces.ids()) | {turn.run_id for _, turn in data.rows.by_age()}
    sessions = {session.id for session in data.sessions.recent(limit=100)}
    await data.close()
    if left != STAY or sessions != {f"s{number}" for number in range(SESSIONS - KEPT, SESSIONS)}:
        wrong.append(f"left are {sorted(left)} in {sorted(sessions)}")
    return wrong + _leftovers(folder)


async def _missing(data: DataFolder, runs: list[str]) -> list[str]:
    wrong = list(data.damaged)
    for run_id in runs:
        trace = await data.traces.read(run_id)
        if len(trace.entries) != 4 or trace.damaged or data.rows.get(run_id) is None:
            wrong.append(f"run {run_id}: {trace.damaged}")
    return wrong


def _old_data(folder: Path) -> list[Path]:
    """What was there before restores."""
    return list(folder.glob("before-restore*"))


def _leftovers(folder: Path) -> list[str]:
    found = [*folder.glob("*.tmp"), *folder.glob("*/*.tmp"), *folder.glob("restore*")]
    return [f"left behind: {path.relative_to(folder)}" for path in found]


WORK: dict[str, Callable[[Path], Awaitable[None]]] = {
    "Backup": back_up,
    "Restore": restore,
    "Restore of a foreign backup": restore_foreign,
    "Retention": forget_old_runs,
}
CHECKS: dict[str, Callable[[Path], Awaitable[list[str]]]] = {
    "Backup": check_backed_up,
    "Restore": check_restored,
    "Restore of a foreign backup": check_foreign,
    "Retention": check_forgotten,
}
