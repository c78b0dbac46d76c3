"""The composition root: every part over one data folder, made when it is first asked for."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Self

from app import __version__
from app.domain.settings import Preferences, SetupProgress
from app.late import late, late_part
from app.llm.demo import HUMAN_PACE
from app.store.folder.folder import DataFolder
from app.workbench.known_secrets import KnownSecrets
from app.workbench.models import ModelParts

with late():
    import app.engine.by_hand
    import app.engine.experiments.cells
    import app.engine.experiments.collecting
    import app.engine.experiments.experimenting
    import app.engine.experiments.gating
    import app.engine.experiments.handing
    import app.engine.experiments.judging
    import app.engine.experiments.matrices
    import app.engine.experiments.planning
    import app.engine.experiments.reviewing
    import app.engine.experiments.scoring
    import app.engine.experiments.suggesting
    import app.engine.forks.forks
    import app.engine.keys
    import app.engine.run.stopwatch
    import app.engine.running
    import app.engine.runs.runs
    import app.engine.sessions.chat
    import app.engine.sessions.compare
    import app.engine.sessions.idempotency
    import app.engine.sessions.jobs
    import app.engine.sessions.lost_runs
    import app.engine.sessions.pauses
    import app.engine.sessions.queue
    import app.engine.sessions.views
    import app.engine.sessions.working_copies
    import app.export.datasets.dataset_files
    import app.export.exports
    import app.export.importing
    import app.export.session_exports
    import app.store.contents.contents
    import app.store.keys.sign_ins
    import app.store.records.evals
    import app.store.runs.removed_experiments
    import app.store.runs.retention
    import app.store.runs.rows
    import app.store.runs.search
    import app.store.runs.session_search
    import app.tools.built_in
    import app.tools.expressions
    import app.tools.http.secret_refs
    import app.tools.http.tools
    import app.tools.mcp.hub
    import app.tools.registry
    import app.tools.user_tools.folder
    import app.tools.user_tools.scorer_files
    import app.workbench.cluster.dask_workers
    import app.workbench.maintenance
    import app.workbench.samples
    import app.workbench.tool_variables


class Workbench(ModelParts):
    """Whoever serves it asks it for its parts; what nobody asks for is not even read."""

    version = __version__

    def __init__(self, data: DataFolder, *, trust_tools: bool, demo_pace: float) -> None:
        """Use `open`: this takes over an open folder."""
        super().__init__(data, demo_pace=demo_pace)
        self.agents = data.agents
        self.variable_sets = data.variable_sets
        self.sessions = data.sessions
        self.comparisons = data.comparisons
        self.scores = data.scores
        self.preferences = data.preferences
        self.origin_of_contents: Callable[[], str] = str
        """Says where contents are served for pages, and sees to it; set by whoever serves the pages."""
        self.access_token = self.origin = ""
        """What the printed address carries until the app ends, and that of the pages; set likewise."""
        self.trusts_tools = trust_tools
        data.keep_out(lambda: self.known.now().said)

    @classmethod
    def open(cls, folder: Path, *, trust_tools: bool = False, demo_pace: float = HUMAN_PACE) -> Self:
        """Everything over that data folder. Raises `StorageError` in words when it cannot be used.

        With `trust_tools` every file in its tools folder may run without its owner being asked. `demo_pace` is in
        seconds for a token of the demo model.
        """
        return cls(DataFolder.open(folder), trust_tools=trust_tools, demo_pace=demo_pace)

    async def start(self) -> None:
        """Begin to follow tool files and MCP servers; plant the sample agents on the very first start.

        Over data that is only looked at none of this begins.
        """
        if self.data.read_only:
            return
        await self.user_tools.start()
        if self.data.mcp_servers.all():
            await self.mcp.start()
        if self.data.first_start:  # one that was deleted later stays deleted
            await app.workbench.samples.plant(self.agents)
            await self.preferences.save(Preferences(setup=SetupProgress(offered=True)))

    async def plant(self) -> None:
        """Keep the sample datasets, on the very first start: nobody asks for them on the first page."""
        if self.data.first_start and not self.data.read_only and not self.datasets.slugs():
            await app.workbench.samples.plant_datasets(self.collecting)

    async def warm(self) -> None:
        """Make off the event loop what a start does not need but the first run does."""
        await self.data.warm()
        await self.data.provider_keys.ready()
        await asyncio.to_thread(lambda: (self.search, self.jobs, self.queue, self.pauses, self.built_in_tools.tools()))
        if not self.data.read_only:
            await self._maintain()
        self.search.start()

    async def _maintain(self) -> None:
        servers, tools = self.data.mcp_servers, self.data.http_tools
        await app.workbench.maintenance.run_maintenance(
            partial(app.workbench.maintenance.settle_experiments, self.experiments, lambda: self.experimenting),
            self.removed_experiments.remove,
            self.removed_runs.remove,
            app.engine.sessions.lost_runs.LostRuns(self.chat, self.data.traces.ids, self.rows.knows).find,
            partial(app.workbench.maintenance.forget_old_runs, self.preferences, lambda: self.retention),
            partial(app.workbench.maintenance.forget_uploads, self.data, lambda: self.provider_files),
            partial(
                app.workbench.maintenance.seal_secrets,
                self.data,
                lambda: [*([self.mcp] if servers.all() else []), *([self.http_tools] if tools.all() else [])],
            ),
        )

    async def close(self) -> None:
        """End the parts that were made, the runs first; then give the data folder back, whatever a part raises."""
        made = vars(self)
        async with AsyncExitStack() as closing:  # the last one first
            closing.push_async_callback(self.data.close)
            tools = ("tools",) if "tools" in made else ("user_tools", "mcp")  # the registry ends them too
            running = ("_running", "experimenting", "suggesting")
            others = ("sign_ins", "keys", "hand_calls", "scorer_files", "search", "provider_files", *running)
            for part in ("working_copies", *tools, *others):
                if part in made:
                    closing.push_async_callback(made[part].close)

    @late_part
    def _running(self) -> "app.engine.running.Running":
        clock = app.engine.run.stopwatch.SystemClock()
        runs = app.engine.runs.runs.Runs(
            *(self.data.traces, self.rows, self.models, self.tools, self.artifacts, clock),
            day_ceiling=lambda: self.preferences.get().day_cost,
            search=self.search,
            redactions=self.known.ready,
        )
        runs.on_end.append(lambda live: self.search.take(live.run_id, live.entries))
        runs.starting.tool_share = lambda: self.preferences.get().tool_percent / 100
        parts = (self.agents, self.sessions, self.tools, self.mcp.app_server)
        return app.engine.running.Running.of(runs, *parts, may_use=self.keys.may_use, may_vary=self.keys.may_vary)

    @late_part
    def runs(self) -> "app.engine.runs.runs.Runs":
        return self._running.runs

    @late_part
    def chat(self) -> "app.engine.sessions.chat.Chat":
        return self._running.chat

    @late_part
    def queue(self) -> "app.engine.sessions.queue.Queue":
        return self._running.queue

    @late_part
    def pauses(self) -> "app.engine.sessions.pauses.Pauses":
        return self._running.pauses

    @late_part
    def views(self) -> "app.engine.sessions.views.Views":
        return self._running.views

    @late_part
    def jobs(self) -> "app.engine.sessions.jobs.Jobs":
        return self._running.jobs

    @late_part
    def compare(self) -> "app.engine.sessions.compare.Compare":
        return app.engine.sessions.compare.Compare(self.chat, self.sessions, self.comparisons, self.runs, self.scores)

    @late_part
    def forks(self) -> "app.engine.forks.forks.Forks":
        """Runs gone on with from one of their steps, and replayed."""
        return app.engine.forks.forks.Forks(self.agents, self.sessions, self.runs, self.tools)

    @late_part
    def idempotency(self) -> "app.engine.sessions.idempotency.Idempotency":
        return app.engine.sessions.idempotency.Idempotency(self.data.sent_requests, self.runs)

    @late_part
    def working_copies(self) -> "app.engine.sessions.working_copies.WorkingCopies":
        return app.engine.sessions.working_copies.WorkingCopies(self.data.working_copies)

    def templates(self) -> "tuple[app.workbench.samples.SampleAgent, ...]":
        """What a new agent may begin as, the blank one first; with the model that was chosen for new agents."""
        model = self.preferences.get().default_model
        found = app.workbench.samples.samples("templates")
        return tuple(sample.asking(model) for sample in found) if model else found

    # Tools.

    @late_part
    def tools(self) -> "app.tools.registry.Registry":
        sources = (self.built_in_tools, self.user_tools, self.http_tools, self.mcp)
        return app.tools.registry.Registry((), sources=sources, settings=self.data.tool_settings)

    @late_part
    def built_in_tools(self) -> "app.tools.built_in.BuiltInTools":
        variables = app.workbench.tool_variables.tool_variables
        return app.tools.built_in.BuiltInTools(self.preferences.get, lambda: variables(self.data))

    @late_part
    def user_tools(self) -> "app.tools.user_tools.folder.UserTools":
        folder, trusted, admit = self.data.path / "tools", self.data.trusted_files, self.data.disk.admit
        return app.tools.user_tools.folder.UserTools(folder, trusted, trust_all=self.trusts_tools, admit=admit)

    @late_part
    def http_tools(self) -> "app.tools.http.tools.HttpToolSource":
        return app.tools.http.tools.HttpToolSource(self.data.http_tools, refs=self._refs)

    @late_part
    def mcp(self) -> "app.tools.mcp.hub.McpHub":
        servers, clean, origin = self.data.mcp_servers, self.known.text, lambda: self.origin
        hub = app.tools.mcp.hub.McpHub(servers, version=self.version, refs=self._refs, clean=clean, origin=origin)
        hub.on_signed_in.append(lambda server: self.pauses.signed_in(server))  # noqa: PLW0108  made late
        return hub

    @late_part
    def hand_calls(self) -> "app.engine.by_hand.HandCalls":
        return app.engine.by_hand.HandCalls(self.tools, self.artifacts, self.known.now)

    @late_part
    def last_calls(self) -> "app.engine.by_hand.LastCalls":
        return app.engine.by_hand.LastCalls(self.hand_calls)

    def _refs(self) -> "app.tools.http.secret_refs.SecretRefs":
        return app.tools.http.secret_refs.SecretRefs(self.data.provider_keys)

    # What is kept.

    @late_part
    def rows(self) -> "app.store.runs.rows.Rows":
        return self.data.rows

    @late_part
    def search(self) -> "app.store.runs.search.Search":
        return app.store.runs.search.Search(self.data.aside / "cache", self.rows, self.data.traces)

    @late_part
    def session_search(self) -> "app.store.runs.session_search.SessionSearch":
        """Sessions by all that was said in them."""
        return app.store.runs.session_search.SessionSearch(self.sessions, self.rows, self.search)

    @late_part
    def removed_runs(self) -> "app.store.runs.retention.RemovedRuns":
        rows, sessions, traces = self.rows, self.sessions, self.data.traces
        return app.store.runs.retention.RemovedRuns(rows, sessions, traces, self.search, self.scores)

    @late_part
    def retention(self) -> "app.store.runs.retention.Retention":
        def live_runs() -> list[str]:
            return [live.run_id for live in self.runs.live_runs()]

        return app.store.runs.retention.Retention(self.rows, self.sessions, live_runs, self.experiments.keeps)

    @late_part
    def removed_experiments(self) -> "app.store.runs.removed_experiments.RemovedExperiments":
        parts = (self.experiments, self.cells, self.sessions, self.rows)
        return app.store.runs.removed_experiments.RemovedExperiments(*parts)

    @late_part
    def contents(self) -> "app.store.contents.contents.Contents":
        """The artifacts as pages show and link them."""
        return app.store.contents.contents.Contents(self.artifacts, self.origin_of_contents)

    @late_part
    def _importing(self) -> "app.export.importing.Importing":
        stores = (self.data.traces, self.rows, self.sessions, self.artifacts, self.agents)
        return app.export.importing.Importing(*stores, taken_in=self.search.look_again, scores=self.scores)

    @late_part
    def exports(self) -> "app.export.exports.Exports":
        """Runs as files, and back."""
        sources = self.runs, self.artifacts, self.known.exported
        return app.export.exports.Exports(
            *sources, app=self.version, importing=self._importing, scores=self.scores.of, origin=lambda: self.origin
        )

    @late_part
    def session_exports(self) -> "app.export.session_exports.SessionExports":
        """Whole conversations as files."""
        parts, secrets = (self.exports, self.runs, self.rows), self.known.exported
        return app.export.session_exports.SessionExports(*parts, secrets, app=self.version)

    # Evals.

    @late_part
    def datasets(self) -> "app.store.records.evals.Datasets":
        return self.data.datasets

    @late_part
    def cases(self) -> "app.store.records.evals.Cases":
        return self.data.cases

    @late_part
    def experiments(self) -> "app.store.records.evals.Experiments":
        return self.data.experiments

    @late_part
    def cells(self) -> "app.store.records.evals.Cells":
        return self.data.cells

    @late_part
    def collecting(self) -> "app.engine.experiments.collecting.Collecting":
        """Datasets and their cases, and the ways they come about."""
        stores = (self.datasets, self.cases, lambda: self.runs, self.artifacts)
        return app.engine.experiments.collecting.Collecting(*stores)

    @late_part
    def scorer_files(self) -> "app.tools.user_tools.scorer_files.ScorerFolder":
        folder, trusted = self.data.path / "scorers", self.data.trusted_files
        return app.tools.user_tools.scorer_files.ScorerFolder(folder, trusted, trust_all=self.trusts_tools)

    @late_part
    def scoring(self) -> "app.engine.experiments.scoring.Scoring":
        expressions = app.tools.expressions.JsonExpressions()
        judging = app.engine.experiments.judging.Judging(self.runs, self.sessions)
        return app.engine.experiments.scoring.Scoring(expressions, self.scorer_files, judging)

    @late_part
    def dataset_files(self) -> "app.export.datasets.dataset_files.DatasetFiles":
        """Datasets as files, and back."""
        return app.export.datasets.dataset_files.DatasetFiles(
            self.collecting, self.artifacts, self.known.exported, lambda: self.preferences.get().default_model
        )

    @late_part
    def experimenting(self) -> "app.engine.experiments.experimenting.Experimenting":
        """Experiments, from their plan to their end."""

        def provider_of(model: str) -> str:
            return self.catalog.resolve(model).partition("/")[0]

        planning = app.engine.experiments.planning.Planning(
            *(self.collecting, self.datasets, self.agents, self.tools, self.models, self.rows, provider_of)
        )
        trying = app.engine.experiments.cells.Trying(self.chat, self.cells, self.collecting)
        parts = (self.experiments, self.cells, planning, self.collecting, trying, self.scoring)
        connect = app.workbench.cluster.dask_workers.connect
        elsewhere = app.engine.experiments.handing.Elsewhere(connect, self._importing, trying, self.version)
        return app.engine.experiments.experimenting.Experimenting(*parts, elsewhere)

    @late_part
    def gating(self) -> "app.engine.experiments.gating.Gating":
        """The way in which a variant becomes the active one."""
        parts = (self.agents, self.experiments, self.experimenting, self.tools, self.scores)
        return app.engine.experiments.gating.Gating(*parts)

    @late_part
    def suggesting(self) -> "app.engine.experiments.suggesting.Suggesting":
        """Better prompts, proposed and tried."""
        parts = (self.agents, self.experimenting, self.runs, self.scores)
        return app.engine.experiments.suggesting.Suggesting(*parts)

    @late_part
    def matrices(self) -> "app.engine.experiments.matrices.Matrices":
        """Experiments case by case."""
        return app.engine.experiments.matrices.Matrices(self.experimenting, self.cells, self.collecting)

    @late_part
    def reviewing(self) -> "app.engine.experiments.reviewing.Reviewing":
        """Answers that a person rates one by one."""
        parts = (self.runs, self.scores, self.experiments, self.cells, self.experimenting)
        return app.engine.experiments.reviewing.Reviewing(*parts)

    # Keys of the app, and what may be told to nobody.

    @late_part
    def keys(self) -> "app.engine.keys.Keys":
        return app.engine.keys.Keys(self.data.api_keys, self.agents, app.engine.run.stopwatch.SystemClock())

    @late_part
    def sign_ins(self) -> "app.store.keys.sign_ins.SignIns":
        """The browsers that may open the pages; over data that is only looked at, until the app ends."""
        return app.store.keys.sign_ins.SignIns(
            None if self.data.read_only else self.data.path / app.store.keys.sign_ins.FILE
        )

    @late_part
    def known(self) -> KnownSecrets:
        return KnownSecrets(self.data, self.keys, lambda: self.access_token)

    def secrets(self) -> list[str]:
        """What may be in no export and no log, as of now."""
        return self.known.values()
