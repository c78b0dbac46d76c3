"""The composition root: builds every part once and hands them to whoever serves them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from app import __version__, paths
from app.domain.agents import Behaviour, new_agent
from app.domain.values import Value
from app.engine.chat import Chat
from app.engine.clock import SystemClock
from app.engine.runs import Runs
from app.llm.catalog import Catalog
from app.llm.directory import ModelDirectory
from app.store.agents import Agents
from app.store.artifacts import Artifacts
from app.store.folder import DataFolder
from app.store.preferences import PreferencesStore
from app.store.rows import Rows
from app.store.sessions import Sessions
from app.tools.builtin import builtin_registry
from app.tools.registry import Registry


class SampleAgent(Value):
    """An agent as `assets/agents` describes it."""

    name: str
    description: str
    icon: str
    examples: tuple[str, ...]
    behaviour: Behaviour


@dataclass
class Workbench:
    data: DataFolder
    agents: Agents
    sessions: Sessions
    rows: Rows
    artifacts: Artifacts
    preferences: PreferencesStore
    models: ModelDirectory
    catalog: Catalog
    tools: Registry
    runs: Runs
    chat: Chat
    version: str

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Everything over that data folder. Raises `StorageError` in words when it cannot be used."""
        data = DataFolder.open(folder)
        catalog = Catalog()
        models = ModelDirectory(catalog, data.artifacts.get)
        tools = builtin_registry()
        runs = Runs(data.traces, data.rows, models, tools, data.artifacts, SystemClock())
        return cls(
            data=data,
            agents=data.agents,
            sessions=data.sessions,
            rows=data.rows,
            artifacts=data.artifacts,
            preferences=data.preferences,
            models=models,
            catalog=catalog,
            tools=tools,
            runs=runs,
            chat=Chat(data.agents, data.sessions, runs, tools),
            version=__version__,
        )

    async def start(self) -> None:
        """Plant the sample agents on the very first start; one that was deleted later stays deleted."""
        if not self.data.first_start:
            return
        for path in sorted((paths.assets() / "agents").glob("*.json")):
            sample = SampleAgent.model_validate_json(path.read_bytes())
            agent = new_agent(
                sample.name,
                sample.behaviour,
                taken_slugs=self.agents.slugs(),
                description=sample.description,
                icon=sample.icon,
                examples=sample.examples,
            )
            await self.agents.create(agent)

    async def close(self) -> None:
        await self.runs.close()
        await self.tools.close()
        await self.data.close()
