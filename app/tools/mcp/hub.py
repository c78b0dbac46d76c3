"""The MCP servers that somebody added, as one source of tools."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from app.domain.errors import Conflict, NotFound
from app.domain.tool_settings import McpServer
from app.domain.tools import CallContext, ToolOutput, ToolSpec, canonical_name
from app.tools.mcp.doctor import examined
from app.tools.mcp.keeper import Keeper
from app.tools.mcp.naming import checked_server_name
from app.tools.mcp.states import Finding, Patience, ServerState
from app.tools.ports import McpServers, RunnableTool


class McpHub:
    """Every server in the hands of its own keeper; nothing is started before its owner agreed to the exact command."""

    title = "MCP servers"

    def __init__(self, servers: McpServers, *, version: str, patience: Patience | None = None) -> None:
        """`version` is the app's, which servers are told."""
        self._servers = servers
        self._version = version
        self._patience = patience or Patience()
        self._keepers: dict[str, Keeper] = {}
        self._revision = 0

    @property
    def revision(self) -> int:
        """Goes up with every change of a status or a tool."""
        return self._revision

    async def start(self) -> None:
        """Connect the servers that are switched on and agreed to, in the background."""
        for server in self._servers.all():
            self._keep(server).start()

    async def close(self) -> None:
        """End every server."""
        await asyncio.gather(*(keeper.end() for keeper in self._keepers.values()))

    def states(self) -> tuple[ServerState, ...]:
        """Of every server, by name."""
        return tuple(self._keepers[name].state for name in sorted(self._keepers, key=str.casefold))

    def tools(self) -> Mapping[str, RunnableTool]:
        """The tools that were agreed to, also of a server that is just being connected."""
        return {
            spec.name: McpTool(spec, keeper)
            for keeper in sorted(self._keepers.values(), key=lambda one: one.server.name.casefold())
            for spec in keeper.tools
        }

    def hold(self) -> Callable[[], None]:
        """Nothing has to be kept: a tool calls its server as it is connected now."""
        return _nothing

    async def add(self, server: McpServer) -> None:
        """Store a server; it is started once it is agreed to. Raises `Conflict`, or `WorkbenchError` for its name."""
        checked_server_name(server.name)
        for name in self._keepers:
            if canonical_name(name).casefold() == canonical_name(server.name).casefold():
                raise Conflict(f"There is an MCP server {name!r} already. Choose another name.")
        stored = await self._servers.create(server.model_copy(update={"consented": "", "seen_tools": None}))
        self._keep(stored)
        self._moved()

    async def remove(self, name: str) -> None:
        """End the server and forget it."""
        await self._keeper(name).end()
        await self._servers.delete(name)
        self._keepers.pop(name, None)
        self._moved()

    async def enable(self, name: str, enabled: bool) -> None:
        await self._update(name, lambda server: server.model_copy(update={"enabled": enabled}))

    async def consent(self, name: str) -> None:
        """Agree to the command or address as it is now, and connect."""
        await self._update(name, lambda server: server.model_copy(update={"consented": server.transport.digest}))

    async def change(self, server: McpServer) -> None:
        """Take over transport and switch; another transport has to be agreed to again."""
        settings = {"transport": server.transport, "enabled": server.enabled}
        await self._update(server.name, lambda stored: stored.model_copy(update=settings))

    async def accept_changes(self, name: str) -> None:
        """Agree to the tools as the server lists them now."""
        await self._keeper(name).accept_changes()

    async def reconnect(self, name: str) -> None:
        """Connect at once, though it is connected or waits for its next try."""
        await self._keeper(name).reconnect()

    def doctor(self, name: str) -> AsyncIterator[Finding]:
        """What works and what does not, step by step, tried over a connection of its own."""
        return examined(self._keeper(name).server, self._version, seconds=self._patience.handshake)

    async def _update(self, name: str, change: Callable[[McpServer], McpServer]) -> None:
        keeper = self._keeper(name)
        await keeper.become(await self._servers.change(name, change))

    def _keeper(self, name: str) -> Keeper:
        if name not in self._keepers:
            raise NotFound(f"There is no MCP server {name!r}.")
        return self._keepers[name]

    def _keep(self, server: McpServer) -> Keeper:
        keeper = Keeper(
            server, servers=self._servers, version=self._version, patience=self._patience, moved=self._moved
        )
        self._keepers[server.name] = keeper
        return keeper

    def _moved(self) -> None:
        self._revision += 1


@dataclass(frozen=True)
class McpTool:
    """A tool of a server."""

    spec: ToolSpec
    keeper: Keeper

    async def run(self, arguments: Mapping[str, JsonValue], context: CallContext) -> ToolOutput:
        """Raises `ToolError`. Cancelling it cancels the call at the server."""
        return await self.keeper.call(self.spec.name, arguments, context)


def _nothing() -> None:
    return None
