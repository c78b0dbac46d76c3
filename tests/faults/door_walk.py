"""R5: every route, mount and socket of the running app is asked in every way that must not work."""

import asyncio
import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import httpx

from app.api.door.guests import PUBLIC_ROUTES, SIGN_IN_ROUTE
from app.domain.agents import PromptBehaviour, new_agent
from app.store.folder.folder import DataFolder
from app.store.keys.sign_ins import SIGN_OUT
from tests.app_process import AppProcess
from tests.door import COME_BACK, SOCKET, Owner, Target, ask, evil_hosts, evil_origins, let_in, signed_in, unsigned
from tests.figures import Figure
from tests.hostile_runs import hostile_session
from tests.waiting import PATIENCE

OPEN = {"/health"}
PICTURED = "pictured"
PAGES = [
    "/",
    "/playground",
    "/playground/x",
    "/runs",
    "/runs/x",
    "/agents",
    "/agents/x",
    "/agents/x/suggest",
    "/tools",
    "/tools/x",
    "/tools/sources/all",
    "/tools/new/request",
    "/tools/file/x.py",
    "/tools/server/x",
    "/tools/request/x",
    "/compare",
    "/compare/x",
    "/evals",
    "/evals?show=experiments",
    "/evals/x",
    "/experiments/x",
    "/matrix",
    "/matrix/x",
    "/review",
    "/review/judges",
    "/jobs",
    "/monitoring",
    "/resources",
    "/build",
    "/build/x",
    "/integrations",
    "/settings",
    "/settings?section=budgets",
    "/setup",
    "/no/page",
]
"""No routes, all the same: the root page answers every path that no route takes."""
AT_THE_DOOR = [SIGN_OUT, "/api/v1/launch-pages", "/mcp"]
"""No routes either: the door answers them by itself."""
ALMOST_OPEN = ["/health/", "/health/..", "/health/../runs", "/health;/runs", "//health", "/HEALTH", "/x/../health"]
MADE_UP = ["/" + "A" * 43 + "/99999999999/" + "0" * 64, "/" + "A" * 43 + "/99999999999/" + "0" * 64 + "?x.html"]
"""As the second origin's addresses look, signed by nobody."""
ROUTES = re.compile(r"^ROUTES (\[.*\])$")
STATES = ("", "?state=", "?state=x&code=y", "?state=" + "A" * 43 + "&error=no", "?code=y", "?state[]=x", "?state=%00")
"""That nobody gave away."""
LEAST_HOSTS, LEAST_ORIGINS = 12, 20
"""That are tried at the least."""


async def run() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        app = listing_app(Path(folder))
        await with_a_picture(app)
        try:
            app.start()
            owner = owner_of(app)
            return [await _walk(app, owner), await _walk_second(app, owner)]
        finally:
            app.stop()


async def with_a_picture(app: AppProcess) -> None:
    """Store a session whose page links a picture, for which the second origin opens."""
    data = DataFolder.open(app.data)
    agent = await data.agents.create(new_agent("Pictured", PromptBehaviour(), taken_slugs=()))
    await data.sessions.create(hostile_session(PICTURED, agent.id, agent.slug, "x", ()))
    await data.close()


def listing_app(folder: Path) -> AppProcess:
    """The real app, not started yet, which will print its routes."""
    storage = {"NICEGUI_STORAGE_PATH": str(folder / "nicegui")}
    return AppProcess(folder / "data", module="tests.listing_app", environment=storage)


def routes_of(app: AppProcess) -> set[Target]:
    """All that the running app has a route for."""
    return {Target(*pair) for pair in json.loads(app.wait_for(ROUTES).group(1))}


def listed(app: AppProcess) -> list[Target]:
    """All addresses the running app has but the open ones, and some that only look like an open one."""
    found = routes_of(app)
    found |= {Target(method, path) for path in PAGES + AT_THE_DOOR + ALMOST_OPEN for method in ("GET", "POST", SOCKET)}
    return sorted((target for target in found if target.path not in OPEN), key=lambda target: target.path)


