"""The composition root: builds every part once and hands them to whoever serves them."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

from app import __version__, paths
from app.domain.agents import Agent, Behaviour, new_agent
from app.domain.values import Value
from app.engine.by_hand import HandCalls
from app.engine.chat import Chat
from app.engine.clock import SystemClock
from app.engine.compare import Compare
from app.engine.last_calls import LastCalls
from app.engine.pauses import Pauses
from app.engine.queue import Queue
from app.engine.runs import Runs
from app.engine.working_copies import WorkingCopies
from app.llm.catalog import Catalog
from app.llm.directory import ModelDirectory
from app.store.agents import Agents
from app.store.artifacts import Artifacts
from app.store.comparisons import Comparisons
from app.store.folder import DataFolder
from app.store.preferences import PreferencesStore
from app.store.rows import Rows
from app.store.sessions import Sessions
from app.store.variable_sets import VariableSets
from app.tools.built_in import BuiltInTools
from app.tools.http_tools import HttpToolSource
from app.tools.mcp.hub import McpHub
from app.tools.registry import Registry
from app.tools.user_tools.folder import UserTools


class SampleAgent(Value):
    """An agent as `assets/agents` and `assets/templates` describe it."""

    name: str
    description: str
    icon: str
    examples: tuple[str, ...]
    behaviour: Behaviour

    def agent(self, taken_slugs: Collection[str], name: str = "") -> Agent:
        """A new agent like this, under that name or its own."""
        return new_agent(
            name.strip() or self.name,
            self.behaviour,
            taken_slugs=taken_slugs,
            description=self.description,
            icon=self.icon,
            examples=self.examples,
        )


@dataclass
class Workbench:
    data: DataFolder
    agents: Agents
    working_copies: WorkingCopies
    variable_sets: VariableSets
    sessions: Sessions
    comparisons: Comparisons
    rows: Rows
    artifacts: Artifacts
    preferences: PreferencesStore
    models: ModelDirectory
    catalog: Catalog
    tools: Registry
    built_in_tools: BuiltInTools
    user_tools: UserTools
    http_tools: HttpToolSource
    mcp: McpHub
    hand_calls: HandCalls
    last_calls: LastCalls
    runs: Runs
    chat: Chat
    queue: Queue
    pauses: Pauses
    compare: Compare
    version: str

    @classmethod
    def open(cls, folder: Path, *, trust_tools: bool = False) -> Self:
        """Everything over that data folder. Raises `StorageError` in words when it cannot be used.

        With `trust_tools` every file in its tools folder may run without its owner being asked.
        """
        data = DataFolder.open(folder)
        catalog = Catalog()
        models = ModelDirectory(catalog, data.artifacts.get)
        user_tools = UserTools(data.path / "tools", data.trusted_files, trust_all=trust_tools)
        http_tools = HttpToolSource(data.http_tools)
        mcp = McpHub(data.mcp_servers, version=__version__)
        built_in = BuiltInTools(data.preferences.get)
        tools = Registry((), sources=(built_in, user_tools, http_tools, mcp), settings=data.tool_settings)
        hand_calls = HandCalls(tools, data.artifacts)
        runs = Runs(
            *(data.traces, data.rows, models, tools, data.artifacts, SystemClock()),
            day_ceiling=lambda: data.preferences.get().day_cost,
        )
        chat = Chat(data.agents, data.sessions, runs, tools)
        return cls(
            data=data,
            agents=data.agents,
            working_copies=WorkingCopies(data.working_copies),
            variable_sets=data.variable_sets,
            sessions=data.sessions,
            comparisons=data.comparisons,
            rows=data.rows,
            artifacts=data.artifacts,
            preferences=data.preferences,
            models=models,
            catalog=catalog,
            tools=tools,
            built_in_tools=built_in,
            user_tools=user_tools,
            http_tools=http_tools,
            mcp=mcp,
            hand_calls=hand_calls,
            last_calls=LastCalls(hand_calls),
            runs=runs,
            chat=chat,
            queue=Queue(chat),
            pauses=Pauses(chat),
            compare=Compare(chat, data.sessions, data.comparisons, runs),
            version=__version__,
        )

    async def start(self) -> None:
        """Begin to follow tool files and MCP servers; plant the sample agents on the very first start."""
        await self.user_tools.start()
        await self.mcp.start()
        if self.data.first_start:  # one that was deleted later stays deleted
            for sample in _samples("agents"):
                await self.agents.create(sample.agent(self.agents.slugs()))

    def templates(self) -> tuple[SampleAgent, ...]:
        """What a new agent may begin as, the blank one first."""
        return _samples("templates")

    async def warm(self) -> None:
        """Make beside the event loop what a start does not need but the first run does."""
        await self.data.warm()
        await asyncio.to_thread(self.built_in_tools.tools)

    async def close(self) -> None:
        await self.runs.close()
        await self.queue.close()
        await self.hand_calls.close()
        await self.tools.close()
        await self.working_copies.close()
        await self.data.close()


@cache
def _samples(folder: str) -> tuple[SampleAgent, ...]:
    """The agents in that folder of the assets, by file name."""
    found = sorted((paths.assets() / folder).glob("*.json"))
    return tuple(SampleAgent.model_validate_json(path.read_bytes()) for path in found)
