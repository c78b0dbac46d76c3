"""Serves the workbench: pages and API in one process, behind one door."""

import asyncio
import contextlib
import gc
import logging
import os
import secrets
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from functools import partial, partialmethod
from importlib import import_module
from types import FrameType

os.environ.setdefault("MATPLOTLIB", "false")  # NiceGUI would import it at start, only to plot

from app.late import never, read, unbuilt, without

# FastAPI's models of OpenAPI take a tenth of a second, and socket.io's clients as long and 15 MB: no page needs them,
# nor pictures in memory, another server, and what starts one again when its code changes.
with unbuilt(), without("aiohttp", "requests", "PIL", "tornado", "watchfiles"):
    never("pydantic.v1")  # FastAPI would look for models of it in every route
    from nicegui import Client, ui
    from nicegui import app as server
    from nicegui.server import Server

from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.door.connections import STRANGERS, Connections, room
from app.api.door.guests import WorkbenchGuests
from app.api.door.refusals import API_PATHS, METRICS
from app.api.door.security import HOST, Door, install, own_authorities
from app.api.door.slow_requests import SlowRequests
from app.api.door.untrusted import UntrustedOrigin
from app.api.mcp.endpoint import McpEndpoint
from app.api.routes.sign_in import sign_in_routes
from app.api.routes.uploads import file_routes
from app.domain.errors import WorkbenchError
from app.domain.garbage import set_aside
from app.engine.runs.unbroken import Unbroken
from app.start.boxes import fill_at_once
from app.start.escapes import escape_quickly
from app.start.opening import NOT_SEEN, Opening, open_page
from app.start.signatures import remember_signatures
from app.start.spare_memory import SpareMemory, glibc
from app.store.folder.handshake import proof
from app.store.folder.lock import Announcement, this_computer
from app.tools.http.net_guard import OWN_PORTS
from app.ui.markdown.colours import Colours
from app.ui.markdown.live_markdown import LiveMarkdown
from app.ui.shell.left_pages import LeftPages
from app.ui.shell.pages import FIRST_PAGES
from app.ui.shell.shell import root
from app.workbench import Workbench

log = logging.getLogger("agent_playground")
RECONNECT_SECONDS = 30
WARM_SECONDS = 5
"""How long the first page is waited for before what it does not need is made."""
PAGE_SECONDS = 1
"""Between two pages that are read ahead."""


