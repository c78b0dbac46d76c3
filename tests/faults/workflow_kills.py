"""W1: kill the app in nodes of each kind, start it again, let the runs go on: the same answers, nothing done twice.

Each kill meets several runs for each kind. Each of them stands in a node of its kind, at an entry of its trace that is
chosen at random among those that there are while such a node goes on (see `workflow_aims`).
"""

import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from app.domain.events import ChildStarted, Entry, MessageAdded, PauseRequested, PauseResolved
from app.domain.trace import finished, open_pauses
from app.domain.trace.nodes import NodeRuns, nodes
from tests.app_process import AppProcess
from tests.faults.run_kills import appending, authorization, entries_of, get
from tests.faults.workflow_aims import KINDS, Aim, Aims, kinds_going_on
from tests.faults.workflow_app import SLUG
from tests.figures import Figure
from tests.waiting import wait_until

KILLS = 200
AT_ONCE = 4
"""Runs of each kind that a kill meets."""
NESTING = ("agent", "nested workflow")
LINGERING = 0.3
"""Seconds in which what goes on does so, once all stand where they are to be killed."""
LONGEST = 60.0


@dataclass
class Toll:
    """What came of the kills."""

    kills: int = 0
    landed: Counter[str] = field(default_factory=Counter)
    """By kind: the runs that were left in such a node."""
    places: defaultdict[str, set[tuple[bool, int, bool]]] = field(default_factory=lambda: defaultdict(set))
    """By kind: where in its entries, and whether the run was told that they are on disk."""
    wrong: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    asked: int = 0
    """Calls that may have happened before, which were allowed a second time."""


@dataclass(frozen=True)
class Undisturbed:
    answer: str
    lines: int
    places: Counter[str]
    """By kind: the entries of its trace at which such a node goes on."""
    below: dict[str, int]
    """By kind that starts a run: the entries of that before its last."""


@dataclass(frozen=True)
class Aimed:
    name: str
    aim: Aim
    run_id: str


def run(kills: int = KILLS, at_once: int = AT_ONCE, kinds: Sequence[str] = KINDS) -> list[Figure]:
    toll, chance = Toll(), random.Random(7)
    with appending("tests.faults.workflow_app") as (app, appended):
        whole = undisturbed(app, appended)
        while (wanted := missing(toll, kinds, kills, at_once)) and toll.kills < 3 * kills + 3:
            toll.kills += 1
            runs = one_kill(app, aimed(wanted, f"k{toll.kills}", whole, chance), toll, chance.random() * LINGERING)
            lines = Counter(appended.read_text(encoding="utf-8").splitlines())
            for one in runs:
                check(app, one, lines, whole, toll)
    return told(toll, kinds, kills)


def missing(toll: Toll, kinds: Sequence[str], kills: int, at_once: int) -> list[str]:
    """The kinds that the next kill is to meet, as often as it is."""
    return [kind for kind in kinds for _ in range(min(at_once, kills - toll.landed[kind]))]


def told(toll: Toll, kinds: Sequence[str], kills: int) -> list[Figure]:
    for problem in (*toll.wrong, *toll.twice):
        print(f"  {problem}")
    each = ", ".join(f"{kind} {toll.landed[kind]} at {len(toll.places[kind])} places" for kind in kinds)
    print(f"  {each}; {toll.asked} calls were asked about")
    few = [kind for kind in kinds if toll.landed[kind] < kills]
    counted = f"of {toll.landed.total():,} runs in {toll.kills} kills"
    least = min(toll.landed[kind] for kind in kinds)
    return [
        Figure("W1 workflows killed: other answers", f"{len(toll.wrong)} {counted}", "0", not toll.wrong),
        Figure("W1 workflows killed: done twice unasked", f"{len(toll.twice)} {counted}", "0", not toll.twice),
        Figure("W1 workflows killed: in each kind of node", f"{least} of {len(kinds)} kinds", f">= {kills}", not few),
    ]


def undisturbed(app: AppProcess, appended: Path) -> Undisturbed:
    """A run that is let go on to its end."""
    run_id = begin(app, "k0")
    decide(app, {run_id})
    entries = entries_of(app, run_id)
    known, places = NodeRuns(), Counter[str]()
    for entry in entries[:-1]:
        known.take(entry)
        places.update(kinds_going_on(known))
    below = {}
    for event in (entry.event for entry in entries):
        if isinstance(event, ChildStarted):
            kind = "agent" if event.call_id == "draft" else "nested workflow"
            below[kind] = len(entries_of(app, event.child_run_id)) - 1
    return Undisturbed("".join(said(entries)), len(appended.read_text(encoding="utf-8").splitlines()), places, below)


def aimed(wanted: Sequence[str], name: str, whole: Undisturbed, chance: random.Random) -> dict[str, Aim]:
    made = {}
    for number, kind in enumerate(wanted):
        below = kind in NESTING and chance.random() < 0.5
        after = chance.randint(1, whole.below[kind] if below else whole.places[kind])
        aim = Aim(kind=kind, after=after, returns=chance.random() < 0.5, below=below)
        made[f"{name}x{number}"] = aim
    return made


