"""The agents as tools over stdio: through the app where it runs, else out of the data folder. Heavy: import late.

The folder is held only while something is asked or goes on, so that the app can be started beside a bridge: what waits
for a person is decided there. Both ways it asks as a key of its own, with no right to approve.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

import httpx2
from mcp import Client
from mcp.client import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    RequestParamsMeta,
    ToolListChangedNotification,
)

from app.api.door.caller import STARTED_FROM, with_key
from app.api.mcp.answers import refused
from app.api.mcp.changes import Changes, Context, tell_of_agents
from app.api.mcp.server import AgentServer, AgentTools, Answering
from app.api.mcp.waiting import Patience
from app.domain.errors import WorkbenchError
from app.domain.tools import DEPTH
from app.engine.runs.standing import all_wait
from app.start.already_running import opened_or_running, running_app
from app.store.folder.lock import Announcement
from app.tools.mcp.launching import WITHIN
from app.workbench import Workbench

IDLE_SECONDS = 2.0
"""After which the folder is given back: less than a start of the app waits for it."""
ANSWER_SECONDS = 30


async def serve_stdio(folder: Path) -> None:
    """Answer until the input ends. Raises `WorkbenchError` where the app itself has started it."""
    if (running := running_app(folder)) is not None and os.environ.get(WITHIN) == str(running.pid):
        raise WorkbenchError("Agent Playground cannot use its own agents as an MCP server. Hand them tasks instead.")
    if sys.stdin is None:
        raise WorkbenchError("This program has no input here. Ask the app at its address /mcp instead.")
    changes = Changes()
    bridge = _Bridge(folder, changes)
    server = AgentServer(bridge, changes)
    try:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    finally:
        await bridge.close()


class _Bridge:
    """Passes on what is asked; which way, is found out each time."""

    def __init__(self, folder: Path, changes: Changes) -> None:
        self._folder = folder
        self._changes = changes
        self._finding = asyncio.Lock()
        self._way: _There | _Here | None = None

    async def list(self, context: Context, asked: PaginatedRequestParams | None) -> ListToolsResult:
        self._changes.listed(context)
        try:
            async with self._used(context) as way:
                return await way.list(context, asked)
        except WorkbenchError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from error

    async def call(self, context: Context, asked: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        try:
            async with self._used(context) as way:
                return await way.call(context, asked)
        except WorkbenchError as error:
            return refused(str(error))

    async def close(self) -> None:
        if self._way is not None:
            await self._way.close()

    @asynccontextmanager
    async def _used(self, context: Context) -> "AsyncIterator[Answering]":
        async with self._finding:
            way = self._way
            if way is None or not await way.still_there():
                if way is not None:
                    await way.close()
                self._way = way = await self._found(context)
            way.users += 1
        try:
            yield way.answering
        finally:
            way.users -= 1

    async def _found(self, context: Context) -> "_There | _Here":
        found = await asyncio.to_thread(opened_or_running, self._folder)
        if isinstance(found, Announcement):
            client = context.session.client_params
            there = _There(self._folder, found, client.client_info if client else None, self._changes)
            await there.open()
            return there
        here = _Here(found, self._changes)
        await here.open()
        return here


class _There:
    """The app that runs, reached over a connection that one task holds."""

    def __init__(self, folder: Path, app: Announcement, client: Implementation | None, changes: Changes) -> None:
        self.users = 0
        self.answering = self
        self._folder = folder
        self._app = app
        self._info = client
        self._changes = changes
        self._client: Client | None = None
        self._ready = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect. Raises `WorkbenchError`."""
        self._task = asyncio.create_task(self._hold(), name="connection to the app")
        ready = asyncio.create_task(self._ready.wait())
        await asyncio.wait({ready, self._task}, return_when="FIRST_COMPLETED")
        ready.cancel()
        if self._task.done():
            raise WorkbenchError(f"Agent Playground at port {self._app.port} does not answer.") from (
                self._task.exception()
            )

    async def still_there(self) -> bool:
        gone = self._task is None or self._task.done()
        return not gone and await asyncio.to_thread(running_app, self._folder) == self._app

    async def list(self, context: Context, asked: PaginatedRequestParams | None) -> ListToolsResult:  # noqa: ARG002
        return await self._connected.list_tools(cache_mode="refresh")

    async def call(self, context: Context, asked: CallToolRequestParams) -> CallToolResult:
        wants_progress = (context.meta or {}).get("progress_token") is not None
        told = context.session.report_progress if wants_progress else None
        meta: RequestParamsMeta | None = None
        if said := (context.meta or {}).get(DEPTH):
            meta = {DEPTH: said}  # type: ignore[assignment]  # it takes any key
        return await self._connected.call_tool(asked.name, asked.arguments, progress_callback=told, meta=meta)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    @property
    def _connected(self) -> Client:
        if self._client is None:
            raise WorkbenchError("Agent Playground does not answer.")
        return self._client

    async def _hold(self) -> None:
        headers = {"Authorization": f"Bearer {self._app.token}", STARTED_FROM: "mcp"}
        patience = httpx2.Timeout(ANSWER_SECONDS, read=None)
        async with httpx2.AsyncClient(headers=headers, timeout=patience, trust_env=False) as http:
            way = streamable_http_client(f"http://127.0.0.1:{self._app.port}/mcp", http_client=http)
            async with Client(way, mode="legacy", client_info=self._info, message_handler=self._noticed) as client:
                self._client = client
                self._ready.set()
                await asyncio.Event().wait()

    async def _noticed(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            await self._changes.changed()


class _Here:
    """The data folder, opened in this process while no app runs."""

    def __init__(self, workbench: Workbench, changes: Changes) -> None:
        self.users = 0
        self._workbench: Workbench | None = workbench
        self._changes = changes
        self._task: asyncio.Task[None] | None = None
        self.answering = AgentTools(workbench, lambda _: with_key(workbench.keys.bridge), Patience(), changes)

    async def open(self) -> None:
        if self._workbench is not None:
            await self._workbench.start()
            await self._workbench.user_tools.settled()
            self._task = asyncio.create_task(self._until_idle(self._workbench), name="hold the folder")

    async def still_there(self) -> bool:
        return self._workbench is not None

    async def close(self) -> None:
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
        workbench, self._workbench = self._workbench, None
        if workbench is not None:
            await workbench.close()

    async def _until_idle(self, workbench: Workbench) -> None:
        telling = asyncio.create_task(tell_of_agents(workbench, self._changes))
        used_at = monotonic()
        while monotonic() - used_at < IDLE_SECONDS:
            await asyncio.sleep(IDLE_SECONDS / 4)
            if self.users or ((live := workbench.runs.live_runs()) and not all_wait(live)):
                used_at = monotonic()
        telling.cancel()
        await self.close()
