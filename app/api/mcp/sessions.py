"""The sessions of MCP clients, held by one task. Heavy: import it late."""

import asyncio
from collections.abc import Collection

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import HTTPConnection
from starlette.types import Message, Receive, Scope, Send

from app.api.door.caller import caller_of
from app.api.mcp.changes import Changes, tell_of_agents
from app.api.mcp.server import AgentServer, AgentTools
from app.api.mcp.waiting import Patience
from app.workbench import Workbench

LARGEST_BODY = 10 * 1024**2
"""Bytes; the door lets less through from others than the owner."""
MOST_SESSIONS = 100
CLOSE_SECONDS = 0.2
"""The library waits a second for clients that take nothing any more, which no end of the app waits for."""


class McpSessions:
    def __init__(self, workbench: Workbench, authorities: Collection[str], patience: Patience | None = None) -> None:
        """`authorities` are what `Host` may say."""
        self._workbench = workbench
        self._changes = Changes()
        tools = AgentTools(workbench, lambda request: caller_of(_known(request)), patience or Patience(), self._changes)
        self._manager = StreamableHTTPSessionManager(
            AgentServer(tools, self._changes),
            security_settings=TransportSecuritySettings(
                allowed_hosts=list(authorities), allowed_origins=[f"http://{one}" for one in authorities]
            ),
            max_request_body_size=LARGEST_BODY,
            max_sessions=MOST_SESSIONS,
        )
        self._ready = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Return when requests can be answered."""
        self._task = asyncio.create_task(self._hold(), name="MCP sessions")
        await self._ready.wait()

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request; a session is of the caller that began it, and not there for others."""
        token = AccessToken(token="", client_id=caller_of(HTTPConnection(scope)).id, scopes=[])
        going_on = False

        async def told(message: Message) -> None:
            nonlocal going_on
            going_on = message["type"] == "http.response.start" or bool(message.get("more_body"))
            await send(message)

        await self._manager.handle_request({**scope, "user": AuthenticatedUser(token)}, receive, told)
        if going_on:  # the library leaves a stream open that it has nothing more to say on
            await send({"type": "http.response.body", "body": b""})

    async def close(self) -> None:
        """End them all."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=CLOSE_SECONDS)

    async def _hold(self) -> None:
        async with self._manager.run():  # to be entered and left by one task: the library's scopes want that
            self._ready.set()
            await tell_of_agents(self._workbench, self._changes)


def _known(request: object) -> HTTPConnection:
    if not isinstance(request, HTTPConnection):
        raise TypeError(f"No request came with the message, but {request!r}")
    return request
