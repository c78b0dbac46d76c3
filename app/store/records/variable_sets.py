"""Named values for the agents' variables."""

from app.domain.agents import VariableSet
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents


class VariableSets:
    def __init__(self, database: JournalDB) -> None:
        self._documents = Documents(database, "variable_sets", VariableSet, noun="set of values")

    def of(self, agent_id: str) -> list[VariableSet]:
        """The agent's sets, by name."""
        own = (found for found in self._documents.values() if found.agent_id == agent_id)
        return sorted(own, key=lambda found: (found.name.casefold(), found.id))

    async def save(self, values: VariableSet) -> None:
        """Keep a new set, or another state of one."""
        await self._documents.save(values.id, values)

    async def delete(self, set_id: str) -> None:
        await self._documents.remove(set_id)
