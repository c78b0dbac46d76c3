"""The composition root: builds every part once and hands them to whoever serves them."""

import asyncio
import logging
import os
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from app import __version__, paths
from app.domain.agents import Agent, Behaviour, new_agent
from app.domain.errors import WorkbenchError
from app.domain.settings import Preferences, SetupProgress
from app.domain.tool_settings import StdioTransport
from app.domain.values import Value
from app.engine.by_hand import HandCalls
from app.engine.chat import Chat
from app.engine.clock import SystemClock
from app.engine.compare import Compare
from app.engine.idempotency import Idempotency
from app.engine.jobs import Jobs
from app.engine.keys import Keys
from app.engine.last_calls import LastCalls
from app.engine.pauses import Pauses
from app.engine.queue import Queue
from app.engine.runs import Runs
from app.engine.working_copies import WorkingCopies
from app.llm.catalog import Catalog
from app.llm.choices import Choices
from app.llm.demo.model import HUMAN_PACE
from app.llm.directory import ModelDirectory
from app.llm.lookup import Lookup
from app.store.agents import Agents
from app.store.artifacts import Artifacts
from app.store.comparisons import Comparisons
from app.store.folder import DataFolder
from app.store.preferences import PreferencesStore
from app.store.removed_runs import RemovedRuns
from app.store.retention import Retention
from app.store.rows import Rows
from app.store.search import Search
from app.store.sessions import Sessions
from app.store.variable_sets import VariableSets
from app.tools.built_in import BuiltInTools
from app.tools.http_tools import HttpToolSource
from app.tools.mcp.hub import McpHub
from app.tools.registry import Registry
from app.tools.user_tools.folder import UserTools

if TYPE_CHECKING:
    from app.domain.providers import ProviderSettings
    from app.engine.forks import Forks
    from app.export.exports import Exports
    from app.llm.doctor import Doctor
    from app.llm.nearby import Nearby
    from app.llm.provider_desk import ProviderDesk
    from app.store.provider_keys import ProviderKeys
    from app.store.provider_settings import ProviderSettingsStore

log = logging.getLogger(__name__)


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

    def asking(self, model: str) -> Self:
        """The same with another model."""
        return self.model_copy(update={"behaviour": self.behaviour.model_copy(update={"model": model})})


