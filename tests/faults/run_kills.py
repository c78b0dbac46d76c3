"""Kill the app in mid-run, start it again, let the run go on: no finished step is lost, no tool runs twice unasked."""

import asyncio
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from app.domain.events import Entry, ToolCalled, ToolReturned
from app.domain.trace import finished, open_pauses
from app.store.journal.writer import Writer
from app.store.runs.traces import Traces
from tests.app_process import AppProcess
from tests.faults.killed_app import SLUG
from tests.figures import Figure
from tests.waiting import PATIENCE, wait_until

KILLS = 200
_WHOLE = 0.35
"""About how many seconds a run takes from its first entry to its last."""


@dataclass
class Toll:
    """What came of the kills."""

    tried: int = 0
    inside: int = 0
    """Kills that left a run without an end."""
    lost: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)


@contextmanager
def appending(module: str) -> Iterator[tuple[AppProcess, Path]]:
    """The app of that module, and the file to which its tools append, until it is killed for good."""
    with tempfile.TemporaryDirectory() as temporary:
        appended = Path(temporary) / "appended.txt"
        appended.touch()
        told = {"APPENDED": str(appended), "AIMS": str(appended.with_name("aims.json"))}
        app = AppProcess(Path(temporary) / "data", module=module, environment=told)
        app.start()
        try:
            yield app, appended
        finally:
            app.kill()


def run(kills: int = KILLS) -> list[Figure]:
    toll, chance = Toll(), random.Random(5)
    with appending("tests.faults.killed_app") as (app, appended):
        while toll.inside < kills and toll.tried < 4 * kills:
            toll.tried += 1
            one_kill(app, appended, f"run{toll.tried}", chance, toll)
    for problem in (*toll.lost, *toll.twice, *toll.stuck):
        print(f"  {problem}")
    counted = f"of {toll.inside} kills in mid-run, {toll.tried - toll.inside} others"
    return [
        Figure("Runs killed: finished steps lost", f"{len(toll.lost)} {counted}", "0", not toll.lost),
        Figure("Runs killed: tools run twice unasked", f"{len(toll.twice)} {counted}", "0", not toll.twice),
        Figure("Runs killed: not resumed to their end", f"{len(toll.stuck)} {counted}", "0", not toll.stuck),
    ]


def one_kill(app: AppProcess, appended: Path, name: str, chance: random.Random, toll: Toll) -> None:
    """Begin a run, kill the app somewhere in it, start it again, and bring the run to its end."""
    there_were = runs_of(app)
    starter = threading.Thread(target=begin, args=(app, name))
    starter.start()
    [run_id] = wait_until(lambda: runs_of(app) - there_were, pause=0.005)
    time.sleep(chance.random() * _WHOLE)
    app.kill()
    starter.join(10)
    left = entries_of(app, run_id)
    check_kept(name, left, count(appended, name), toll)
    app.start()
    again = set[str]()
    if left and finished(left) is None:  # a run without an entry has not begun: nobody was told of it
        toll.inside += 1
        again = resume(app, run_id, chance, toll)
    check_done(name, count(appended, name), again, toll)


def runs_of(app: AppProcess) -> set[str]:
    return {file.stem for file in (app.data / "runs").glob("*.tdb")}


def entries_of(app: AppProcess, run_id: str) -> list[Entry]:
    """The run's trace as it is on disk now."""
    traces = Traces(app.data / "runs", app.data / "sessions", Writer())
    return asyncio.run(traces.read(run_id)).entries


def begin(app: AppProcess, name: str) -> None:
    """Start a run through the API; the kill ends the request."""
    try:
        post(app, f"agents/{SLUG}/run", {"input": name})
    except httpx.HTTPError:
        return


def resume(app: AppProcess, run_id: str, chance: random.Random, toll: Toll) -> set[str]:
    """Let the run go on, decide on what it asks, wait for its end; the calls that were allowed a second time."""
    again: set[str] = set()
    wait_until(lambda: get(app, f"runs/{run_id}").is_success)  # the app looks for runs that a kill kept from its lists
    if (reply := post(app, f"runs/{run_id}/resume", {})).is_error:
        toll.stuck.append(f"{run_id}: {reply.text}")
        return again
    deadline = time.monotonic() + 20
    while finished(entries := entries_of(app, run_id)) is None:
        if time.monotonic() > deadline:
            toll.stuck.append(f"{run_id}: {entries[-1].event}")
            break
        for pause in open_pauses(entries):
            decision = chance.choice(("approve", "deny"))
            reply = post(app, f"runs/{run_id}/pauses/{pause.call_id}", {"decision": decision})
            if reply.is_success and decision == "approve":
                again.add(pause.call_id)
        time.sleep(0.02)
    return again


def get(app: AppProcess, path: str) -> httpx.Response:
    """What the API answers."""
    return httpx.get(f"{app.url}/api/v1/{path}", headers=authorization(app), timeout=PATIENCE, verify=False)


def post(app: AppProcess, path: str, body: dict[str, str]) -> httpx.Response:
    """What the API answers."""
    return httpx.post(f"{app.url}/api/v1/{path}", json=body, headers=authorization(app), timeout=PATIENCE, verify=False)


def authorization(app: AppProcess) -> dict[str, str]:
    return {"Authorization": f"Bearer {app.token}"}


def check_kept(name: str, entries: Sequence[Entry], lines: Counter[str], toll: Toll) -> None:
    """What the file tells of the run has to be in its trace: each call that began, each result before the last step."""
    called = {entry.event.call_id for entry in entries if isinstance(entry.event, ToolCalled)}
    returned = {entry.event.call_id for entry in entries if isinstance(entry.event, ToolReturned)}
    steps = sorted(int(line.rpartition("-")[2]) for line in lines)
    for step in steps:
        if f"a{step}" not in called:
            toll.lost.append(f"{name}: the call of step {step}")
        if step < steps[-1] and f"a{step}" not in returned:
            toll.lost.append(f"{name}: the result of step {step}")


def check_done(name: str, lines: Counter[str], asked: set[str], toll: Toll) -> None:
    """Each line once, or twice where that was allowed."""
    for line, times in lines.items():
        allowed = 1 + (f"a{line.rpartition('-')[2]}" in asked)
        if times > allowed:
            toll.twice.append(f"{name}: {line} {times} times")


def count(appended: Path, name: str) -> Counter[str]:
    """How often each line of the run was written."""
    lines = appended.read_text(encoding="utf-8").splitlines()
    return Counter(line for line in lines if line.startswith(f"{name}-"))
