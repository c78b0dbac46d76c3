"""R1 of the executable: kill -9 of the single file while it stores runs and agents; all it had answered is there.

`python -m tests.faults.packaged_kills 1000` kills that often.
"""

import asyncio
import itertools
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import httpx
import psutil

from app.api.following.replies import answer_of
from app.domain.errors import NotFound, WorkbenchError
from app.domain.trace import RunFilter, finished
from app.store.folder.folder import DataFolder
from tests.app_process import AppProcess
from tests.e2e.playground import SUM
from tests.figures import Figure, show
from tests.packaged.built import FORMS, NOT_BUILT, NOTHING_ELSE, is_built
from tests.waiting import PATIENCE

KILLS = 100
FRESH_AFTER = 25
"""Kills that one data folder goes through."""
ALIVE = 1.5
"""Seconds that the app is left to store things, at most."""
QUESTIONS = (SUM, 'Run this Python code: print("hello")', "Tell me a long story", "Which files are there?")


@dataclass
class Told:
    """What the app answered: it has to be there after every kill from then on."""

    runs: dict[str, str] = field(default_factory=dict)
    """The answer of each finished run, by its id."""
    agents: dict[str, int] = field(default_factory=dict)
    """The last description of each agent that was answered, by its short name."""
    unfinished: set[str] = field(default_factory=set)
    """Runs that kills have cut off."""


@dataclass
class Toll:
    kills: int = 0
    inside: int = 0
    """Kills that cut off at least one run."""
    promised: int = 0
    lost: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


def run(kills: int = KILLS) -> list[Figure]:
    if not is_built():
        return [Figure("R1 kill -9 of the single file", NOT_BUILT, f"at least {kills}", None)]
    toll, chance = Toll(), random.Random(11)
    while toll.kills < kills:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
            one_folder(Path(home), min(FRESH_AFTER, kills - toll.kills), chance, toll)
    for line in (*toll.lost[:20], *toll.unreadable[:20]):
        print(line, file=sys.stderr)
    counted = f"{toll.kills}, {toll.inside} of them in mid-run; {toll.promised} answers to keep"
    return [
        Figure("R1 kill -9 of the single file", counted, f"at least {kills}", toll.kills >= kills),
        Figure("R1 kills of the single file, promised data lost", str(len(toll.lost)), "0", not toll.lost),
        Figure("R1 kills of the single file, folders unreadable", str(len(toll.unreadable)), "0", not toll.unreadable),
    ]


def one_folder(home: Path, kills: int, chance: random.Random, toll: Toll) -> None:
    environment = {**NOTHING_ELSE, "HOME": str(home), "TMPDIR": str(home)}
    app = AppProcess(home / "data", executable=FORMS["file"], environment=environment)
    told = Told()
    for _ in range(kills):
        app.start()
        killed_while_storing(app, told, chance)
        toll.kills += 1
        cut_off_before = len(told.unfinished)
        where = f"kill {toll.kills}"
        try:
            toll.lost += [f"{where}: {what}" for what in asyncio.run(missed(app.data, told))]
        except WorkbenchError as error:
            toll.unreadable.append(f"{where}: {error}")
        toll.inside += len(told.unfinished) > cut_off_before
    toll.promised += len(told.runs) + len(told.agents)


def killed_while_storing(app: AppProcess, told: Told, chance: random.Random) -> None:
    """Several programs at once ask for runs and change agents until the app is gone."""
    work: list[Callable[[httpx.Client, Told], None]] = [ask_for_runs, ask_for_runs, change_agents]
    threads = [threading.Thread(target=until_gone, args=(app, told, part)) for part in work]
    for thread in threads:
        thread.start()
    time.sleep(chance.random() * ALIVE)
    [child] = psutil.Process(app.pid).children()
    for process in chance.sample([child, psutil.Process(app.pid)], 2):
        process.kill()
    app.ended()
    child.wait(10)
    for thread in threads:
        thread.join(30)


def until_gone(app: AppProcess, told: Told, part: Callable[[httpx.Client, Told], None]) -> None:
    headers = {"Authorization": f"Bearer {app.token}"}
    with httpx.Client(base_url=f"{app.url}/api/v1/", headers=headers, timeout=PATIENCE, trust_env=False) as client:
        try:
            part(client, told)
        except httpx.TransportError:
            return


def ask_for_runs(client: httpx.Client, told: Told) -> None:
    for question in itertools.cycle(QUESTIONS):
        answer = asked(client, "POST", "agents/assistant/run", {"input": question})
        told.runs[str(answer["run_id"])] = str(answer["output_text"])


def change_agents(client: httpx.Client, told: Told) -> None:
    while True:
        new = {
            "name": f"Mortal {uuid4().hex}",
            "provider": "demo",
            "model": "agent",
            "system_prompt": "x" * 2000,
            "tools": [],
        }
        slug = str(asked(client, "POST", "agents", new)["slug"])
        told.agents[slug] = 0
        for version in range(1, 4):
            asked(client, "PUT", f"agents/{slug}", {"description": str(version)})
            told.agents[slug] = version


def asked(client: httpx.Client, method: str, path: str, body: object) -> dict[str, object]:
    reply = client.request(method, path, json=body)
    reply.raise_for_status()
    return reply.json()["data"]


async def missed(folder: Path, told: Told) -> list[str]:
    """What of the promised is not there or damaged; adds the runs without an end. Raises `WorkbenchError`."""
    data = DataFolder.open(folder)
    try:
        lost = [f"run {run_id}" for run_id, answer in told.runs.items() if await stored_answer(data, run_id) != answer]
        lost += [f"agent {slug}" for slug, version in told.agents.items() if not has(data, slug, version)]
        torn: list[str] = []
        for row in data.rows.find(RunFilter(), limit=10_000).rows:
            trace = await data.traces.read(row.run_id)
            torn += [row.run_id] * bool(trace.damaged)
            told.unfinished |= set() if finished(trace.entries) else {row.run_id}
        return lost + [f"damage in run {run_id}" for run_id in torn] + list(data.damaged)
    finally:
        await data.close()


async def stored_answer(data: DataFolder, run_id: str) -> str | None:
    try:
        return answer_of((await data.traces.read(run_id)).entries)
    except NotFound:
        return None


def has(data: DataFolder, slug: str, version: int) -> bool:
    try:
        return int(data.agents.by_slug(slug).description or 0) >= version
    except NotFound:
        return False


if __name__ == "__main__":
    sys.exit(show(run(int(sys.argv[1]) if sys.argv[1:] else KILLS)))
