"""The agents, also those that were deleted: their runs still name them, and a deletion can be undone."""

from app.domain.agents import Agent
from app.domain.errors import Conflict, NotFound
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents
from app.store.journal.keyed import Restorable


class Agents(Restorable[Agent]):
    def __init__(self, database: JournalDB) -> None:
        super().__init__(Documents(database, "agents", Agent, noun="agent"), lambda agent: agent.id)

    def all(self) -> list[Agent]:
        """Those that are not deleted, by name."""
        return sorted(
            (agent for agent in self._documents.values() if agent.deleted_at is None),
            key=lambda agent: (agent.name.casefold(), agent.slug),
        )

    def deleted(self) -> list[Agent]:
        """Those that are deleted, the last deleted first."""
        deleted = [(agent.deleted_at, agent) for agent in self._documents.values() if agent.deleted_at is not None]
        return [agent for _, agent in sorted(deleted, key=lambda pair: pair[0], reverse=True)]

    def by_slug(self, slug: str) -> Agent:
        """The agent of that slug that is not deleted; raises `NotFound`, which names those there are."""
        agents = {agent.slug: agent for agent in self.all()}
        if slug in agents:
            return agents[slug]
        known = ", ".join(sorted(agents)) or "none yet"
        raise NotFound(f"There is no agent {slug!r}. Agents: {known}.")

    def slugs(self) -> set[str]:
        """All slugs that are taken, those of deleted agents included."""
        return {agent.slug for agent in self._documents.values()}

    def revision(self, agent_id: str) -> int:
        return self._documents.revision(agent_id)

    async def create(self, value: Agent) -> Agent:
        """Store a new agent; raises `Conflict` where its slug is taken."""
        if value.slug in self.slugs():
            raise Conflict(f"The slug {value.slug!r} is taken by another agent. Choose another name.")
        return await super().create(value)

    async def replace(self, agent: Agent, expected_revision: int) -> Agent:
        """Store the agent over that revision; raises `Conflict` when somebody else was faster."""
        return await self._documents.replace(agent.id, agent, expected_revision=expected_revision)