@dataclass
class Workbench:
    data: DataFolder
    agents: Agents
    working_copies: WorkingCopies
    variable_sets: VariableSets
    sessions: Sessions
    comparisons: Comparisons
    rows: Rows
    search: Search
    removed_runs: RemovedRuns
    retention: Retention
    artifacts: Artifacts
    preferences: PreferencesStore
    lookup: Lookup
    models: ModelDirectory
    catalog: Catalog
    choices: Choices
    tools: Registry
    built_in_tools: BuiltInTools
    user_tools: UserTools
    http_tools: HttpToolSource
    mcp: McpHub
    hand_calls: HandCalls
    idempotency: Idempotency
    keys: Keys
    last_calls: LastCalls
    runs: Runs
    chat: Chat
    queue: Queue
    pauses: Pauses
    compare: Compare
    jobs: Jobs
    version: str

    @classmethod
    def open(cls, folder: Path, *, trust_tools: bool = False, demo_pace: float = HUMAN_PACE) -> Self:
        """Everything over that data folder. Raises `StorageError` in words when it cannot be used.

        With `trust_tools` every file in its tools folder may run without its owner being asked. `demo_pace` is in
        seconds for a token of the demo model.
        """
        data = DataFolder.open(folder)
        catalog = Catalog()
        lookup = Lookup(data)

        async def ready() -> None:
            await data.provider_keys.ready()

        def saved() -> "list[ProviderSettings]":
            return data.providers.all()

        models = ModelDirectory(catalog, data.artifacts.get, keys=lookup, ready=ready, pace=demo_pace)
        user_tools = UserTools(data.path / "tools", data.trusted_files, trust_all=trust_tools)
        http_tools = HttpToolSource(data.http_tools)
        mcp = McpHub(data.mcp_servers, version=__version__)
        built_in = BuiltInTools(data.preferences.get, partial(tool_variables, data))
        tools = Registry((), sources=(built_in, user_tools, http_tools, mcp), settings=data.tool_settings)
        hand_calls = HandCalls(tools, data.artifacts)
        search = Search(data.path / "cache", data.rows, data.traces)
        runs = Runs(
            *(data.traces, data.rows, models, tools, data.artifacts, SystemClock()),
            day_ceiling=lambda: data.preferences.get().day_cost,
            search=search,
        )
        runs.on_end.append(lambda live: search.take(live.run_id, live.entries))
        chat = Chat(data.agents, data.sessions, runs, tools)
        keys = Keys(data.api_keys, data.agents, SystemClock())
        return cls(
            data=data,
            agents=data.agents,
            working_copies=WorkingCopies(data.working_copies),
            variable_sets=data.variable_sets,
            sessions=data.sessions,
            comparisons=data.comparisons,
            rows=data.rows,
            search=search,
            removed_runs=RemovedRuns(data.rows, data.sessions, data.traces, search),
            retention=Retention(data.rows, data.sessions, lambda: [live.run_id for live in runs.live_runs()]),
            artifacts=data.artifacts,
            preferences=data.preferences,
            lookup=lookup,
            models=models,
            catalog=catalog,
            choices=Choices(catalog, lookup, saved, ready),
            tools=tools,
            built_in_tools=built_in,
            user_tools=user_tools,
            http_tools=http_tools,
            mcp=mcp,
            hand_calls=hand_calls,
            idempotency=Idempotency(data.sent_requests, runs),
            keys=keys,
            last_calls=LastCalls(hand_calls),
            runs=runs,
            chat=chat,
            queue=Queue(chat),
            pauses=Pauses(chat),
            compare=Compare(chat, data.sessions, data.comparisons, runs),
            jobs=Jobs(chat, keys.may_use),
            version=__version__,
        )

    @cached_property
    def exports(self) -> "Exports":
        """Runs as files, and back; made when it is first asked for."""
        from app.export.exports import Exports  # noqa: PLC0415  a start reads none of the formats
        from app.export.importing import Importing  # noqa: PLC0415

        stores = (self.data.traces, self.rows, self.sessions, self.artifacts, self.agents)
        importing = Importing(*stores, taken_in=self.search.look_again)
        return Exports(self.runs, self.artifacts, self.secrets, app=self.version, importing=importing)

    def secrets(self) -> list[str]:
        """The keys that may be in no export and no log, as of now."""
        from app.export.known import known_secrets  # noqa: PLC0415  see `exports`

        transports = [server.transport for server in self.data.mcp_servers.all()]
        named = [one.env if isinstance(one, StdioTransport) else one.headers for one in transports]
        return known_secrets(self.data.path, os.environ, *named, values=self.provider_keys.values())

    async def start(self) -> None:
        """Begin to follow tool files and MCP servers; plant the sample agents on the very first start."""
        await self.user_tools.start()
        await self.mcp.start()
        if self.data.first_start:  # one that was deleted later stays deleted
            for sample in _samples("agents"):
                await self.agents.create(sample.agent(self.agents.slugs()))
            await self.preferences.save(Preferences(setup=SetupProgress(offered=True)))

    @property
    def providers(self) -> "ProviderSettingsStore":
        """What was set for providers of models."""
        return self.data.providers

    @property
    def provider_keys(self) -> "ProviderKeys":
        """Their keys that were saved."""
        return self.data.provider_keys

    @cached_property
    def provider_desk(self) -> "ProviderDesk":
        """What is set for each provider, and the ways to change it."""
        from app.llm.provider_desk import ProviderDesk  # noqa: PLC0415  a start needs none of it

        return ProviderDesk(self.providers, self.provider_keys, self.lookup)

    @cached_property
    def nearby(self) -> "Nearby":
        """Looks for servers of models on this machine when somebody wants it to."""
        from app.llm.nearby import Nearby  # noqa: PLC0415  a start needs none of it

        return Nearby(self.provider_desk, self.lookup)

    @cached_property
    def doctor(self) -> "Doctor":
        """Finds out why a provider does not work."""
        from app.llm.doctor import Doctor  # noqa: PLC0415  a start needs none of it

        return Doctor(self.lookup, self.models.open, self.provider_keys.ready)

    @cached_property
    def forks(self) -> "Forks":
        """Runs gone on with from one of their steps, and replayed."""
        from app.engine.forks import Forks  # noqa: PLC0415  a start needs none of it

        return Forks(self.agents, self.sessions, self.runs, self.tools)

    def templates(self) -> tuple[SampleAgent, ...]:
        """What a new agent may begin as, the blank one first; with the model that was chosen for new agents."""
        model = self.preferences.get().default_model
        samples = _samples("templates")
        return tuple(sample.asking(model) for sample in samples) if model else samples

    async def warm(self) -> None:
        """Make beside the event loop what a start does not need but the first run does."""
        from app.engine.lost_runs import LostRuns  # noqa: PLC0415  see `exports`

        await self.data.warm()
        await self.provider_keys.ready()
        await self.removed_runs.remove()
        await LostRuns(self.chat, self.data.traces.ids, self.rows.knows).find()
        await self._forget_old_runs()
        self.search.start()
        await asyncio.to_thread(self.built_in_tools.tools)

    async def _forget_old_runs(self) -> None:
        """Delete what its owner wants to keep no longer; it can be brought back until the next start."""
        wanted = self.preferences.get()
        if not (wanted.keep_days or wanted.keep_runs):
            return
        try:
            expired = await self.retention.looked_through(days=wanted.keep_days, runs=wanted.keep_runs)
            await self.retention.remove(expired)
        except WorkbenchError as problem:
            log.warning("Old runs could not be deleted: %s", problem)

    async def close(self) -> None:
        await self.runs.close()
        await self.search.close()
        await self.queue.close()
        await self.hand_calls.close()
        await self.keys.close()
        await self.tools.close()
        await self.working_copies.close()
        await self.data.close()


def tool_variables(data: DataFolder) -> dict[str, str]:
    """The environment, and the keys for searching the web that were saved where it has none."""
    saved = {f"{name.upper()}_API_KEY": data.provider_keys.get(f"{name}:key") for name in ("brave", "tavily")}
    return saved | dict(os.environ)


@cache
def _samples(folder: str) -> tuple[SampleAgent, ...]:
    """The agents in that folder of the assets, by file name."""
    found = sorted((paths.assets() / folder).glob("*.json"))
    return tuple(SampleAgent.model_validate_json(path.read_bytes()) for path in found)
