"""The MCP servers that somebody added."""

from collections.abc import Callable

from app.domain.tool_settings import McpServer
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents


class McpServers:
    def __init__(self, database: JournalDB) -> None:
        self._documents = Documents(database, "mcp_servers", McpServer, noun="MCP server")

    def all(self) -> list[McpServer]:
        """Every server, by name."""
        return sorted(self._documents.values(), key=lambda server: server.name.casefold())

    def get(self, name: str) -> McpServer:
        """Raises `NotFound`."""
        return self._documents.get(name)

    async def create(self, server: McpServer) -> McpServer:
        """Raises `Conflict` where the name is taken."""
        return await self._documents.create(server.name, server)

    async def save(self, server: McpServer) -> McpServer:
        return await self._documents.save(server.name, server)

    async def change(self, name: str, change: Callable[[McpServer], McpServer]) -> McpServer:
        """Apply `change` to the newest state and store it; returns what was stored."""
        return await self._documents.change(name, change)

    async def delete(self, name: str) -> None:
        await self._documents.remove(name)
