"""Tells clients that their tools are others: after a promotion, and whenever agents come, go or get other names."""

import asyncio
from collections import OrderedDict

from anyio import BrokenResourceError, ClosedResourceError
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError

from app.workbench import Workbench

LOOK_SECONDS = 1.0
MOST_LISTENERS = 100


class Changes:
    """Clients of the newer protocol listen for it; those of the older one are told because they have listed."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._bus = InMemorySubscriptionBus()
        self._sessions: OrderedDict[str, ServerSession] = OrderedDict()
        self.listen = ListenHandler(self._bus, max_subscriptions=MOST_LISTENERS)

    def listed(self, session_id: str, session: ServerSession) -> None:
        """That session knows the tools as of now."""
        self._sessions[session_id] = session
        self._sessions.move_to_end(session_id)
        while len(self._sessions) > MOST_LISTENERS:
            self._sessions.popitem(last=False)

    async def tell(self) -> None:
        """Tell of every change until it is cancelled."""
        before = self._served()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if (now := self._served()) != before:
                before = now
                await self.changed()

    async def changed(self) -> None:
        """Tell everybody now."""
        await self._bus.publish(ToolsListChanged())
        for session_id, session in list(self._sessions.items()):
            try:
                await session.send_tool_list_changed()
            except (ClosedResourceError, BrokenResourceError, MCPError):
                self._sessions.pop(session_id, None)

    def _served(self) -> tuple[tuple[str, str, str, int], ...]:
        """All that a list of tools is made of: a variant never changes."""
        return tuple((one.slug, one.name, one.description, one.active) for one in self._workbench.agents.all())
