"""S5: what others may read of what the app starts: command lines, environments, a browser's history, logs, reports.

A window and a tab are opened, in real Chromiums where there is a display to be had; a tool file and an MCP server run.
"""

import asyncio
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from app.domain.tool_settings import McpServer, StdioTransport
from app.workbench import Workbench
from app.workbench.problem_report import problem_report
from tests.app_process import ROOT, AppProcess, plain_environment
from tests.browser import chromium_with_windows
from tests.figures import Figure
from tests.planted import files, new, spellings
from tests.waiting import wait_until
from tests.watched import Watched

OWN = re.compile(rb"(?<![\w-])ap_[\w-]{43}(?![\w-])")
"""Codes, ids of browsers and API keys all look so."""
OPTIONS = "--no-sandbox --disable-gpu --no-first-run --password-store=basic"
COOKIES = "Cookies"
"""The file of the browser that holds its id, as it has to."""
SHOWN = " WHERE hidden = 0 AND id IN (SELECT url FROM visits WHERE transition & 0x20000000)"
"""The end of a chain of addresses: https://chromium.googlesource.com/chromium/src/+/main/ui/base/page_transition_types.h"""
TOOL_FILE = '''
import os
from pathlib import Path


def tell() -> str:
    """Tell what this process sees."""
    Path({told!r}).write_bytes(Path("/proc/self/environ").read_bytes() + Path("/proc/self/cmdline").read_bytes())
    return "told"
'''


@dataclass
class Search:
    """The secrets, and where which of them was found."""

    secrets: dict[str, str]
    places: int = 0
    found: list[str] = field(default_factory=list)

    def look(self, place: str, content: bytes) -> None:
        self.places += 1
        seen = [name for name, value in self.secrets.items() if any(one in content for one in spellings(value))]
        self.found += [f"{name} in {place}" for name in (*seen, *["something of our own"] * bool(OWN.search(content)))]


async def run(*, brief: bool = False) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        display = None if brief else stack.enter_context(a_display())
        search, typed = await asyncio.to_thread(_looked_for, Path(folder), display)
        await _report(Path(folder) / "data", search)
    for words in search.found:
        print(f"  {words}")
    browser = "real browsers" if display else "programs in place of browsers"
    value = f"{len(search.found)} found in {search.places} places, with {browser}"
    return [Figure("S5 secrets that others may read", value, "0", not search.found), typed]


def _looked_for(folder: Path, display: str | None) -> tuple[Search, Figure]:
    search = Search({"provider key in a variable": new(), "saved provider key": new()})
    asyncio.run(_fill(folder, search.secrets["saved provider key"]))
    environment = _environment(folder, search, display)
    app = AppProcess(folder / "data", environment=environment, options=("--window", "--trust-tools"), opens=True)
    with Watched() as watched:
        app.start()
        watched.follow(app.pid)
        try:
            search.secrets |= {"printed token": app.token, "id of a browser": app.sign_in()}
            _use(app, search)
            _start_again(app, environment, watched)
            _wait_for_pages(app, folder, real=display is not None)
            typed = _typed(app, folder / "typed", display)
        finally:
            app.stop()
    _look_through(search, folder, app, watched)
    return search, typed


def _environment(folder: Path, search: Search, display: str | None) -> dict[str, str]:
    """Chromium is found on the path for the window, and as the browser for the tab; each tells what it was given."""
    programs, home = folder / "programs", folder / "home"
    programs.mkdir()
    home.mkdir()
    for name, profile in (("chromium", ""), ("tab", f"--user-data-dir={folder / 'tab'}")):
        shows = f'exec {chromium_with_windows()} {OPTIONS} {profile} "$@" 2> /dev/null' if display else "exec sleep 3"
        script = programs / name
        script.write_text(f'#!/bin/sh\n{{ env; echo "$@"; }} > "{folder}/told-{name}"\n{shows}\n')
        script.chmod(0o755)
    paths = {"PATH": f"{programs}:{os.environ['PATH']}", "BROWSER": f"{programs / 'tab'} %s &", "HOME": str(home)}
    shown = {"DISPLAY": display or "", "WAYLAND_DISPLAY": ""}
    return paths | shown | {"OPENAI_API_KEY": search.secrets["provider key in a variable"]}


async def _fill(folder: Path, key: str) -> None:
    """A saved key, a tool file, a server, and an agent that calls both."""
    workbench = Workbench.open(folder / "data")
    await workbench.start()
    await workbench.data.provider_keys.save("mistral:key", key)
    script = (str(ROOT / "tests" / "planted_server.py"), str(folder / "told-server"))
    server = McpServer(name="planted", transport=StdioTransport(command=sys.executable, args=script))
    await workbench.mcp.add(server)
    await workbench.mcp.consent("planted")
    (folder / "data" / "tools").mkdir(exist_ok=True)
    (folder / "data" / "tools" / "mine.py").write_text(TOOL_FILE.format(told=str(folder / "told-worker")))
    await workbench.close()


