"""R8: secrets given to the app in every way there is are looked for wherever it writes, shows or starts something."""

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import httpx
import keyring
from keyring.backends.fail import Keyring as NoKeyring

from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from app.domain.tool_settings import HttpTool, HttpTransport, McpServer, StdioTransport
from app.export.exports import FORMATS
from app.export.words import SessionFormat
from app.store.keys.key_places import FILE
from app.workbench import Workbench
from app.workbench.problem_report import problem_report
from tests.app_process import ROOT, AppProcess
from tests.fakes.file_keyring import FileKeyring
from tests.fakes.gossip import Gossip
from tests.figures import Figure
from tests.planted import OTHERS, VARIABLES, Plants, files, unpacked
from tests.planted_pages import visited
from tests.waiting import wait_until

ALLOWED = {FILE: set(OTHERS[:9])}
"""The files of the data folder that hold secrets: only their owner may read them, and no backup holds them."""
TOLD = {"MCP variable", "MCP argument", "REFERRED_TOKEN"}
"""What the MCP server is given on purpose, by its owner."""
MODELS = {
    "teller": "openai/tell",
    "refused": "openai/refuse",
    "odd": "odd-server/tell",
    "beginner": "demo/agent",
}
"""By the slug of the agent that asks it."""
TOOL_FILE = '''"""Tells all it sees."""

import json
import os
from pathlib import Path


def tell_all() -> str:
    """Tell everything."""
    Path({told!r}).write_text(json.dumps(dict(os.environ)), "utf-8")
    try:
        above = Path(f"/proc/{{os.getppid()}}/environ").read_text("utf-8", "replace")
    except OSError as error:
        above = str(error)
    print(above)
    return above


def tell_much() -> str:
    """Tell everything so often that it is kept as a file."""
    above = tell_all() * 20
    return above


def tell_in_error() -> str:
    """Tell everything in an error."""
    raise ValueError(Path(f"/proc/{{os.getppid()}}/environ").read_text("utf-8", "replace"))
'''


@dataclass
class Search:
    """What was looked through, and what was found where."""

    plants: Plants
    places: int = 0
    found: dict[str, set[str]] = field(default_factory=dict)
    """By place the ways whose secret is there."""

    def look(self, place: str, content: bytes, *, allowed: frozenset[str] | set[str] = frozenset()) -> None:
        self.places += 1
        if ways := set(self.plants.found(content)) - allowed:
            self.found[place] = ways


async def run(*, brief: bool = False) -> list[Figure]:
    plants = Plants()
    with tempfile.TemporaryDirectory() as temporary:
        async with Gossip() as gossip:
            search = await _looked_for(Path(temporary), plants, gossip, brief=brief)
    for place, ways in sorted(search.found.items()):
        print(f"  in {place}: {', '.join(sorted(ways))}")
    leaked = {way for ways in search.found.values() for way in ways}
    value = f"{len(leaked)} of {len(plants.values)} planted, {search.places} places searched"
    return [Figure("R8 planted secrets found", value, "0", not leaked)]


async def _looked_for(folder: Path, plants: Plants, gossip: Gossip, *, brief: bool) -> Search:
    data, children = folder / "data", folder / "children"
    children.mkdir()
    await _plant(data, children, plants, gossip)
    app = AppProcess(data, environment=_environment(folder, plants, gossip), options=("--trust-tools",))
    search = Search(plants)
    app.start()
    try:
        slugs = ("beginner",) if brief else ("teller", "refused", "odd", "beginner")
        runs = await asyncio.to_thread(_driven, app, plants, search, slugs)
        if not brief:
            async for place, content in visited(app, runs, plants.all_text()):
                search.look(place, content)
    finally:
        app.stop()
    search.look("what it printed", app.log.replace(app.token, "", 1).encode())
    for name, content in files(data):
        search.look(f"data/{name}", content, allowed=ALLOWED.get(name, set()))
    for name, content in files(children):
        search.look(f"environment of {name}", content, allowed=TOLD if name == "server" else set())
    await _report(data, search)
    return search


def _environment(folder: Path, plants: Plants, gossip: Gossip) -> dict[str, str]:
    keyring = {"PYTHON_KEYRING_BACKEND": "tests.fakes.file_keyring.FileKeyring"}
    own = {"PLANTED_KEYRING": str(folder / "keyring.json"), "OPENAI_BASE_URL": gossip.base}
    return plants.environment | keyring | own | {"NICEGUI_STORAGE_PATH": str(folder / "data" / "nicegui")}


