"""Arguments of tools that somebody keeps for calls by hand."""

from app.domain.tool_settings import SavedCall
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents


class SavedCalls:
    def __init__(self, database: JournalDB) -> None:
        self._documents = Documents(database, "saved_calls", SavedCall, noun="saved call")

    def of(self, tool: str) -> list[SavedCall]:
        """The tool's saved calls, the newest first."""
        own = (found for found in self._documents.values() if found.tool == tool)
        return sorted(own, key=lambda found: found.created_at, reverse=True)

    async def save(self, call: SavedCall) -> None:
        await self._documents.save(call.id, call)

    async def delete(self, call_id: str) -> None:
        await self._documents.remove(call_id)
