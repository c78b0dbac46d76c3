"""Experiments from their plan to their end: started, paused, resumed, retried, scored again; they survive a restart.

What is over and what is left is told by the plan and its cells alone.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from app.domain.errors import Conflict, NotFound, StorageError
from app.domain.evals.drafts import Estimate, ExperimentDraft, Progress
from app.domain.evals.experiments import Cell, CellState, Experiment, ExperimentStatus, Plan, cell_id, planned
from app.domain.evals.results import Results, results_of
from app.domain.provenance import Trigger
from app.domain.values import new_id, now
from app.engine.experiments.cells import CellStore, Trying
from app.engine.experiments.collecting import Collecting
from app.engine.experiments.handing import Elsewhere, Unreachable, Workers
from app.engine.experiments.limiting import Limiter
from app.engine.experiments.planning import Planning
from app.engine.experiments.scoring import Scoring
from app.engine.experiments.working import Doing, Means, Tally, Working
from app.engine.ports import Store

log = logging.getLogger(__name__)

INTERRUPTED = "The app was closed while it ran. Resume it to go on; what has ended is kept."
NOT_SO = "This experiment is {status}, so it cannot be {asked}."
MOST_AT_ONCE = 64
KEPT_RESULTS = 8
"""Of experiments that were looked at last."""

Stamp = tuple[int, ExperimentStatus]

T = TypeVar("T")


class ExperimentStore(Store[Experiment], Protocol):
    def with_status(self, *statuses: str) -> Sequence[Experiment]:
        """Those that stand so and are not deleted."""
        ...

    async def delete(self, key: str) -> Experiment: ...

    async def restore(self, key: str) -> Experiment: ...


@dataclass
class Experimenting:
    experiments: ExperimentStore
    cells_kept: CellStore
    planning: Planning
    collecting: Collecting
    trying: Trying
    scoring: Scoring
    elsewhere: Elsewhere | None = None
    """How cells are tried on other machines."""

    def __post_init__(self) -> None:
        self._limiters: defaultdict[str, Limiter] = defaultdict(Limiter)
        means = (self.cells_kept, self.trying, self.scoring, self.collecting)
        self._means = Means(*means, self._limiters.__getitem__, self._providers_of)
        self._working: dict[str, Working] = {}
        self._tallies: dict[str, tuple[int, Tally]] = {}
        self._results: dict[str, tuple[Stamp, Results]] = {}

    async def estimate(self, draft: ExperimentDraft) -> Estimate:
        """What it may cost and show. Raises like `plan`."""
        return await self.planning.estimate(draft)

    async def plan(self, draft: ExperimentDraft, by: Trigger) -> Experiment:
        """The experiment as it is to be run, stored, and not begun.

        Raises `NotFound` for what there is not, `WorkbenchError` for what does not fit together, `StorageError`.
        """
        estimate, plan, began = await self.planning.estimate(draft), await self.planning.plan(draft), now()
        made = Experiment(
            id=new_id(),
            title=draft.title.strip() or _title(plan),
            plan=plan,
            pilot=estimate.pilot,
            by=by,
            workers=draft.workers,
            created_at=began,
            updated_at=began,
        )
        return await self.experiments.create(made)

    def get(self, experiment_id: str) -> Experiment:
        """The experiment as it really stands. Raises `NotFound`, also for a deleted one."""
        found = self.experiments.get(experiment_id)
        if found.deleted_at is not None:
            raise NotFound(f"The experiment {found.title!r} was deleted. Bring it back first.")
        if found.status == "running" and experiment_id not in self._working:
            return found.model_copy(update={"status": "interrupted", "why": INTERRUPTED})
        return found

    async def start(self, experiment_id: str) -> Experiment:
        """Begin what is planned; returns while it goes on. Raises `NotFound`, `Conflict`."""
        return await self._begun(experiment_id, "try", "started", ("planned",))

    async def resume(self, experiment_id: str) -> Experiment:
        """Go on with what has no end yet. Raises `NotFound`, `Conflict` for one that is over or goes on."""
        if (finishing := self._working.get(experiment_id)) is not None and finishing.task is not None:
            if self.get(experiment_id).status == "running":
                raise Conflict("This experiment is going on already.")
            await asyncio.wait([finishing.task])
        return await self._begun(experiment_id, "try", "resumed", ("planned", "paused", "interrupted"))

    async def retry_errors(self, experiment_id: str) -> Experiment:
        """Try again what ended in an error, and nothing that was scored. Raises `NotFound`, `Conflict`."""
        return await self._begun(experiment_id, "retry", "retried", ("paused", "interrupted", "completed", "cancelled"))

    async def score_again(self, experiment_id: str) -> Experiment:
        """Ask the scorers again of what was answered; nothing is run. Raises `NotFound`, `Conflict`."""
        return await self._begun(
            experiment_id, "score", "scored again", ("paused", "interrupted", "completed", "cancelled")
        )

    async def pause(self, experiment_id: str) -> Experiment:
        """Begin no further cell; those that go on come to their end. Raises `NotFound`, `Conflict`."""
        working = self._working.get(experiment_id)
        if working is None or self.get(experiment_id).status != "running":
            raise self._not_so(experiment_id, "paused")
        working.pause()
        return await self._stand(experiment_id, "paused")

    async def cancel(self, experiment_id: str) -> Experiment:
        """Stop what goes on, and begin nothing more; what has ended is kept. Raises `NotFound`, `Conflict`."""
        if self.get(experiment_id).status in ("completed", "cancelled"):
            raise self._not_so(experiment_id, "cancelled")
        if (working := self._working.get(experiment_id)) is not None:
            working.cancel()
        return await self._stand(experiment_id, "cancelled")

    async def delete(self, experiment_id: str) -> Experiment:
        """Take it out of the lists with all its cells; `restore` brings it back until the next start.

        Raises `NotFound`, `Conflict` while it goes on.
        """
        self.get(experiment_id)
        if experiment_id in self._working:
            raise Conflict("This experiment is going on. Cancel it before you delete it.")
        return await self.experiments.delete(experiment_id)

    async def restore(self, experiment_id: str) -> Experiment:
        return await self.experiments.restore(experiment_id)

    async def progress(self, experiment_id: str) -> Progress:
        """How far it is. Raises `NotFound`."""
        experiment = self.get(experiment_id)
        if (working := self._working.get(experiment_id)) is not None and working.counted:
            return working.tally.progress(experiment)
        revision, known = self.cells_kept.revision(experiment_id), self._tallies.get(experiment_id)
        if known is None or known[0] != revision:
            tally = await asyncio.to_thread(lambda: Tally.of(self.cells_kept.of(experiment_id)))
            _keep(self._tallies, experiment_id, known := (revision, tally))
        return known[1].progress(experiment)

    async def results(self, experiment_id: str) -> Results:
        """What came of it so far. Raises `NotFound`."""
        experiment = self.get(experiment_id)
        stamp, known = (self.cells_kept.revision(experiment_id), experiment.status), self._results.get(experiment_id)
        if known is None or known[0] != stamp:
            found = await asyncio.to_thread(lambda: results_of(experiment, self.cells_kept.of(experiment_id)))
            _keep(self._results, experiment_id, known := (stamp, found))
        return known[1]

    async def cells(
        self, experiment_id: str, *, only: CellState | None = None, offset: int = 0, limit: int | None = None
    ) -> tuple[list[Cell], int]:
        """Its cells that were begun, in the order of the plan, and how many there are in all. Raises `NotFound`."""
        plan = self.get(experiment_id).plan
        found = await asyncio.to_thread(self._in_order, experiment_id, plan, only)
        return found[offset:][:limit], len(found)

    async def over(self, experiment_id: str) -> Experiment:
        """The experiment, once nothing of it goes on here."""
        if (working := self._working.get(experiment_id)) is not None and working.task is not None:
            await asyncio.wait([working.task])
        return self.get(experiment_id)

    def is_live(self, experiment_id: str) -> bool:
        """Whether cells of it go on here."""
        return experiment_id in self._working

    async def ended(self, experiment_id: str) -> None:
        """Return when nothing of it goes on here any more."""
        working = self._working.get(experiment_id)
        if working is not None and working.task is not None:
            await asyncio.wait([working.task])

    async def settle(self) -> None:
        """Write down which ones an app that was closed had left, as they stand: interrupted."""

        def settled(newest: Experiment) -> Experiment:
            left = newest.status == "running" and newest.id not in self._working
            return newest.model_copy(update={"status": "interrupted", "why": INTERRUPTED}) if left else newest

        for one in self.experiments.with_status("running"):
            await self.experiments.change(one.id, settled)

    async def close(self) -> None:
        """Leave what goes on where it stands; it can be resumed."""
        tasks = [working.task for working in self._working.values() if working.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _begun(
        self, experiment_id: str, doing: Doing, asked: str, froms: tuple[ExperimentStatus, ...]
    ) -> Experiment:
        before = self.get(experiment_id)
        if experiment_id in self._working:
            raise Conflict("This experiment is going on already.")
        if before.status not in froms:
            raise self._not_so(experiment_id, asked)
        pilot = before.pilot and asked != "resumed"
        changes = {"status": "running", "why": "", "pilot": pilot, "finished_at": None, "updated_at": now()}
        after = before.model_copy(update=changes)
        working = self._working[experiment_id] = Working(after, self._means, doing)
        try:
            await self.experiments.change(experiment_id, lambda newest: newest.model_copy(update=changes))
        except BaseException:
            del self._working[experiment_id]
            raise
        back = (before.status, before.why) if doing == "score" else None
        working.task = asyncio.create_task(self._worked(working, back), name=f"experiment {experiment_id}")
        return after

    async def _worked(self, working: Working, back: tuple[ExperimentStatus, str] | None) -> None:
        """`back`: how it stands afterwards, and why, where that does not depend on what was done."""
        experiment_id, workers = working.experiment.id, None
        try:
            if working.experiment.workers and back is None:
                workers = await self._handed_out(working)
            status, why = await working.work()
        except Unreachable as problem:
            status, why = "paused", str(problem)
        except Exception as error:
            log.exception("Experiment %s ended in a bug", experiment_id)
            status, why = "paused", f"Something went wrong inside the app: {type(error).__name__}: {error}"
        finally:
            try:
                if workers is not None:
                    await workers.close()
            finally:
                del self._working[experiment_id]
        try:
            await self._stand(experiment_id, *(back or (status, why)))
        except StorageError as problem:  # it shows as interrupted, and can be resumed
            log.warning("How experiment %s stands could not be stored: %s", experiment_id, problem)

    async def _handed_out(self, working: Working) -> Workers:
        """See to it that its cells are tried by the workers. Raises `Unreachable`."""
        if self.elsewhere is None:
            raise Unreachable("Cells of experiments cannot be handed to other machines here.")
        workers = await self.elsewhere.connect(working.experiment.workers)
        handing = self.elsewhere.handing(workers, self.planning, lambda: working.tally.cost)
        limiter = Limiter()
        limiter.allowed = MOST_AT_ONCE  # the machines hold back by themselves
        working.hand(replace(self._means, trying=handing, limiter_of=lambda _provider: limiter))
        return workers

    async def _stand(self, experiment_id: str, status: ExperimentStatus, why: str = "") -> Experiment:
        over = now() if status in ("completed", "cancelled") else None
        changes = {"status": status, "why": why, "finished_at": over, "updated_at": now()}
        return await self.experiments.change(experiment_id, lambda newest: newest.model_copy(update=changes))

    def _not_so(self, experiment_id: str, asked: str) -> Conflict:
        return Conflict(NOT_SO.format(status=self.get(experiment_id).status, asked=asked))

    def _in_order(self, experiment_id: str, plan: Plan, only: CellState | None) -> list[Cell]:
        begun = {cell.id: cell for cell in self.cells_kept.of(experiment_id)}
        found = (begun.get(cell_id(experiment_id, key)) for key in planned(plan))
        return [cell for cell in found if cell is not None and (only is None or (cell.end or "pending") == only)]

    def _providers_of(self, plan: Plan) -> list[str]:
        return [self.planning.provider_of_column(plan, column) for column in plan.columns]


def _title(plan: Plan) -> str:
    return f"{plan.dataset_slug}: {' · '.join(dict.fromkeys(column.words for column in plan.columns))}"


def _keep(known: dict[str, T], key: str, value: T) -> None:
    known.pop(key, None)
    known[key] = value
    while len(known) > KEPT_RESULTS:
        del known[next(iter(known))]
