"""R5: every route, mount and socket of the running app is asked in every way that must not work."""

import json
import re
import tempfile
from pathlib import Path

import httpx

from app.api.guests import PUBLIC_ROUTES
from tests.app_process import AppProcess
from tests.door import SOCKET, Owner, Target, ask, let_in
from tests.figures import Figure

OPEN = {"/health"}
PAGES = [
    "/",
    "/playground",
    "/playground/x",
    "/runs",
    "/runs/x",
    "/agents",
    "/agents/x",
    "/tools",
    "/tools/x",
    "/tools/sources/all",
    "/tools/new/request",
    "/tools/file/x.py",
    "/tools/server/x",
    "/tools/request/x",
    "/compare",
    "/compare/x",
    "/jobs",
    "/integrations",
    "/settings",
    "/setup",
    "/no/page",
]
"""No routes, all the same: the root page answers every path that no route takes."""
ALMOST_OPEN = ["/health/", "/health/..", "/health/../runs", "/health;/runs", "//health", "/HEALTH", "/x/../health"]
ROUTES = re.compile(r"^ROUTES (\[.*\])$")


async def run() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        app = listing_app(Path(folder))
        try:
            app.start()
            return [await _walk(app)]
        finally:
            app.stop()


def listing_app(folder: Path) -> AppProcess:
    """The real app, not started yet, which will print its routes."""
    storage = {"NICEGUI_STORAGE_PATH": str(folder / "nicegui")}
    return AppProcess(folder / "data", module="tests.listing_app", environment=storage)


def listed(app: AppProcess) -> list[Target]:
    """All addresses the running app has but the open ones, and some that only look like an open one."""
    found = {Target(*pair) for pair in json.loads(app.wait_for(ROUTES).group(1))}
    found |= {Target(method, path) for path in PAGES + ALMOST_OPEN for method in ("GET", "POST", SOCKET)}
    return sorted((target for target in found if target.path not in OPEN), key=lambda target: target.path)


def owner_of(app: AppProcess) -> Owner:
    """The owner of the running app, who has made a public agent and two keys, of which one is revoked."""
    headers = {"Authorization": f"Bearer {app.token}"}
    with httpx.Client(base_url=f"{app.url}/api/v1", headers=headers, timeout=30) as client:
        agent = client.post("/agents", json={"name": "Open to anyone", "is_public": True}).json()["data"]
        guest, revoked = (client.post("/keys", json={"name": name}).json()["data"] for name in ("guest", "revoked"))
        client.delete(f"/keys/{revoked['id']}").raise_for_status()
    return Owner(app.port, app.token, guest=guest["key"], revoked=revoked["key"], public=agent["slug"])


async def _walk(app: AppProcess) -> Figure:
    owner = owner_of(app)
    doors = [*listed(app), Target("POST", f"/api/v1/agents/{owner.public}/run")]
    print(f"  open without a key: GET /health, {', '.join(PUBLIC_ROUTES)} of public agents")
    asked, entered = await let_in(doors, owner)
    for words in entered:
        print(f"  let in: {words}")
    opened = await owner_gets_in(owner) and await others_get_in(owner)
    welcome = "the others let in" if opened else "some kept out who may come in"
    value = f"{asked - len(entered)} of {asked} refused at {len(doors)} addresses, {welcome}"
    return Figure("R5 the door", value, "100 % refused, the owner let in", opened and not entered)


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
    return (with_key, listed, run) == (200, 200, 422)  # the run's body is empty, which is not the door's to judge