def _use(app: AppProcess, search: Search) -> None:
    """An API key is made, and both tools are called with it."""
    with httpx.Client(base_url=f"{app.url}/api/v1", timeout=60, trust_env=False) as client:
        made = client.post("/keys", json={"name": "program"}, headers={"X-API-Key": app.token}).json()["data"]
        client.headers["X-API-Key"] = search.secrets["API key"] = made["key"]
        for tool in ("tell", "planted__tell"):
            wait_until(lambda tool=tool: f'"{tool}"' in client.get("/tools").text)
            client.post(f"/tools/{tool}/call", json={"arguments": {}}).raise_for_status()


def _start_again(app: AppProcess, environment: dict[str, str], watched: Watched) -> None:
    """Which opens a tab."""
    command = [sys.executable, "-m", "app", "--data", str(app.data)]
    second = subprocess.Popen(command, cwd=ROOT, env=plain_environment() | environment, stdout=subprocess.DEVNULL)
    watched.follow(second.pid)
    if second.wait(60) != 0:
        raise RuntimeError("The second start failed")


def _wait_for_pages(app: AppProcess, folder: Path, *, real: bool) -> None:
    """Until both browsers have written down what they showed; programs in their place were only told where it is."""
    if not real:
        wait_until(lambda: all((folder / f"told-{name}").exists() for name in ("chromium", "tab")))
        return
    for profile in (app.data / "window", folder / "tab"):
        wait_until(lambda profile=profile: f"{app.url}/" in history(profile), seconds=60)


def _typed(app: AppProcess, profile: Path, display: str | None) -> Figure:
    """The printed address, which a person opens: what they are shown of it later, and what the file keeps."""
    name, bar = "S5 the printed address among what a browser shows as its history", "0"
    if display is None:
        return Figure(name, "", bar, None)
    command = [str(chromium_with_windows()), *OPTIONS.split(), f"--user-data-dir={profile}", app.address]
    showing = subprocess.Popen(command, env=os.environ | {"DISPLAY": display}, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: f"{app.url}/" in history(profile, shown=True), seconds=60)
    finally:
        showing.terminate()
        showing.wait(10)
    shown, kept = ([one for one in history(profile, shown=only) if app.token in one] for only in (True, False))
    value = f"{len(shown)} (its file keeps {len(kept)}, which opens nothing once the app has ended)"
    return Figure(name, value, bar, not shown)


def history(profile: Path, *, shown: bool = False) -> list[str]:
    """The addresses in the history of that Chromium, as far as it is written, which is so every ten seconds.

    `shown` leaves out those that were no more than the way to another one, which its page of the history does too.
    """
    file = profile / "Default" / "History"
    asked = f"SELECT url FROM urls{SHOWN if shown else ''}"
    if not file.exists():
        return []
    with tempfile.TemporaryDirectory() as beside:
        for part in file.parent.glob("History*"):  # it holds a lock on the file, and part of it may be in a second one
            shutil.copy(part, beside)
        with closing(sqlite3.connect(Path(beside) / "History")) as copied, suppress(sqlite3.Error):
            return [str(address) for (address,) in copied.execute(asked)]
    return []


def _look_through(search: Search, folder: Path, app: AppProcess, watched: Watched) -> None:
    for name, content in watched.seen.items():
        search.look(f"arguments and environment of {name}", content)
    for told in folder.glob("told-*"):
        search.look(f"what {told.name.removeprefix('told-')} was given", told.read_bytes())
    for profile in (app.data / "window", folder / "tab"):
        search.look(f"the history of {profile.name}", "\n".join(history(profile)).encode())
        for name, content in files(profile):
            if not name.rpartition("/")[2].startswith(COOKIES):
                search.look(f"{profile.name}/{name}", content)
    for name, content in files(app.data / "logs"):
        search.look(f"logs/{name}", content)
    search.look("what it printed", app.log.replace(app.token, "", 1).encode())
    search.look("what is left in the home folder", b"".join(content for _, content in files(folder / "home")))


async def _report(data: Path, search: Search) -> None:
    workbench = Workbench.open(data)
    for name, text in (await problem_report(workbench)).items():
        search.look(f"problem report: {name}", text.encode())
    await workbench.close()


@contextmanager
def a_display() -> Iterator[str | None]:
    """The name of one nobody sees; `None` where there is no Xvfb, or no Chromium with windows."""
    if (server := shutil.which("Xvfb")) is None or chromium_with_windows() is None:
        yield None
        return
    reads, writes = os.pipe()
    showing = subprocess.Popen(
        [server, "-displayfd", str(writes), "-screen", "0", "1280x720x24", "-nolisten", "tcp"],
        pass_fds=(writes,),
        stderr=subprocess.DEVNULL,
    )
    os.close(writes)
    try:
        with os.fdopen(reads) as told:
            yield f":{told.readline().strip()}"
    finally:
        showing.terminate()
        showing.wait(10)
