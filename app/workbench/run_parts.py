"""The parts of the workbench that are about runs: what they are made with, and what is kept of them."""

from collections.abc import Callable

from app import __version__
from app.domain.models import Price
from app.late import late, late_part
from app.store.folder.folder import DataFolder
from app.workbench.known_secrets import KnownSecrets
from app.workbench.models import ModelParts

with late():
    import app.engine.by_hand
    import app.engine.forks.forks
    import app.engine.forks.node_forks
    import app.engine.keys
    import app.engine.run.stopwatch
    import app.engine.running
    import app.engine.runs.runs
    import app.engine.runs.told_again
    import app.engine.sessions.attending
    import app.engine.sessions.chat
    import app.engine.sessions.compare
    import app.engine.sessions.idempotency
    import app.engine.sessions.jobs
    import app.engine.sessions.pauses
    import app.engine.sessions.queue
    import app.engine.sessions.views
    import app.engine.sessions.working_copies
    import app.export.exports
    import app.export.importing
    import app.export.session_exports
    import app.store.contents.contents
    import app.store.keys.sign_ins
    import app.store.runs.recent_usage
    import app.store.runs.removed_experiments
    import app.store.runs.retention
    import app.store.runs.rows
    import app.store.runs.search
    import app.store.runs.session_search
    import app.store.runs.usage
    import app.tools.built_in
    import app.tools.computing
    import app.tools.http.secret_refs
    import app.tools.http.tools
    import app.tools.mcp.hub
    import app.tools.registry
    import app.tools.user_tools.folder
    import app.workbench.collector
    import app.workbench.samples
    import app.workbench.tool_variables
    import app.workbench.vitals.vitals


class RunParts(ModelParts):
    """The parts that runs are made with, and what is kept of them."""

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

    @late_part
    def _running(self) -> "app.engine.running.Running":
        clock = app.engine.run.stopwatch.SystemClock()
        runs = app.engine.runs.runs.Runs(
            *(self.data.traces, self.rows, self.models, self.tools, self.artifacts, clock),
            day_ceiling=lambda: self.preferences.get().day_cost,
            month_ceiling=lambda: self.preferences.get().month_cost,
            search=self.search,
            redactions=self.known.ready,
        )
        runs.on_end.append(lambda live: self.search.take(live.run_id, live.entries))
        runs.on_end.append(lambda live: self.vitals.take_run(live.run_id, live.entries))
        runs.on_end.append(lambda live: self.collector.run_ended(live.run_id, live.entries))
        runs.starting.computing = app.tools.computing.NodeComputing(self.built_in_tools)
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
    def attending(self) -> "app.engine.sessions.attending.Attending":
        """What waits for a person."""
        return app.engine.sessions.attending.Attending(self.jobs, self.pauses)

    @late_part
    def compare(self) -> "app.engine.sessions.compare.Compare":
        return app.engine.sessions.compare.Compare(self.chat, self.sessions, self.comparisons, self.runs, self.scores)

    @late_part
    def forks(self) -> "app.engine.forks.forks.Forks":
        """Runs gone on with from one of their steps, and replayed."""
        return app.engine.forks.forks.Forks(self.agents, self.sessions, self.runs, self.tools)

    @late_part
    def node_forks(self) -> "app.engine.forks.node_forks.NodeForks":
        """Runs of workflows gone on with from their nodes."""
        return app.engine.forks.node_forks.NodeForks(self.agents, self.sessions, self.runs, self.tools)

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
        return tuple(sample.asking(model) for sample in found)

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
    def usage(self) -> "app.store.runs.usage.Usage":
        """What all runs did, took and cost, by day."""
        return app.store.runs.usage.Usage(self.rows.usage_figures, self.rows.settle_usage, self._prices)

    async def _prices(self) -> Callable[[str], Price | None]:
        """What models cost by their names, once the list of that is read."""
        await self.catalog.ready()
        return self.models.price

    @late_part
    def told_again(self) -> "app.engine.runs.told_again.ToldAgain":
        """Figures made again from traces."""
        return app.engine.runs.told_again.ToldAgain(self.rows, self.runs.trace, self.runs.is_taken)

    @late_part
    def vitals(self) -> "app.workbench.vitals.vitals.Vitals":
        """How the process itself fares."""
        return app.workbench.vitals.vitals.Vitals(self.data.path, lambda: self.data.backlog)

    @late_part
    def recent_usage(self) -> "app.store.runs.recent_usage.RecentUsage":
        """The same of the last hours, minute by minute."""
        return app.store.runs.recent_usage.RecentUsage(self.rows)

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

        return app.store.runs.retention.Retention(self.rows, self.sessions, live_runs, self.data.experiments.keeps)

    @late_part
    def removed_experiments(self) -> "app.store.runs.removed_experiments.RemovedExperiments":
        parts = (self.data.experiments, self.data.cells, self.sessions, self.rows)
        return app.store.runs.removed_experiments.RemovedExperiments(*parts)

    @late_part
    def contents(self) -> "app.store.contents.contents.Contents":
        """The artifacts as pages show and link them."""
        return app.store.contents.contents.Contents(self.artifacts, self.origin_of_contents)

    @late_part
    def _importing(self) -> "app.export.importing.Importing":
        stores = (self.data.traces, self.rows, self.sessions, self.artifacts, self.agents)
        importing = app.export.importing.Importing(*stores, taken_in=self.search.look_again, scores=self.scores)
        importing.on_take_over.append(self.collector.run_ended)
        return importing

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

    @late_part
    def collector(self) -> "app.workbench.collector.Collector":
        """Where spans of runs are sent on to."""

        def exports() -> "app.export.exports.Exports":
            parts = (self.runs, self.artifacts, self.known.values)
            return app.export.exports.Exports(*parts, app=self.version, importing=None)

        return app.workbench.collector.Collector(self.data, exports, version=self.version)

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
