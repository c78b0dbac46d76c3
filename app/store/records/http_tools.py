"""Tools made from HTTP requests."""

from app.domain.tool_settings import HttpTool
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents


class HttpTools:
    def __init__(self, database: JournalDB) -> None:
        self._documents = Documents(database, "http_tools", HttpTool, noun="HTTP tool")

    def all(self) -> list[HttpTool]:
        """Every tool, by name."""
        return sorted(self._documents.values(), key=lambda tool: tool.name)

    async def create(self, tool: HttpTool) -> HttpTool:
        """Raises `Conflict` where the name is taken."""
        return await self._documents.create(tool.name, tool)

    async def save(self, tool: HttpTool) -> HttpTool:
        return await self._documents.save(tool.name, tool)

    async def delete(self, name: str) -> None:
        await self._documents.remove(name)