def owner_of(app: AppProcess) -> Owner:
    """The owner of the running app, who has made a public agent and two keys, of which one is revoked."""
    headers = {"Authorization": f"Bearer {app.token}"}
    with httpx.Client(base_url=f"{app.url}/api/v1", headers=headers, timeout=PATIENCE) as client:
        agent = client.post("/agents", json={"name": "Open to anyone", "is_public": True}).json()["data"]
        guest, revoked = (client.post("/keys", json={"name": name}).json()["data"] for name in ("guest", "revoked"))
        client.delete(f"/keys/{revoked['id']}").raise_for_status()
    return Owner(app.port, app.token, app.sign_in(), guest=guest["key"], revoked=revoked["key"], public=agent["slug"])


async def _walk(app: AppProcess, owner: Owner) -> Figure:
    doors = [*listed(app), Target("POST", f"/api/v1/agents/{owner.public}/run")]
    print(f"  open without a key: GET /health, {', '.join(PUBLIC_ROUTES)} of public agents")
    print(f"  open with the state of a sign-in that waits: {SIGN_IN_ROUTE}")
    asked, entered = await let_in(doors, owner)
    for words in entered:
        print(f"  let in: {words}")
    opened = await owner_gets_in(owner) and await others_get_in(owner)
    welcome = "the others let in" if opened else "some kept out who may come in"
    hosts, origins = len(set(evil_hosts(app.port))), len(set(evil_origins(app.port)))
    tried = f"{hosts} hosts, {origins} origins or no credential"
    value = f"{asked - len(entered)} of {asked} refused at {len(doors)} addresses with {tried}, {welcome}"
    passed = opened and not entered and hosts >= LEAST_HOSTS and origins >= LEAST_ORIGINS
    return Figure("R5 the door", value, "100 % refused, the owner let in", passed)


async def _walk_second(app: AppProcess, owner: Owner) -> Figure:
    ports, asked, entered = await walk_second(app, owner, paths_of(app))
    for words in entered:
        print(f"  let in: {words}")
    value = f"{asked - len(entered)} of {asked} refused at {len(ports)} further port{'s' * (len(ports) != 1)}"
    return Figure("R5 the second origin", value, "100 % of what is not signed refused", bool(asked) and not entered)


def paths_of(app: AppProcess) -> list[str]:
    """All that any target of the app has, and what looks like the second origin's own."""
    return sorted({target.path for target in listed(app)} | OPEN | set(MADE_UP))


async def walk_second(app: AppProcess, owner: Owner, paths: Sequence[str]) -> tuple[set[int], int, list[str]]:
    """All further ports where the app answers, however they came to be; how often was asked there, who was let in."""
    ports = await _opened(app, owner)
    outcomes = [await signed_in(unsigned(paths, port, owner), port) for port in ports]
    return ports, sum(asked for asked, _ in outcomes), [words for _, entered in outcomes for words in entered]


async def _opened(app: AppProcess, owner: Owner) -> set[int]:
    """The ports, once a page linked a picture."""
    page = Target("GET", f"/playground/{PICTURED}")
    for _ in range(100):
        if await ask(owner.port, page, owner.all) == 200 and (ports := app.listens_at() - {app.port}):
            return ports
        await asyncio.sleep(0.1)
    return set()


async def owner_gets_in(owner: Owner) -> bool:
    """A door that refuses everybody would pass every other test."""
    page = await ask(owner.port, Target("GET", "/"), owner.all)
    socket = await ask(owner.port, Target(SOCKET, "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"), owner.all)
    health = await ask(owner.port, Target("GET", "/health"), owner.host)
    return (page, socket, health) == (200, 101, 200)


async def others_get_in(owner: Owner) -> bool:
    """A key opens the API, and a public agent is there for anyone."""
    key = (*owner.host, ("X-API-Key", owner.guest))
    with_key = await ask(owner.port, Target("GET", "/api/v1/runs"), key)
    listed = await ask(owner.port, Target("GET", "/api/v1/agents"), owner.host)
    json_type = (("Content-Type", "application/json"),)
    run = await ask(owner.port, Target("POST", f"/api/v1/agents/{owner.public}/run"), owner.host + json_type)
    back = [await ask(owner.port, Target("GET", f"{COME_BACK.path}{query}"), owner.host) for query in STATES]
    # The run's body is empty, which is not the door's to judge; nobody waits for any of these states.
    return (with_key, listed, run) == (200, 200, 422) and set(back) == {404}
