"""W1: kill the app in nodes of each kind, start it again, let the run go on: the same answer, nothing done twice."""

import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from app.domain.events import Entry, MessageAdded
from app.domain.trace import finished, nodes, open_pauses
from tests.app_process import AppProcess
from tests.faults.run_kills import appending, entries_of, get, post, runs_of
from tests.faults.workflow_app import SLUG
from tests.figures import Figure
from tests.waiting import wait_until

KILLS = 200
WHOLE = 1.0
"""About how many seconds a run takes, a person who decides at once included."""


@dataclass
class Toll:
    """What came of the kills."""

    tried: int = 0
    inside: int = 0
    """Kills that left a run without an end."""
    kinds: Counter[str] = field(default_factory=Counter)
    """The kinds of the nodes that went on then."""
    wrong: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)


def run(kills: int = KILLS) -> list[Figure]:
    toll, chance = Toll(), random.Random(7)
    with appending("tests.faults.workflow_app") as (app, appended):
        while toll.inside < kills and toll.tried < 3 * kills:
            toll.tried += 1
            one_kill(app, appended, f"run{toll.tried}", chance, toll)
    for problem in (*toll.wrong, *toll.twice):
        print(f"  {problem}")
    went_on = ", ".join(f"{kind} {times}" for kind, times in toll.kinds.most_common())
    counted = f"of {toll.inside} kills in mid-run ({went_on})"
    return [
        Figure("W1 workflows killed: other answers", f"{len(toll.wrong)} {counted}", "0", not toll.wrong),
        Figure("W1 workflows killed: done twice unasked", f"{len(toll.twice)} {counted}", "0", not toll.twice),
    ]


def one_kill(app: AppProcess, appended: Path, name: str, chance: random.Random, toll: Toll) -> None:
    """Begin a run, kill the app somewhere in it, start it again, and bring the run to its end."""
    there_were = runs_of(app)
    starter = threading.Thread(target=begin, args=(app, name))
    starter.start()
    run_id = wait_until(lambda: of_workflow(app, runs_of(app) - there_were), pause=0.005)
    decide(app, run_id, Counter(), until=time.monotonic() + chance.random() * WHOLE)
    app.kill()
    starter.join(10)
    left, again = entries_of(app, run_id), Counter[str]()
    app.start()
    if not left:  # it has not begun: nobody was told of it
        return
    if finished(left) is None:
        toll.inside += 1
        going_on = (one for one in nodes(left).by_call.values() if one.state == "running")
        toll.kinds.update(str(one.kind) for one in going_on)
        wait_until(lambda: get(app, f"runs/{run_id}").is_success)  # it looks for runs that a kill kept from its lists
        if (reply := post(app, f"runs/{run_id}/resume", {})).is_error:
            toll.wrong.append(f"{name}: {reply.text}")
            return
        decide(app, run_id, again, until=time.monotonic() + 20)
    check(name, entries_of(app, run_id), appended, again, toll)


def begin(app: AppProcess, name: str) -> None:
    """Start a run through the API; the kill ends the request."""
    try:
        post(app, f"workflows/{SLUG}/run", {"input": name, "background": True})
    except httpx.HTTPError:
        return


def of_workflow(app: AppProcess, run_ids: set[str]) -> str:
    """The one of these that has nodes, once it is there."""
    traces = {run_id: entries_of(app, run_id) for run_id in run_ids}
    return next((run_id for run_id, entries in traces.items() if entries and entries[0].event.parent is None), "")


def decide(app: AppProcess, run_id: str, again: Counter[str], *, until: float) -> None:
    """Say yes to whatever is asked, in the run and in those below it, until it has ended."""
    while time.monotonic() < until:
        try:
            going_on = [decide_all(app, one, again) for one in family(app, run_id)]
            if not any(going_on):
                return
        except httpx.HTTPError:
            return
        time.sleep(0.02)


def decide_all(app: AppProcess, run_id: str, again: Counter[str]) -> bool:
    """Whether the run goes on."""
    entries = entries_of(app, run_id)
    for pause in open_pauses(entries):
        decision = "approve" if pause.reason == "approval" else "answer"
        reply = post(app, f"runs/{run_id}/pauses/{pause.pause_id}", {"decision": decision})
        if reply.is_success and pause.begun:
            again[str(pause.arguments["line"])] += 1
    return finished(entries) is None


def family(app: AppProcess, run_id: str) -> list[str]:
    """The run and those that it has started, as far as they are there."""
    events = (entry.event for entry in entries_of(app, run_id))
    started = {event.child_run_id for event in events if event.type == "child_started"}
    return [run_id, *(started & runs_of(app))]


def check(name: str, entries: Sequence[Entry], appended: Path, again: Counter[str], toll: Toll) -> None:
    """The answer of an undisturbed run, and each line once, or once more where that was allowed."""
    said = [e.event.message.text for e in entries if isinstance(e.event, MessageAdded) and e.event.origin == "model"]
    parts = [f"{number} {item}-{name} appended item {item} of {name}" for number, item in enumerate("abc")]
    each = ", ".join(f'"{part}"' for part in parts)
    wanted = f'appended first of {name} DRAFT {name.upper()} {{"each": [{each}], "again": 3}}'
    if said != [wanted]:
        toll.wrong.append(f"{name}: {said} {entries[-1].event}")
    counted = Counter(
        line for line in appended.read_text(encoding="utf-8").splitlines() if line.endswith(f" of {name}")
    )
    toll.twice += [f"{name}: {line} {times} times" for line, times in counted.items() if times > 1 + again[line]]
    toll.wrong += [] if len(counted) == 7 else [f"{name}: {len(counted)} of 7 lines"]
