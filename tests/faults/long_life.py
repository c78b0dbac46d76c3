"""A day's work pressed together: runs, pages, a long run, edits of a tool, restarts of a server, changes of an agent.

What the app holds at the end is compared with what it held after the first tenth of it. `SHORT=1` does a tenth of all.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path

import httpx
import psutil
from playwright.sync_api import Page, sync_playwright

from app.store.folder.folder import DataFolder
from app.store.journal.journal import SPARE_BYTES
from app.workbench import Workbench
from tests.app_process import AppProcess
from tests.bench.memory import MEGABYTE, PAGES, resident, visit
from tests.bench.runs_pages import Visit, seconds_to_row
from tests.browser import chromium
from tests.e2e.conftest import FLAGS
from tests.figures import Figure
from tests.seeds import seed_long_run
from tests.tools.mcp.hubs import HOSTILE, hostile
from tests.waiting import wait_until

TENTHS = 10
GROWTH = 1.10
AT_ONCE = 10
SETTLING = 20.0
"""Seconds after which what the last visit held is given back."""
EVENTS = 5_000
"""Of a run that is looked at: so many are read at once, without a collection of garbage."""
WARM = 3
"""Looks at it after which its memory is used again."""
LONG_RUN = Visit("/runs/long-run", "[data-testid=run-step]", ".trace-count:has-text('cards')")
POOL = min(32, (os.cpu_count() or 1) + 4)
"""Threads that Python keeps once they were needed; a short first tenth needs few. See asyncio's `to_thread`."""
COMPACT = 1.25
"""How much larger a file may be than the same documents written once."""