def serve(workbench: Workbench, listening: socket.socket, how: Opening = "nothing") -> None:
    """Serve there until the process is told to end; then close the workbench. Raises `StorageError` before."""
    port: int = listening.getsockname()[1]
    spare_memory = SpareMemory(
        glibc(), busy=lambda: bool(workbench.runs.live_runs()), pages=lambda: len(Client.instances)
    )
    spare_memory.keep_little()
    token = workbench.access_token = secrets.token_urlsafe(32)
    workbench.origin = f"http://{HOST}:{port}"
    beside = UntrustedOrigin(lambda: workbench.contents, home=f"{workbench.origin}/")
    workbench.origin_of_contents = beside.open
    OWN_PORTS.update((port, beside.port))
    prove, guests = partial(proof, token, workbench.data.path), WorkbenchGuests(workbench)
    connections = Connections(min(STRANGERS, room() // 2))
    door = partial(Door, port=port, token=token, sign_ins=workbench.sign_ins, connections=connections)
    timed = partial(SlowRequests, tell=lambda *slow: workbench.vitals.slow_request(*slow))  # noqa: PLW0108  made late
    mcp = McpEndpoint(workbench, own_authorities(port))
    inside = partial(door, guests=guests, prove=prove, untrusted=beside.address, mcp=mcp)
    install(server, lambda app: inside(timed(LeftPages(app))))
    api = _add_routes(workbench)
    here = Announcement(pid=os.getpid(), port=port, token=token, computer=this_computer())
    shown, warming = asyncio.Event(), Unbroken()

    async def start() -> None:
        set_aside()  # what is loaded now stays: looking through it again and again would stop the loop
        gc.enable()
        await workbench.start(with_datasets=True)
        warming.begin(_announce(workbench, api, here, shown, how))

    for told_to_end in (signal.SIGTERM, signal.SIGINT):
        signal.signal(told_to_end, _end)
    server.on_connect(shown.set)
    server.on_delete(spare_memory.page_gone)
    server.on_startup(start)
    server.on_shutdown(mcp.close)
    server.on_shutdown(partial(_close, workbench, warming))
    server.on_shutdown(beside.close)
    colours = Colours()
    server.on_shutdown(colours.close)
    _serve_pages(partial(root, workbench, LiveMarkdown(), colours), listening, connections)


class LazyApi:
    """The API as an ASGI app, mounted, that is made with its first request, or before: the pages start without it."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._app: ASGIApp | None = None
        self._making = asyncio.Lock()

    async def warm(self) -> None:
        """Make it off the event loop, if it is not made yet."""
        async with self._making:
            if self._app is None:
                application = await asyncio.to_thread(import_module, "app.api.application")
                self._app = await asyncio.to_thread(application.api, self._workbench)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app is None:
            await self.warm()
        if self._app is not None:
            # Its routes know their whole path, whatever it is mounted at.
            await self._app({**scope, "root_path": ""}, receive, send)


def _add_routes(workbench: Workbench) -> LazyApi:
    """All that is no page."""
    api = LazyApi(workbench)
    for place in API_PATHS:
        server.mount(place.rstrip("/"), api)
    server.router.routes.append(Route(METRICS, api, methods=["GET"]))
    server.include_router(file_routes(workbench))
    server.include_router(sign_in_routes(workbench))
    return api


def _serve_pages(page: Callable[[], Awaitable[None]], listening: socket.socket, connections: Connections) -> None:
    """Returns when the process was told to end."""
    remember_signatures()
    escape_quickly()
    fill_at_once()
    # `ui.run` takes a number only, at which its server would open a port of its own.
    Server.run = partialmethod(Server.run, sockets=[listening])  # type: ignore[method-assign, assignment]
    ui.run(
        page,
        host=HOST,
        port=listening.getsockname()[1],
        title="Agent Playground",
        favicon="🧪",
        language="en-US",  # what readers of screens speak
        dark=None,
        reload=False,
        show=False,
        show_welcome_message=False,
        tailwind=False,  # it would compile our pages in the browser at every load; theme.css needs none of it
        reconnect_timeout=RECONNECT_SECONDS,
        binding_refresh_interval=None,
        timeout_graceful_shutdown=1,
        http=connections.protocol(),
        gzip_middleware_factory=None,  # what goes from here to here takes longer to pack than to send
        ws_per_message_deflate=False,  # nothing goes over a wire, and each page would take a third of a megabyte for it
        proxy_headers=False,  # nobody stands between: what says so lies
        log_config=None,  # its own would write to the terminal only, and needs one
    )


def _end(_signal: int, _frame: FrameType | None) -> None:
    """The server ends in good order first, then raises the signal again: to end on being told is no failure."""
    sys.exit(0)


async def _announce(workbench: Workbench, api: LazyApi, here: Announcement, shown: asyncio.Event, how: Opening) -> None:
    """Once the app answers: say where, to the terminal, to a second start, and to the browser."""
    while not Server.instance.started:  # noqa: ASYNC110  nothing tells when it is
        await asyncio.sleep(0.01)
    workbench.data.lock.announce(here)
    print(f"Agent Playground is running at {here.address}", flush=True)  # noqa: T201  the one line it prints
    for sentence in await asyncio.to_thread(open_page, here, how, workbench.data.aside):
        print(sentence, flush=True)  # noqa: T201
    try:
        await workbench.plant()
    except WorkbenchError as problem:
        log.warning("The sample datasets stay away until the next start: %s", problem)
    # The first page comes first: what is warmed would take its time from it.
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(shown.wait(), WARM_SECONDS)
    if how != "nothing" and not shown.is_set():
        print(NOT_SEEN, flush=True)  # noqa: T201
    log.info("Agent Playground %s is up at port %s", workbench.version, here.port)  # late: it looks for keys in it
    await workbench.warm()
    if workbench.data.api_keys.all():  # else nobody is expected, and it would be 6 MB of memory for nothing
        await api.warm()
    for page in FIRST_PAGES:  # so that their first visitors need not wait for it, and who is busy now does not either
        await asyncio.to_thread(read, page)
        await asyncio.sleep(PAGE_SECONDS)
    set_aside()  # what is loaded now stays: looking through it again and again would stop the loop


async def _close(workbench: Workbench, warming: Unbroken) -> None:
    await warming.close(patience=0)  # it would make parts that nobody closes any more
    try:
        await workbench.close()
    except WorkbenchError as problem:
        log.error("Not everything could be stored: %s", problem)  # noqa: TRY400  what is told is in the sentence