def one_kill(app: AppProcess, wanted: dict[str, Aim], toll: Toll, linger: float) -> list[Aimed]:
    """Begin the runs, kill the app when each stands where it is aimed at, start it again, let them go on."""
    aims = Aims(app.data.with_name("aims.json"))
    aims.write(wanted)
    with ThreadPoolExecutor(8) as beside:
        started = [*beside.map(lambda name: begin(app, name), wanted)]
    runs = [Aimed(name, aim, run_id) for (name, aim), run_id in zip(wanted.items(), started, strict=True)]
    decide(app, {one.run_id for one in runs}, lambda: {one.run_id for one in runs if one.name in aims.stopped()})
    time.sleep(linger)
    app.kill()
    aims.write({})
    left = [one for one in runs if is_left(app, one, toll)]
    app.start()
    with ThreadPoolExecutor(4) as beside:
        problems = [*beside.map(lambda one: resumed(app, one), left)]
    toll.wrong += [problem for problem in problems if problem]
    decide(app, {one.run_id for one, problem in zip(left, problems, strict=True) if not problem})
    return runs


def is_left(app: AppProcess, one: Aimed, toll: Toll) -> bool:
    """Whether the run has no end; it is counted where it was left in a node of the kind aimed at."""
    entries = entries_of(app, one.run_id)
    if finished(entries) is not None:
        return False
    if one.aim.kind in kinds_going_on(nodes(entries)):
        toll.landed[one.aim.kind] += 1
        toll.places[one.aim.kind].add((one.aim.below, one.aim.after, one.aim.returns))
    return True


def begin(app: AppProcess, name: str) -> str:
    """Start a run through the API; its id."""
    reply = ask(app, f"workflows/{SLUG}/run", {"input": name, "background": True})
    return str(reply.raise_for_status().json()["data"]["run_id"])


def resumed(app: AppProcess, one: Aimed) -> str:
    """What went wrong, if anything."""
    wait_until(lambda: get(app, f"runs/{one.run_id}").is_success)  # it looks for runs that a kill kept from its lists
    reply = ask(app, f"runs/{one.run_id}/resume", {})
    return f"{one.name}: {reply.text} {one.aim}" if reply.is_error else ""


def ask(app: AppProcess, path: str, body: dict[str, str | bool]) -> httpx.Response:
    return httpx.post(f"{app.url}/api/v1/{path}", json=body, headers=authorization(app), timeout=LONGEST, verify=False)


def decide(app: AppProcess, run_ids: set[str], stopped: Callable[[], set[str]] = set) -> None:
    """Say yes to whatever is asked, in these runs and in those below them, until they have ended or are stopped."""
    until, going_on, asked = time.monotonic() + LONGEST, set(run_ids), set[str]()
    while (going_on := going_on - stopped()) and time.monotonic() < until:
        for run_id in sorted(going_on):
            family = [entries_of(app, one) for one in (run_id, *children(app, run_id))]
            for pause in (pause for entries in family for pause in open_pauses(entries)):
                if pause.pause_id not in asked:
                    asked.add(pause.pause_id)
                    who = (app, pause_run(family, pause), pause, asked)
                    threading.Thread(target=allow, args=who, daemon=True).start()  # where it is stopped, till the kill
            going_on -= {run_id} if finished(family[0]) is not None else set()
        time.sleep(0.1)


def pause_run(family: Sequence[Sequence[Entry]], pause: PauseRequested) -> str:
    return next(entry.run_id for entries in family for entry in entries if entry.event is pause)


def allow(app: AppProcess, run_id: str, pause: PauseRequested, asked: set[str]) -> None:
    decision = "approve" if pause.reason == "approval" else "answer"
    with suppress(httpx.HTTPError):
        if ask(app, f"runs/{run_id}/pauses/{pause.pause_id}", {"decision": decision}).is_error:
            asked.discard(pause.pause_id)


def children(app: AppProcess, run_id: str) -> list[str]:
    """The runs that it has started, as far as they are there."""
    started = (entry.event for entry in entries_of(app, run_id))
    ids = [event.child_run_id for event in started if isinstance(event, ChildStarted)]
    return [run_id for run_id in ids if (app.data / "runs" / f"{run_id}.tdb").exists()]


def said(entries: Sequence[Entry]) -> list[str]:
    return [e.event.message.text for e in entries if isinstance(e.event, MessageAdded) and e.event.origin == "model"]


def check(app: AppProcess, one: Aimed, lines: Counter[str], whole: Undisturbed, toll: Toll) -> None:
    """The answer of the undisturbed run, and each line once, or once more where that was allowed."""
    entries, name = entries_of(app, one.run_id), one.name
    wanted = whole.answer.replace("k0", name).replace("K0", name.upper())
    if said(entries) != [wanted]:
        toll.wrong.append(f"{one}: {said(entries)} {entries[-1].event}")
    again = Counter(line for run_id in (one.run_id, *children(app, one.run_id)) for line in allowed(app, run_id))
    toll.asked += again.total()
    counted = {line: times for line, times in lines.items() if line.endswith(f" of {name}")}
    toll.twice += [f"{one}: {line} {times} times" for line, times in counted.items() if times > 1 + again[line]]
    toll.wrong += [] if len(counted) == whole.lines else [f"{one}: {len(counted)} of {whole.lines} lines"]


def allowed(app: AppProcess, run_id: str) -> Iterator[str]:
    """The lines that may have been written before, and a person let be written again."""
    asked: dict[str, str] = {}
    for event in (entry.event for entry in entries_of(app, run_id)):
        match event:
            case PauseRequested(pause_id=pause_id, begun=True, arguments=arguments):
                asked[pause_id] = str(arguments["line"])
            case PauseResolved(pause_id=pause_id, decision="approve") if pause_id in asked:
                yield asked[pause_id]
            case _:
                pass
