"""Tells clients that their tools are others: after a promotion, and whenever agents come, go or get other names."""

import asyncio
from collections import OrderedDict
from typing import Any

from anyio import BrokenResourceError, ClosedResourceError
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from starlette.requests import HTTPConnection

from app.workbench import Workbench

Context = ServerRequestContext[dict[str, Any], Any]
LOOK_SECONDS = 1.0
SESSION_ID = "mcp-session-id"
MOST_LISTENERS = 100


class Changes:
    """Clients of the newer protocol listen for it; those of the older one are told because they have listed."""

    def __init__(self) -> None:
        self._bus = InMemorySubscriptionBus()
        self._sessions: OrderedDict[str, ServerSession] = OrderedDict()
        self.listen = ListenHandler(self._bus, max_subscriptions=MOST_LISTENERS)

    def listed(self, context: Context) -> None:
        """That client knows the tools as of now."""
        request = context.request
        session_id = request.headers.get(SESSION_ID) if isinstance(request, HTTPConnection) else "stdio"
        if session_id is None:  # each request of the newer protocol stands alone
            return
        self._sessions[session_id] = context.session
        self._sessions.move_to_end(session_id)
        while len(self._sessions) > MOST_LISTENERS:
            self._sessions.popitem(last=False)

    async def changed(self) -> None:
        """Tell everybody now."""
        await self._bus.publish(ToolsListChanged())
        for session_id, session in list(self._sessions.items()):
            try:
                await session.send_tool_list_changed()
            except (ClosedResourceError, BrokenResourceError, MCPError):
                self._sessions.pop(session_id, None)


async def tell_of_agents(workbench: Workbench, changes: Changes) -> None:
    """Tell of every change of the workbench's agents until it is cancelled."""
    before = _served(workbench)
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if (now := _served(workbench)) != before:
            before = now
            await changes.changed()


def _served(workbench: Workbench) -> tuple[tuple[str, str, str, int], ...]:
    """All that a list of tools is made of: a variant never changes."""
    return tuple((one.slug, one.name, one.description, one.active) for one in workbench.agents.all())
