"""R5: every route, mount and socket of the running app is asked in every way that must not work."""

import json
import re
import tempfile
from pathlib import Path

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


async def _walk(app: AppProcess) -> Figure:
    owner = Owner(app.port, app.token)
    doors = listed(app)
    asked, entered = await let_in(doors, owner)
    for words in entered:
        print(f"  let in: {words}")
    opened = await owner_gets_in(owner)
    welcome = "owner let in" if opened else "owner kept out"
    value = f"{asked - len(entered)} of {asked} refused at {len(doors)} addresses, {welcome}"
    return Figure("R5 the door", value, "100 % refused, the owner let in", opened and not entered)


async def owner_gets_in(owner: Owner) -> bool:
    """A door that refuses everybody would pass every other test."""
    page = await ask(owner.port, Target("GET", "/"), owner.all)
    socket = await ask(owner.port, Target(SOCKET, "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"), owner.all)
    health = await ask(owner.port, Target("GET", "/health"), owner.host)
    return (page, socket, health) == (200, 101, 200)
