"""What is being changed of the agents and not saved as a variant yet: one working copy for an agent."""

from app.domain.agents import WorkingCopy
from app.domain.errors import NotFound, StorageError
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents


class WorkingCopies:
    def __init__(self, database: JournalDB) -> None:
        self._documents = Documents(database, "working_copies", WorkingCopy, noun="working copy")

    def get(self, agent_id: str) -> WorkingCopy | None:
        """`None` where nothing was changed, or where what was kept cannot be read."""
        try:
            return self._documents.get(agent_id)
        except (NotFound, StorageError):
            return None

    async def save(self, copy: WorkingCopy) -> None:
        """Keep it, in place of the one before."""
        await self._documents.save(copy.agent_id, copy)

    async def drop(self, agent_id: str) -> None:
        """Forget it: it was saved as a variant, or reset."""
        await self._documents.remove(agent_id)
