"""The tables of which little is asked; sessions have a file of their own."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from app.domain.agents import Agent, VariableSet, WorkingCopy
from app.domain.comparisons import Comparison
from app.domain.errors import Conflict, NotFound, StorageError
from app.domain.keys import ApiKey
from app.domain.sent_requests import SentRequest
from app.domain.settings import Preferences
from app.domain.tool_settings import HttpTool, McpServer, SavedCall, ToolSetting, TrustedFile
from app.domain.values import alphabetical, now
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents, Keyed, Marks, Removable, Restorable, number

_PREFERENCES = "preferences"
_OFF = ToolSetting(enabled=False)


class Agents(Restorable[Agent]):
    """Also those that were deleted: their runs still name them, and a deletion can be undone."""

    def __init__(self, database: JournalDB) -> None:
        super().__init__(Documents(database, "agents", Agent, noun="agent"), lambda agent: agent.id)
        self._is_warm = False

    async def warm(self) -> None:
        """Read all off the event loop, once, so that the first list of hundreds does not take the loop's time."""
        if not self._is_warm:
            await self._documents.warm()
            await asyncio.to_thread(self.all)
            self._is_warm = True

    def all(self) -> list[Agent]:
        """Those that are not deleted, by name."""
        return sorted(
            (agent for agent in self._documents.values() if agent.deleted_at is None),
            key=lambda agent: (alphabetical(agent.name), agent.slug),
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

    async def change(self, key: str, change: Callable[[Agent], Agent]) -> Agent:
        """Apply `change` to the newest state; what changes more than that it is deleted says when that was."""

        def stamped(agent: Agent) -> Agent:
            after = change(agent)
            is_same = after == agent.model_copy(update={"deleted_at": after.deleted_at})
            return after if is_same else after.model_copy(update={"updated_at": now()})

        return await super().change(key, stamped)

    async def replace(self, agent: Agent, expected_revision: int) -> Agent:
        """Store the agent over that revision; raises `Conflict` when somebody else was faster."""
        return await self._documents.replace(agent.id, agent, expected_revision=expected_revision)


class ApiKeys(Keyed[ApiKey]):
    """Also those that were revoked: runs name them, and who still sends one is told why it opens nothing."""

    def __init__(self, database: JournalDB) -> None:
        super().__init__(Documents(database, "api_keys", ApiKey, noun="key"), lambda key: key.id)

    def all(self) -> list[ApiKey]:
        """The newest first."""
        return sorted(self._documents.values(), key=lambda key: key.created_at, reverse=True)


class SentRequests(Keyed[SentRequest]):
    """The requests of the last day that may be sent again."""

    def __init__(self, database: JournalDB) -> None:
        super().__init__(Documents(database, "sent_requests", SentRequest, noun="request"), lambda request: request.id)

    async def forget(self, before: datetime) -> None:
        """Remove those that were sent earlier."""
        for request in [request for request in self._documents.values() if request.at < before]:
            await self._documents.remove(request.id)


class Comparisons(Restorable[Comparison]):
    def __init__(self, database: JournalDB) -> None:
        documents = Documents(database, "comparisons", Comparison, noun="comparison", marks=_marks)
        super().__init__(documents, lambda comparison: comparison.id)

    def recent(self, limit: int = 50) -> list[Comparison]:
        """By when something last happened in them; deleted ones left out."""
        shown = [document for document in self._documents.documents() if not document.get("deleted")]
        shown.sort(key=lambda document: number(document.get("updated")), reverse=True)
        return list(self._documents.values(shown[:limit]))


def _marks(comparison: Comparison) -> Marks:
    return {"updated": comparison.updated_at.timestamp(), "deleted": comparison.deleted_at is not None}


class WorkingCopies(Removable[WorkingCopy]):
    """What is being changed of the agents and not saved as a variant yet: one working copy for an agent."""

    def __init__(self, database: JournalDB) -> None:
        documents = Documents(database, "working_copies", WorkingCopy, noun="working copy")
        super().__init__(documents, lambda copy: copy.agent_id)

    def find(self, key: str) -> WorkingCopy | None:
        """The agent's: `None` where nothing was changed, or where what was stored cannot be read."""
        try:
            return super().find(key)
        except StorageError:
            return None


class VariableSets(Removable[VariableSet]):
    """Named values for the agents' variables."""

    def __init__(self, database: JournalDB) -> None:
        documents = Documents(database, "variable_sets", VariableSet, noun="set of values")
        super().__init__(documents, lambda values: values.id)

    def of(self, agent_id: str) -> list[VariableSet]:
        """The agent's sets, by name."""
        own = (found for found in self._documents.values() if found.agent_id == agent_id)
        return sorted(own, key=lambda found: (alphabetical(found.name), found.id))


class SavedCalls(Removable[SavedCall]):
    """Arguments of tools that somebody keeps for calls by hand."""

    def __init__(self, database: JournalDB) -> None:
        super().__init__(Documents(database, "saved_calls", SavedCall, noun="saved call"), lambda call: call.id)

    def of(self, tool: str) -> list[SavedCall]:
        """The tool's saved calls, the newest first."""
        own = (found for found in self._documents.values() if found.tool == tool)
        return sorted(own, key=lambda found: found.created_at, reverse=True)


class HttpTools(Removable[HttpTool]):
    """Tools made from HTTP requests."""

    def __init__(self, database: JournalDB) -> None:
        super().__init__(Documents(database, "http_tools", HttpTool, noun="HTTP tool"), lambda tool: tool.name)

    def all(self) -> list[HttpTool]:
        """Every tool, by name."""
        return sorted(self._documents.values(), key=lambda tool: tool.name)


class McpServers(Removable[McpServer]):
    """The MCP servers that somebody added."""

    def __init__(self, database: JournalDB) -> None:
        super().__init__(Documents(database, "mcp_servers", McpServer, noun="MCP server"), lambda server: server.name)

    def all(self) -> list[McpServer]:
        """Every server, by name."""
        return sorted(self._documents.values(), key=lambda server: server.name.casefold())


class TrustedFiles(Removable[TrustedFile]):
    """What their owner decided about tool files, by their absolute paths."""

    def __init__(self, database: JournalDB) -> None:
        super().__init__(Documents(database, "trusted_files", TrustedFile, noun="trusted file"), lambda file: file.path)

    def find(self, key: str) -> TrustedFile | None:
        """`None` where nothing was decided, or where what was stored cannot be read."""
        document = self._documents.stored(key)
        return None if document is None else next(self._documents.values([document]), None)


class ToolSettingStore:
    """Which tools are on, and what models are told of them."""

    def __init__(self, database: JournalDB) -> None:
        self._documents = Documents(database, "tool_settings", ToolSetting, noun="tool setting")
        self.revision = 0
        """Goes up with every change."""

    def get(self, name: str) -> ToolSetting:
        """What was decided about the tool of that name, which is off where that cannot be read."""
        document = self._documents.stored(name)
        return ToolSetting() if document is None else next(self._documents.values([document]), _OFF)

    async def save(self, name: str, setting: ToolSetting) -> None:
        try:
            await self._documents.save(name, setting)
        finally:  # whoever waited for the disk may be gone, and it is so
            self.revision += 1


class PreferencesStore:
    """What a person has set for the whole app: one document."""

    def __init__(self, database: JournalDB) -> None:
        self._documents = Documents(database, "preferences", Preferences, noun="document")

    def get(self) -> Preferences:
        """What is set, and what comes with the app where nothing is or where it cannot be read."""
        try:
            return self._documents.get(_PREFERENCES)
        except (NotFound, StorageError):
            return Preferences()

    async def save(self, preferences: Preferences) -> None:
        await self._documents.save(_PREFERENCES, preferences)
