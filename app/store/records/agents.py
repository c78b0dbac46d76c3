"""The agents, also those that were deleted: their runs still name them, and a deletion can be undone."""

from collections.abc import Callable

from app.domain.agents import Agent
from app.domain.errors import Conflict, NotFound
from app.domain.values import now
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents


class Agents:
    def __init__(self, database: JournalDB) -> None:
        self._documents = Documents(database, "agents", Agent, noun="agent")

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

    def get(self, agent_id: str) -> Agent:
        """Also a deleted one; raises `NotFound`."""
        return self._documents.get(agent_id)

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

    async def create(self, agent: Agent) -> Agent:
        """Store a new agent; raises `Conflict` where its slug is taken."""
        if agent.slug in self.slugs():
            raise Conflict(f"The slug {agent.slug!r} is taken by another agent. Choose another name.")
        return await self._documents.create(agent.id, agent)

    async def change(self, agent_id: str, change: Callable[[Agent], Agent]) -> Agent:
        """Apply `change` to the newest state and store it; returns what was stored."""
        return await self._documents.change(agent_id, change)

    async def replace(self, agent: Agent, expected_revision: int) -> Agent:
        """Store the agent over that revision; raises `Conflict` when somebody else was faster."""
        return await self._documents.replace(agent.id, agent, expected_revision=expected_revision)

    async def delete(self, agent_id: str) -> Agent:
        """Take it out of the lists; its runs stay, and `restore` brings it back."""
        return await self.change(agent_id, lambda agent: agent.model_copy(update={"deleted_at": now()}))

    async def restore(self, agent_id: str) -> Agent:
        return await self.change(agent_id, lambda agent: agent.model_copy(update={"deleted_at": None}))
