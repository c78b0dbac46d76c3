"""Spans sent on: a collector acts in every way, the app is killed while runs wait, and a receiver of others takes them.

That one is Arize Phoenix, in an environment of its own beside the temporary files.
"""

import asyncio
import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from app.workbench import Workbench
from tests.app_process import AppProcess, free_port
from tests.fakes.collector import FakeCollector
from tests.fakes.process import fake_process
from tests.figures import Figure
from tests.waiting import PATIENCE, until, wait_until

KILLS, RUNS = 10, 8
CLOSING = 3.0
"""Seconds that the end of the app may take."""
WAYS = {
    "ok": "", "json": "", "503": "", "429 after 0": "", "408": "", "502": "", "504": "", "hang up": "",
    "400": "400", "401": "401", "413": "413", "500": "500", "redirect": "another address",
    "garbage": "no collector", "page": "no collector", "partial": "refused 2 of the spans",
}  # fmt: skip
"""What the reason names for which a run is given up; empty where its spans are taken."""
PHOENIX = "20.26.1"
TRACE, CALLER = "ab" * 16, "cd" * 8


def run(*, kills: int = KILLS, real: bool = True) -> list[Figure]:
    figures = [asyncio.run(ways()), *killed(kills)]
    return [*figures, phoenix()] if real else figures


async def ways() -> Figure:
    """Each way of a collector in the whole app but its pages."""
    wrong = []
    with tempfile.TemporaryDirectory() as temporary:
        workbench = Workbench.open(Path(temporary) / "data", demo_pace=0)
        async with FakeCollector() as collector:
            await workbench.start()
            await workbench.collector.set_address(collector.url)
            sending = workbench.collector.sending
            sending._pause = 0.01
            for way, reason in WAYS.items():
                collector.ways, collector.spans = [way], []
                session = await workbench.chat.new_session(workbench.agents.all()[0].id)
                live = await workbench.chat.send(session.id, "hello")
                await live.ended()
                await until(lambda live=live: collector.times() or sending.refused())
                await until(lambda: not sending.waiting)
                found = " ".join(sending.refused())
                if (reason not in found) if reason else (collector.times() != {live.run_id: 1} or found):
                    wrong.append(f"{way}: {found or collector.times()}")
                await sending.forget()
        await workbench.close()
    for one in wrong:
        print(f"  {one}")
    return Figure(
        f"Ways of a collector that ended otherwise than its table says, of {len(WAYS)}", str(len(wrong)), "0", not wrong
    )


def killed(kills: int) -> list[Figure]:
    """Runs wait for a collector that is not well; the app is killed before that, or while they are being sent."""
    chance, lost, other, longest = random.Random(18), 0, 0, 0.0
    with tempfile.TemporaryDirectory() as temporary, fake_process("tests.fakes.collector") as collector:
        data = Path(temporary) / "data"
        asyncio.run(pointed(data, collector))
        app = AppProcess(data)
        for _ in range(kills):
            httpx.post(f"{collector}/ways", json=["503"] * 1000)
            app.start()
            runs = [chat(app, "hello")["run_id"] for _ in range(RUNS)]
            httpx.post(f"{collector}/ways", json=[])
            time.sleep(chance.uniform(0, 1.5))  # the moment of the kill is what varies
            wanted = {run_id: exported(app, run_id) for run_id in runs}
            app.kill()
            app.start()
            try:
                wait_until(lambda runs=runs: set(map(trace_of, runs)) <= set(taken(collector)), 60)
            except AssertionError:
                lost += len(set(map(trace_of, runs)) - set(taken(collector)))
            other += sum(taken(collector).get(trace_of(run_id)) != ids for run_id, ids in wanted.items())
            httpx.post(f"{collector}/ways", json=["slow"])
            chat(app, "hello")
            began = time.perf_counter()
            app.stop()
            longest = max(longest, time.perf_counter() - began)
            httpx.post(f"{collector}/ways", json=[])
    counted = f"of {kills * RUNS} in {kills} kills"
    return [
        Figure("Runs that waited to be sent: lost", f"{lost} {counted}", "0", not lost),
        Figure("Runs that waited to be sent: spans missing or with other ids", f"{other} {counted}", "0", not other),
        Figure("End of the app while a collector is slow", f"{longest:.1f} s", f"≤ {CLOSING:g} s", longest <= CLOSING),
    ]