@dataclass(frozen=True)
class Day:
    runs: int = 2_000
    visits: int = 500
    looks: int = 100
    """At a long run."""
    edits: int = 200
    restarts: int = 100
    changes: int = 10_000
    """Of one agent, and of one session."""

    def part(self, parts: int) -> "Day":
        return Day(**{field.name: max(getattr(self, field.name) // parts, 1) for field in fields(self)})


@dataclass(frozen=True)
class Held:
    """What an app holds."""

    memory: float
    """Megabytes."""
    files: int
    threads: int
    processes: int
    temporary: int
    """Files and folders among the temporary ones."""


def run(
    day: Day | None = None, *, tenths: int = TENTHS, settling: float = SETTLING, pages: Sequence[str] = PAGES
) -> list[Figure]:
    whole = day or Day().part(10 if os.environ.get("SHORT") else 1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "data"
        session = asyncio.run(prepared(folder))
        held = lived(folder, Path(temporary) / "tmp", whole.part(tenths), tenths=tenths, settling=settling, pages=pages)
        once, after = asyncio.run(changed_often(folder, session, whole.changes))
    return [*figures(whole, held), compacted(whole.changes, once, after)]


async def prepared(folder: Path) -> str:
    """A data folder with a long run, whose owner has agreed to an MCP server and begun a session; its id."""
    workbench = Workbench.open(folder)
    await workbench.start()
    await workbench.mcp.add(hostile())
    await workbench.mcp.consent("bad")
    session = await workbench.chat.new_session(workbench.agents.all()[0].id)
    await workbench.close()
    await seed_long_run(folder, EVENTS)
    return session.id


def lived(
    folder: Path, temporary: Path, part: Day, *, tenths: int, settling: float, pages: Sequence[str]
) -> list[Held]:
    """What the app held after each of so many parts of a day."""
    temporary.mkdir()
    app = AppProcess(folder, environment={"TMPDIR": str(temporary)}, options=("--trust-tools",))
    app.start()
    held: list[Held] = []
    try:
        for number in range(tenths):
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
                page = browser.new_page(base_url=app.url, viewport={"width": 1280, "height": 720})
                page.goto(app.address)
                work(app, page, part, number, pages)
                browser.close()
            time.sleep(settling)
            held.append(holds(app, temporary))
            print(f"  {number + 1}/{tenths}: {held[-1]}", flush=True)  # it takes long
    finally:
        app.stop()
    return held


def work(app: AppProcess, page: Page, part: Day, number: int, pages: Sequence[str]) -> None:
    """The first part sees each page once at least, the long run more often: what that needs is held for good."""
    headers = {"Authorization": f"Bearer {app.token}"}
    with httpx.Client(base_url=f"{app.url}/api/v1", headers=headers, timeout=120) as client:
        newest = ask(client, part.runs)
        addresses = (*pages, f"/runs/{newest['run_id']}", f"/playground/{newest['session_id']}")
        visits = part.visits if number else max(part.visits, len(addresses))
        for place in range(visits):
            visit(page, addresses[(number * visits + place) % len(addresses)])
        for _ in range(part.looks if number else max(part.looks, WARM)):
            seconds_to_row(page, LONG_RUN)
            visit(page, pages[0])
        for edit in range(part.edits):
            edit_tool(client, app.data / "tools" / "daily.py", f"daily_{number}_{edit}")
        for _ in range(part.restarts):
            restart_server(app, page)


def ask(client: httpx.Client, runs: int) -> dict[str, str]:
    """Have that many runs end; the last one."""

    def one(number: int) -> dict[str, str]:
        asked = {"input": f"What is {number} + 10?"}
        answer: dict[str, str] = client.post("/agents/assistant/run", json=asked).raise_for_status().json()["data"]
        assert answer["status"] == "completed", answer
        return answer

    with ThreadPoolExecutor(AT_ONCE) as beside:
        return list(beside.map(one, range(runs)))[-1]


def edit_tool(client: httpx.Client, file: Path, name: str) -> None:
    """Save a tool file with a tool of that name, and call it."""
    file.write_text(f'def {name}() -> str:\n    """Say your name."""\n    return "{name}"\n', encoding="utf-8")
    wait_until(lambda: name in client.post(f"/tools/{name}/call", json={"arguments": {}}).text, seconds=60)


def restart_server(app: AppProcess, page: Page) -> None:
    """Connect the MCP server again, until another process serves."""
    before = servers(app)
    if not page.url.endswith("/tools/server/bad"):
        page.goto("/tools/server/bad")
    page.get_by_test_id("reconnect-server").click()
    wait_until(lambda: servers(app) and not servers(app) & before, seconds=60)
    page.locator(".tool-heading-words [data-testid=server-status][data-status=ready]").wait_for()


def servers(app: AppProcess) -> set[int]:
    """The processes of the MCP server that live."""
    found = set()
    for child in psutil.Process(app.pid).children(recursive=True):
        try:
            if str(HOSTILE) in child.cmdline():
                found.add(child.pid)
        except psutil.NoSuchProcess:  # while it was looked at
            continue
    return found


def holds(app: AppProcess, temporary: Path) -> Held:
    process = psutil.Process(app.pid)
    children, left = len(process.children(recursive=True)), sum(1 for _ in temporary.rglob("*"))
    return Held(resident(app), process.num_fds(), process.num_threads(), children, left)


async def changed_often(folder: Path, session: str, changes: int) -> tuple[int, int]:
    """Bytes of the database before, and after that many changes of one agent and of one session, each time closed."""
    await (await asyncio.to_thread(DataFolder.open, folder)).close()
    data = await asyncio.to_thread(DataFolder.open, folder)
    once = (folder / "app.tdb").stat().st_size
    agent = data.agents.all()[0].id
    for number in range(changes):
        described, named = {"description": f"Edited {number} times."}, {"title": f"Renamed {number} times"}
        await data.agents.change(agent, lambda one, update=described: one.model_copy(update=update))
        await data.sessions.change(session, lambda one, update=named: one.model_copy(update=update))
    await data.close()
    return once, (folder / "app.tdb").stat().st_size


def figures(day: Day, held: Sequence[Held]) -> list[Figure]:
    first, last = held[0], held[-1]
    done = (
        f"{day.runs:,} runs, {day.visits} visits, {day.looks} looks at a run of {EVENTS:,} events, "
        f"{day.edits} edits of a tool file, {day.restarts} restarts of a server"
    )
    ratio = last.memory / first.memory
    value = f"{ratio:.2f} x ({last.memory:.0f} MB against {first.memory:.0f}; {done})"
    memory = Figure("Long life: memory at the end, against the first tenth", value, f"<= {GROWTH} x", ratio <= GROWTH)
    more = {
        "open files": (last.files - first.files, 0),
        "threads": (last.threads - first.threads, POOL),
        "processes": (last.processes - first.processes, 0),
        "temporary files": (last.temporary - first.temporary, 0),
    }
    return [
        memory,
        *(
            Figure(f"Long life: {what} left behind", f"{n}", f"<= {most}", n <= most)
            for what, (n, most) in more.items()
        ),
    ]


def compacted(changes: int, once: int, after: int) -> Figure:
    value = f"{after / once:.2f} x ({after / MEGABYTE:.2f} MB against {once / MEGABYTE:.2f})"
    name = f"Database after {changes:,} changes of an agent and of a session"
    bar = f"<= {COMPACT} x, or {SPARE_BYTES / MEGABYTE} MB more"
    return Figure(name, value, bar, after <= max(once * COMPACT, once + SPARE_BYTES))
