"""The composition root: every part over one data folder, made when it is first asked for."""

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Self

from app.domain.settings import Preferences, SetupProgress
from app.late import late, late_part
from app.llm.demo import HUMAN_PACE
from app.store.folder.folder import DataFolder
from app.workbench.run_parts import RunParts

with late():
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
    import app.engine.runs.unbroken
    import app.engine.sessions.lost_runs
    import app.engine.sessions.workflow_checks
    import app.engine.sessions.workflows_of_runs
    import app.export.datasets.dataset_files
    import app.store.records.evals
    import app.tools.expressions
    import app.tools.user_tools.scorer_files
    import app.workbench.cluster.dask_workers
    import app.workbench.maintenance
    import app.workbench.samples

PLANTING_SECONDS = 2
"""How long an app that ends waits for its samples; then they come at the next start, as after a full disk."""


class Workbench(RunParts):
    """Whoever serves it asks it for its parts; what nobody asks for is not even read."""

    @classmethod
    def open(cls, folder: Path, *, trust_tools: bool = False, demo_pace: float = HUMAN_PACE) -> Self:
        """Everything over that data folder. Raises `StorageError` in words when it cannot be used.

        With `trust_tools` every file in its tools folder may run without its owner being asked. `demo_pace` is in
        seconds for a token of the demo model.
        """
        return cls(DataFolder.open(folder), trust_tools=trust_tools, demo_pace=demo_pace)

    async def start(self, *, with_datasets: bool = False) -> None:
        """Begin to follow tool files and MCP servers; plant the sample agents on the very first start.

        `with_datasets`: `plant` follows, at a later start where this one is cut short. Over data that is only looked at
        none of this begins.
        """
        if self.data.read_only:
            return
        await self.user_tools.start()
        if self.data.mcp_servers.all():
            await self.mcp.start()
        if self.data.first_start:
            offered = SetupProgress(offered=True)
            await self.preferences.save(Preferences(setup=offered, samples_due=with_datasets))
        if self._lacks_samples:
            await app.workbench.samples.plant(self.agents)

    async def plant(self) -> None:
        """Keep the sample datasets, on the very first start: nobody asks for them on the first page.

        They come once: where the app is told to end meanwhile, they are kept to the last case before it closes, and
        where it is killed, the next one keeps those that are lacking.
        """
        if self._lacks_samples and not self.data.read_only:
            await self._planting(self._plant_datasets())

    async def _plant_datasets(self) -> None:
        if not (self.data.first_start and self.datasets.slugs()):  # else somebody has made some already
            await app.workbench.samples.plant_datasets(self.datasets, self.collecting)
        if (preferences := self.preferences.get()).samples_due:
            await self.preferences.save(preferences.model_copy(update={"samples_due": False}))

    @property
    def _lacks_samples(self) -> bool:
        return self.data.first_start or self.preferences.get().samples_due

    @late_part
    def _planting(self) -> "app.engine.runs.unbroken.Unbroken":
        return app.engine.runs.unbroken.Unbroken()

    async def warm(self) -> None:
        """Make off the event loop what a start does not need but the first run does."""
        await self.data.warm()
        await self.data.provider_keys.ready()
        await asyncio.to_thread(lambda: (self.search, self.jobs, self.queue, self.pauses, self.built_in_tools.tools()))
        if not self.data.read_only:
            await self._maintain()
            await self.collector.start()
        self.search.start()
        self.vitals.start()

    async def _maintain(self) -> None:
        servers, tools = self.data.mcp_servers, self.data.http_tools
        await app.workbench.maintenance.run_maintenance(
            partial(app.workbench.maintenance.settle_experiments, self.experiments, lambda: self.experimenting),
            self.removed_experiments.remove,
            self.removed_runs.remove,
            self.rows.settle_usage,
            app.engine.sessions.lost_runs.LostRuns(self.chat, self.data.traces.ids, self.rows.knows).find,
            partial(app.workbench.maintenance.forget_old_runs, self.preferences, lambda: self.retention),
            partial(app.workbench.maintenance.forget_uploads, self.data, lambda: self.provider_files),
            partial(
                app.workbench.maintenance.seal_secrets,
                self.data,
                lambda: [*([self.mcp] if servers.all() else []), *([self.http_tools] if tools.all() else [])],
            ),
            lambda: self.told_again.lacking(),  # noqa: PLW0108  made late
        )

    async def close(self) -> None:
        """End the parts that were made, the runs first; then give the data folder back, whatever a part raises."""
        made = vars(self)
        async with AsyncExitStack() as closing:  # the last one first
            closing.push_async_callback(self.data.close)
            tools = ("tools",) if "tools" in made else ("user_tools", "mcp")  # the registry ends them too
            running = ("_running", "experimenting", "suggesting")
            beside = ("search", "provider_files", "collector", "vitals")
            others = ("sign_ins", "keys", "hand_calls", "scorer_files", *beside, *running)
            for part in ("working_copies", *tools, *others):
                if part in made:
                    closing.push_async_callback(made[part].close)
            if "_planting" in made:
                closing.push_async_callback(self._planting.close, patience=PLANTING_SECONDS)

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
    def workflow_checks(self) -> "app.engine.sessions.workflow_checks.WorkflowChecks":
        """What is wrong with a workflow, by the agents and tools there are."""
        parts = (self.agents, self.tools, app.tools.expressions.JsonExpressions())
        return app.engine.sessions.workflow_checks.WorkflowChecks(*parts)

    @late_part
    def workflows_of_runs(self) -> "app.engine.sessions.workflows_of_runs.WorkflowsOfRuns":
        parts = (self.runs, self.agents, self.workflow_checks, self.working_copies)
        return app.engine.sessions.workflows_of_runs.WorkflowsOfRuns(*parts)

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