async def _plant(data: Path, children: Path, plants: Plants, gossip: Gossip) -> None:
    """What is entered in pages, by the calls that these make."""
    keyring.set_keyring(NoKeyring())
    workbench = Workbench.open(data)
    await workbench.provider_desk.add("Own server", gossip.base, plants["provider key in a file"])
    await workbench.provider_desk.add("Odd server", gossip.base, plants["key with odd signs"])
    await workbench.data.provider_keys.save("tavily:key", plants["web search key in a file"])
    await workbench.http_tools.create(_http_tool(plants, gossip))
    for server in _servers(children, plants, gossip):
        await workbench.mcp.add(server)
        await workbench.data.mcp_servers.change(
            server.name, lambda stored: stored.model_copy(update={"consented": stored.transport.digest})
        )
    (data / "tools").mkdir(exist_ok=True)
    (data / "tools" / "tell.py").write_text(TOOL_FILE.format(told=str(children / "tool")))
    for slug, model in MODELS.items():
        await workbench.agents.create(new_agent(slug, _behaviour(model), taken_slugs=()))
    await workbench.close()
    keyring.set_keyring(FileKeyring(data.parent / "keyring.json"))
    workbench = Workbench.open(data)
    await workbench.data.provider_keys.save("mistral:key", plants["provider key in the keyring"])
    await workbench.close()


def _behaviour(model: str) -> PromptBehaviour:
    names = ("tell_all", "tell_much", "tell_in_error", "echo", "planted")
    tools = tuple(ToolChoice(name=name) for name in names)
    return PromptBehaviour(model=model, tools=tools, system_prompt="Tell {{what}}.")


def _http_tool(plants: Plants, gossip: Gossip) -> HttpTool:
    headers = {"Authorization": f"Bearer {plants['HTTP tool header']}", "X-Other": "$BRAVE_API_KEY"}
    return HttpTool(
        name="echo", description="Echoes.", address=f"{gossip.url}/echo", headers=headers, allow_private=True
    )


def _servers(children: Path, plants: Plants, gossip: Gossip) -> Iterator[McpServer]:
    script = str(ROOT / "tests" / "planted_server.py")
    args = (script, str(children / "server"), f"--token={plants['MCP argument']}")
    env = {"SERVICE_KEY": plants["MCP variable"], "OTHER": "$REFERRED_TOKEN"}
    yield McpServer(name="planted", transport=StdioTransport(command=sys.executable, args=args, env=env))
    address = f"{gossip.url.replace('://', '://me:' + plants['MCP address'] + '@')}/echo"
    yield McpServer(name="elsewhere", transport=HttpTransport(url=address, headers={"X-Api-Key": plants["MCP header"]}))


def _driven(app: AppProcess, plants: Plants, search: Search, slugs: Sequence[str]) -> dict[str, str]:
    """The session of each run in which every secret is pasted, printed, returned and quoted; searches each answer."""
    with httpx.Client(base_url=f"{app.url}/api/v1", timeout=60, trust_env=False) as client:
        client.headers["Authorization"] = f"Bearer {app.token}"
        made = client.post("/keys", json={"name": "program"}).json()["data"]
        plants.values |= {"API key": made["key"], "start token": app.token}
        client.headers["Authorization"] = f"Bearer {made['key']}"
        wait_until(lambda: "planted__tell" in client.get("/tools").text)
        for slug, stream in ((slug, stream) for slug in slugs for stream in (False, True)):
            text = plants.all_text(guessed=False)  # what a key may guess is looked for in what tools tell it only
            asked = {"input": text, "variables": {"what": plants["OPENAI_API_KEY"]}, "stream": stream}
            answer = client.post(f"/agents/{slug}/run", json=asked)
            search.look(f"answer of {slug}{' as a stream' * stream}", answer.content)
            assert "run_id" in answer.text or "runId" in answer.text, answer.text
        listed = client.get("/runs", params={"limit": 50}).json()["data"]
        runs: dict[str, str] = {run["id"]: run["session_id"] for run in listed}
        for run in runs:
            search.look(f"events of {run}", client.get(f"/runs/{run}/events").content)
            for format in FORMATS:
                exported = client.get(f"/runs/{run}/export", params={"format": format})
                for name, content in unpacked(f"{run} as {format}", exported.content):
                    search.look(name, content)
        for session in dict.fromkeys(runs.values()):
            for format in get_args(SessionFormat):
                exported = client.get(f"/sessions/{session}/export", params={"format": format})
                for name, content in unpacked(f"{session} as {format}", exported.content):
                    search.look(name, content)
        for tool in ("tell_all", "tell_in_error", "echo", "planted__tell"):
            answer = client.post(f"/tools/{tool}/call", json={"arguments": {}})
            search.look(f"{tool} called by hand", answer.content)
        for what in ("agents", "tools", "sessions", "jobs", "keys"):
            search.look(what, client.get(f"/{what}").content)
    return runs


async def _report(data: Path, search: Search) -> None:
    """A problem report and a backup, made by an app that knows none of the variables."""
    workbench = Workbench.open(data)
    texts = await problem_report(workbench)
    search.look("problem report", json.dumps(texts).encode())
    backup = await workbench.data.backups.take()
    for name, content in unpacked("backup", workbench.data.backups.path(backup.name).read_bytes()):
        search.look(name, content)
    await workbench.close()


assert len(VARIABLES) + 2 + len(OTHERS) >= 25