def phoenix() -> Figure:
    """The tree of a run with a tool and a child, below a caller's span, as Phoenix tells it over its API."""
    name, bar = f"Spans of a run with tools and a child that Arize Phoenix {PHOENIX} has in one tree", "all"
    try:
        program = installed()
    except (OSError, subprocess.SubprocessError) as problem:
        return Figure(name, f"Phoenix cannot be installed here: {problem}", bar, None)
    with tempfile.TemporaryDirectory() as temporary, serving(program, Path(temporary)) as address:
        data = Path(temporary) / "data"
        asyncio.run(pointed(data, address))
        app = AppProcess(data)
        app.start()
        try:
            parent = lead(app)
            [child] = [one["id"] for one in get(app, "/runs") if one["id"] != parent]
            wanted = exported(app, parent) | exported(app, child)
            found = told(address, len(wanted))
        finally:
            app.stop()
    parents = {span["context"]["span_id"]: span.get("parent_id") for span in found}
    names = {span["context"]["span_id"]: span["name"] for span in found}
    below = {names[span]: names.get(parent or "", parent) for span, parent in parents.items()}
    in_tree = [
        {span["context"]["trace_id"] for span in found} == {TRACE},
        set(parents) == wanted,
        CALLER in parents.values(),
        "execute_tool spawn_task"
        in [names.get(parents[one] or "") for one in names if names[one].startswith("invoke")],
        below.get("execute_tool calculator", "").startswith("invoke_agent"),
    ]
    if not all(in_tree):
        print(f"  {in_tree}", *map(str, sorted(below.items())), sep="\n  ")
    return Figure(name, f"{len(found)} of {len(wanted)}", bar, all(in_tree))


def installed() -> Path:
    """Its program, in an environment that is made once for that version."""
    place = Path(tempfile.gettempdir()) / f"phoenix-{PHOENIX}"
    program = place / ("Scripts" if os.name == "nt" else "bin")
    if not (program / "phoenix").exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True, capture_output=True)
        command = [program / "python", "-m", "pip", "install", "--quiet", f"arize-phoenix=={PHOENIX}"]
        subprocess.run(command, check=True, capture_output=True, timeout=900)
    return program / "phoenix"


@contextmanager
def serving(program: Path, place: Path) -> Iterator[str]:
    """Phoenix with data of its own; its address."""
    port, grpc = free_port(), free_port()
    environment = os.environ | {
        "PHOENIX_WORKING_DIR": str(place / "phoenix"), "PHOENIX_PORT": str(port), "PHOENIX_GRPC_PORT": str(grpc),
        "PHOENIX_HOST": "127.0.0.1", "PHOENIX_TELEMETRY_ENABLED": "false",
    }  # fmt: skip
    with subprocess.Popen(
        [program, "serve"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as one:
        try:
            address = f"http://127.0.0.1:{port}"
            wait_until(lambda: answers(address), 120, 0.5)
            yield address
        finally:
            one.terminate()


def answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/v1/projects", timeout=5, verify=False).is_success
    except httpx.HTTPError:
        return False


def told(address: str, count: int) -> list[dict[str, Any]]:
    """The spans that Phoenix has, once there are that many."""

    def found() -> list[dict[str, Any]]:
        answer = httpx.get(
            f"{address}/v1/projects/default/spans", params={"limit": 1000}, timeout=PATIENCE, verify=False
        )
        return answer.json()["data"] if answer.is_success else []

    wait_until(lambda: len(found()) >= count, 60, 0.2)
    return found()


async def pointed(data: Path, address: str) -> None:
    """The data folder of an app whose owner sends spans there."""
    workbench = Workbench.open(data)
    await workbench.start()
    await workbench.collector.set_address(address)
    await workbench.close()


def lead(app: AppProcess) -> str:
    """The id of a run that hands a task to its agent, which calls a tool for it."""
    agent = {
        "name": "Leader", "provider": "demo", "model": "demo/agent", "system_prompt": "Lead.",
        "tools": ["spawn_task", "join_task", "calculator"],
    }  # fmt: skip
    httpx.post(f"{app.url}/api/v1/agents", json=agent, headers=key(app), timeout=60, verify=False).raise_for_status()
    headers = key(app) | {"traceparent": f"00-{TRACE}-{CALLER}-01"}
    asked = {"input": "Spawn a task that calculates 5 + 10"}
    answer = httpx.post(f"{app.url}/api/v1/agents/leader/run", json=asked, headers=headers, timeout=60, verify=False)
    return str(answer.json()["data"]["run_id"])


def chat(app: AppProcess, message: str) -> dict[str, Any]:
    answer = httpx.post(f"{app.url}/api/v1/chat", json={"message": message}, headers=key(app), timeout=60, verify=False)
    return dict(answer.json()["data"])


def get(app: AppProcess, path: str) -> Any:
    return httpx.get(f"{app.url}/api/v1{path}", headers=key(app), timeout=60, verify=False).json()["data"]


def exported(app: AppProcess, run_id: str) -> set[str]:
    """The ids of the run's spans as its export has them."""
    path = f"{app.url}/api/v1/runs/{run_id}/export"
    written = httpx.get(path, params={"format": "otel"}, headers=key(app), timeout=60, verify=False).json()
    return {span["spanId"] for span in written["resourceSpans"][0]["scopeSpans"][0]["spans"]}


def taken(collector: str) -> dict[str, set[str]]:
    """The ids of the spans that were taken, by trace."""
    found: dict[str, set[str]] = {}
    for trace, span, _ in httpx.get(f"{collector}/spans", timeout=PATIENCE, verify=False).json()["spans"]:
        found.setdefault(trace, set()).add(span)
    return found


def trace_of(run_id: str) -> str:
    return hashlib.sha256(run_id.encode()).hexdigest()[:32]


def key(app: AppProcess) -> dict[str, str]:
    return {"x-api-key": app.token}
