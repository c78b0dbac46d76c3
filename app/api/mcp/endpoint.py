"""Agents as tools over streamable HTTP: made with the first request, which reads the MCP library."""

import asyncio
from collections.abc import Collection

from starlette.types import Receive, Scope, Send

from app.late import late, read
from app.workbench import Workbench

with late():
    from app.api.mcp import sessions


class McpEndpoint:
    """An ASGI app that answers at one address. Close it with the app."""

    def __init__(self, workbench: Workbench, authorities: Collection[str]) -> None:
        """`authorities` are what `Host` may say."""
        self._workbench = workbench
        self._authorities = tuple(authorities)
        self._making = asyncio.Lock()
        self._sessions: sessions.McpSessions | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._sessions is None:
            await self._start()
        if self._sessions is not None:
            await self._sessions.answer(scope, receive, send)

    async def close(self) -> None:
        """End all sessions."""
        if self._sessions is not None:
            await self._sessions.close()

    async def _start(self) -> None:
        async with self._making:
            if self._sessions is None:
                await asyncio.to_thread(read, sessions)
                made = sessions.McpSessions(self._workbench, self._authorities)
                await made.start()
                self._sessions = made
