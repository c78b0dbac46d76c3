"""Kill the app while agents have tasks under way, again and again, and let the agents go on until all have ended.

No task may be lost or begun twice, each end is told once, and no family spends more than its ceiling.
"""

import random
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from app.domain.events import ChildFinished, ChildStarted, Entry, RunStarted
from app.domain.trace import finished, totals
from tests.app_process import AppProcess
from tests.faults.run_kills import entries_of, post, runs_of
from tests.faults.spawning_app import CEILINGS, CHILDREN
from tests.figures import Figure
from tests.waiting import wait_until

PARENTS = 10
KILLS = 20
_LONGEST = 0.5
"""Seconds that the app is left alone, at most; a family by itself takes about half a second."""

Traces = dict[str, list[Entry]]


@dataclass
class Toll:
    kills: int = 0
    inside: int = 0
    """Kills that left a run without an end."""
    lost: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    over: float = 0.0
    """US dollars."""


def run(kills: int = KILLS, parents: int = PARENTS) -> list[Figure]:
    toll, chance = Toll(), random.Random(6)
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        appended = place / "appended.txt"
        appended.touch()
        environment = {"APPENDED": str(appended)}
        app = AppProcess(place / "data", module="tests.faults.spawning_app", environment=environment)
        while toll.inside < kills:
            one_round(app, chance, toll, kills=kills, parents=parents)
    counted = f"of {toll.kills} kills, {toll.inside} of them in mid-run"
    return [
        Figure("Tasks of killed apps: lost", f"{len(toll.lost)} {counted}", "0", not toll.lost),
        Figure("Tasks of killed apps: begun or told of twice", f"{len(toll.twice)} {counted}", "0", not toll.twice),
        Figure("Tasks of killed apps: money over a ceiling", f"${toll.over:.2f} {counted}", "$0.00", toll.over < 1e-9),
    ]


def one_round(app: AppProcess, chance: random.Random, toll: Toll, *, kills: int, parents: int) -> None:
    """Begin the parents, kill the app and let them go on until all have ended; then look at what came of it."""
    there_were = runs_of(app)
    app.start()
    try:
        beginners = [threading.Thread(target=begin, args=(app, number)) for number in range(parents)]
        for beginner in beginners:
            beginner.start()
        wait_until(lambda: runs_of(app) - there_were, pause=0.005)
        while True:
            if toll.inside < kills:
                time.sleep(chance.random() * _LONGEST)
            else:
                wait_for_all(app, there_were)
            app.kill()
            toll.kills += 1
            traces = {run_id: entries_of(app, run_id) for run_id in runs_of(app) - there_were}
            left = unfinished(traces)
            toll.inside += left > 0
            if not left:
                break
            app.start()
            there_were |= resume_parents(app, traces)
    finally:
        app.kill()
    judge(traces, toll)


def begin(app: AppProcess, number: int) -> None:
    """Start a parent; a kill may end the request."""
    body = {"input": f"lead {number}", "background": True}
    with suppress(httpx.HTTPError):
        post(app, f"agents/{'rich' if number % 2 else 'poor'}/run", body)


def wait_for_all(app: AppProcess, there_were: set[str]) -> None:
    deadline = time.monotonic() + 60
    while unfinished({run_id: entries_of(app, run_id) for run_id in runs_of(app) - there_were}):
        if time.monotonic() > deadline:
            return
        time.sleep(0.1)


def unfinished(traces: Traces) -> int:
    """How many runs have begun and not ended."""
    return sum(began(entries) is not None and finished(entries) is None for entries in traces.values())


def began(entries: Sequence[Entry]) -> RunStarted | None:
    first = entries[0].event if entries else None
    return first if isinstance(first, RunStarted) else None


def resume_parents(app: AppProcess, traces: Traces) -> set[str]:
    """Only they are let go on: they let their children go on. Of a parent that has ended the children are jobs.

    The parents that never began as far as the app knows: the kill came before the answer to who asked for them.
    """
    unknown: set[str] = set()
    for run_id, entries in traces.items():
        started = began(entries)
        if started is None or finished(entries) is not None:
            continue
        parent = traces.get(started.parent.run_id, []) if started.parent else []
        if started.parent is None or finished(parent) is not None:
            reply = post(app, f"runs/{run_id}/resume", {})
            if reply.status_code == httpx.codes.NOT_FOUND and started.parent is None:
                unknown.add(run_id)
    return unknown


def judge(traces: Traces, toll: Toll) -> None:
    """Each parent's children against its trace; the money of each family against its ceiling."""
    families: defaultdict[str, list[str]] = defaultdict(list)
    for run_id, entries in traces.items():
        if (started := began(entries)) is not None:
            families[started.parent.run_id if started.parent else run_id].append(run_id)
    for parent_id, members in families.items():
        parent = traces[parent_id]
        started = began(parent)
        if started is None:
            continue
        children(parent_id, traces, members, toll, rich=started.agent.slug == "rich")
        spent = sum(totals(traces[run_id]).cost for run_id in members)
        toll.over = max(toll.over, spent - CEILINGS[started.agent.slug])


def children(parent_id: str, traces: Traces, members: Sequence[str], toll: Toll, *, rich: bool) -> None:
    events = [entry.event for entry in traces[parent_id]]
    noted = Counter(event.child_run_id for event in events if isinstance(event, ChildStarted))
    calls = Counter(event.call_id for event in events if isinstance(event, ChildStarted))
    told = Counter(event.child_run_id for event in events if isinstance(event, ChildFinished))
    begun = {run_id for run_id in members if run_id != parent_id}
    for counted in (noted, calls, told):
        toll.twice += [f"{parent_id}: {one}" for one, times in counted.items() if times > 1]
    toll.twice += [f"{parent_id}: {one} was not noted" for one in begun - noted.keys()]
    if rich:
        ends = {run_id: finished(traces[run_id]) for run_id in begun}
        done = {run_id for run_id, end in ends.items() if end is not None and end.status == "completed"}
        toll.lost += [f"{parent_id}: {one}" for one in noted.keys() - (done & told.keys())]
        toll.lost += [f"{parent_id}: {CHILDREN - len(noted)} never begun"] * (len(noted) < CHILDREN)
