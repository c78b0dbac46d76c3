"""An experiment that goes on in this process: its cells in the order of the plan, as many at once as providers bear."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from app.domain.errors import StorageError
from app.domain.evals.cases import Case
from app.domain.evals.drafts import Progress
from app.domain.evals.endings import scored_end
from app.domain.evals.evidence import Evidence
from app.domain.evals.experiments import (
    Cell,
    CellEnd,
    CellKey,
    CellScore,
    Experiment,
    ExperimentStatus,
    Plan,
    cell_id,
    planned,
)
from app.domain.evals.scorers import Pairwise
from app.domain.values import now
from app.engine.experiments.cells import CellStore, Tried, Trying, new_cell
from app.engine.experiments.collecting import Collecting
from app.engine.experiments.limiting import Limiter, Slot
from app.engine.experiments.planning import PILOT_CASES
from app.engine.experiments.scoring import Scoring
from app.engine.run.limits import dollars

log = logging.getLogger(__name__)

Doing = Literal["try", "retry", "score"]
"""Try what has no end yet; also what ended in an error; or only score again what was answered."""
BESIDE = 2
"""Cells that are scored and stored while as many go on as may."""
Unit = tuple[CellKey, ...]
"""Cells that are tried one after the other: alone, or with the baseline that they are compared with."""
ANSWERED: tuple[CellEnd, ...] = ("passed", "failed", "not_scored")
CEILING = "The ceiling of {ceiling} was reached, so {left} cells were not begun; they count as skipped."
PILOT_ERRORS = (
    "The first cells all ended in errors, so what the whole would cost is not known. See below what went wrong, then "
    "resume and retry the errors."
)
PILOT = "The first {cases} cases cost {cost}; all {size} cells would cost about {whole}. Resume to go on."
BUG = "Something went wrong inside the app: {error}"


@dataclass(frozen=True)
class Means:
    """What every experiment works with."""

    cells: CellStore
    trying: Trying
    scoring: Scoring
    collecting: Collecting
    limiter_of: Callable[[str], Limiter]
    """By provider; that of what asks none has no name."""
    providers_of: Callable[[Plan], Sequence[str]]
    """By column: whom its runs ask."""


@dataclass
class Tally:
    """What is counted as cells end, so that nobody goes through all of them."""

    ends: Counter[str] = field(default_factory=Counter)
    running: int = 0
    left: int = 0
    cost: float = 0.0
    judged: float = 0.0
    unpriced: int = 0

    @classmethod
    def of(cls, cells: Sequence[Cell]) -> "Tally":
        tally = cls()
        for cell in cells:
            tally.put(cell)
        return tally

    def put(self, cell: Cell, *, before: Cell | None = None) -> None:
        """Count the cell, in place of what it was before."""
        for one, sign in ((before, -1), (cell, 1)):
            if one is not None:
                self.cost += sign * (one.cost + one.judged)
                self.judged += sign * one.judged
                self.unpriced += sign * one.unpriced
                if one.end is None:
                    self.left += sign
                else:
                    self.ends[one.end] += sign

    def progress(self, experiment: Experiment) -> Progress:
        counts = {end: self.ends[end] for end in ("passed", "failed", "error", "not_scored", "skipped")}
        money = {"cost": self.cost, "judged": self.judged, "unpriced": self.unpriced > 0}
        stands = {"status": experiment.status, "why": experiment.why, "total": experiment.plan.size}
        return Progress.model_validate({**stands, **counts, **money, "running": self.running, "left": self.left})


class Working:
    def __init__(self, experiment: Experiment, means: Means, doing: Doing) -> None:
        self.experiment = experiment
        self.tally = Tally()
        self.counted = False
        """Whether what was tried before is in the tally by now."""
        self.task: asyncio.Task[None] | None = None
        self._means = means
        self._doing = doing
        self._asked: Literal["", "pause", "cancel"] = ""
        self._why = ""
        self._over_ceiling = False
        self._cases: Mapping[str, Case] = {}
        self._providers: Sequence[str] = ()
        self._counted: dict[str, Cell] = {}
        """By id: the cells that were begun, as they were counted last."""
        self._going_on: set[str] = set()
        """The ids of cells."""

    def hand(self, means: Means) -> None:
        """Try its cells by these means, in place of those that it was made with."""
        self._means = means

    def pause(self, why: str = "") -> None:
        """Begin no further cell; those that go on come to their end."""
        self._asked, self._why = self._asked or "pause", self._why or why

    def cancel(self) -> None:
        """Begin no further cell, and stop those that go on."""
        self._asked = "cancel"
        for cell in filter(None, map(self._means.cells.find, self._going_on)):
            self._means.trying.stop(cell)

    async def work(self) -> tuple[ExperimentStatus, str]:
        """How the experiment stands when there is nothing left to do, and why, where nobody asked for that."""
        plan = self.experiment.plan
        self._cases = await self._means.collecting.cases_of(plan.cases)
        begun = await asyncio.to_thread(self._means.cells.of, self.experiment.id)
        self._counted, self.tally = await asyncio.to_thread(
            lambda: ({cell.id: cell for cell in begun}, Tally.of(begun))
        )
        self.counted = True
        self._providers = self._means.providers_of(plan)
        units = await asyncio.to_thread(self._units)
        async with asyncio.TaskGroup() as group:
            for lane in units.values():
                one_after_the_other = iter(lane)
                for _ in range(min(plan.concurrency + BESIDE, len(lane))):
                    group.create_task(self._lane(one_after_the_other))
        return self._stands()

    def _stands(self) -> tuple[ExperimentStatus, str]:
        experiment, size = self.experiment, self.experiment.plan.size
        if self._asked == "cancel":
            return "cancelled", ""
        if self._asked == "pause":
            return "paused", self._why
        ended = sum(self.tally.ends.values())
        left = size - ended
        if self._over_ceiling and left:
            return "completed", CEILING.format(ceiling=dollars(experiment.plan.ceiling_usd), left=left)
        if experiment.pilot and left:
            cost = self.tally.cost
            if self.tally.ends["error"] >= ended:
                return "paused", PILOT_ERRORS
            told = {"cost": dollars(cost), "whole": dollars(cost / ended * size)}
            return "paused", PILOT.format(cases=PILOT_CASES, size=size, **told)
        return "completed", ""

    def _units(self) -> dict[str, list[Unit]]:
        """By provider: what is to be done, in that order. Columns of several providers do not wait for each other."""
        plan = self.experiment.plan
        keys: Iterator[CellKey] = filter(self._is_open, planned(plan))
        if any(isinstance(scorer, Pairwise) for scorer in plan.scorers):
            return {"": [tuple(unit) for _, unit in groupby(keys, lambda key: (key.case_id, key.repeat))]}
        lanes: dict[str, list[Unit]] = {}
        for key in keys:
            lanes.setdefault(self._provider(key), []).append((key,))
        return lanes

    def _provider(self, key: CellKey) -> str:
        return "" if self._doing == "score" else self._providers[key.column]

    def _is_open(self, key: CellKey) -> bool:
        """Whether something is to be done for the cell."""
        cell = self._counted.get(cell_id(self.experiment.id, key))
        if self._doing == "score":
            return cell is not None and cell.end in ANSWERED and (cell.end == "not_scored" or bool(cell.scores))
        if self.experiment.pilot and (key.repeat or key.case_id not in self.experiment.plan.case_ids[:PILOT_CASES]):
            return False
        return cell is None or cell.end is None or (self._doing == "retry" and cell.end == "error")

    async def _lane(self, units: Iterator[Unit]) -> None:
        """One worker of several that share these."""
        for unit in units:
            for key in unit:
                if self._is_stopped():
                    return
                await self._guarded(key)

    def _is_cancelled(self) -> bool:
        return self._asked == "cancel"

    def _is_stopped(self) -> bool:
        """Whether no further cell is begun."""
        ceiling = self.experiment.plan.ceiling_usd
        self._over_ceiling = self._over_ceiling or bool(ceiling and self.tally.cost >= ceiling)
        return bool(self._asked) or (self._over_ceiling and self._doing != "score")

    async def _guarded(self, key: CellKey) -> None:
        """A bug ends the cell in an error and no other one; where nothing can be stored, all of it waits."""
        name = cell_id(self.experiment.id, key)
        try:
            await (self._scored_again(name) if self._doing == "score" else self._cell(key, name))
        except StorageError as problem:
            self.pause(str(problem))
        except Exception as error:
            log.exception("Cell %s ended in a bug", name)
            await self._broken(key, name, error)

    async def _broken(self, key: CellKey, name: str, error: Exception) -> None:
        cell = self._means.cells.find(name) or new_cell(self.experiment.id, key)
        why = BUG.format(error=f"{type(error).__name__}: {error}")
        try:
            await self._keep(cell.model_copy(update={"end": "error", "failure": "internal", "why": why}))
        except StorageError as problem:
            self.pause(str(problem))

    async def _cell(self, key: CellKey, name: str) -> None:
        """Try the case; what is scored and stored then keeps no other one from its turn at the provider."""
        async with self._means.limiter_of(self._provider(key)).slot(self.experiment.plan.concurrency) as slot:
            if self._is_stopped():
                return
            with self._running(name):
                tried = await self._tried(key, name, slot)
        if tried.ending.day_is_spent:
            await self._keep(tried.cell)
            return
        evidence = tried.evidence
        told = tried.told(evidence)
        await self._keep(told if told.end else await self._scored(told, evidence))

    async def _tried(self, key: CellKey, name: str, slot: Slot) -> Tried:
        cell = new_cell(self.experiment.id, key)
        if (before := self._counted.get(name)) is not None:
            self._count(cell := await self._means.trying.renewed(before))
        case = self._cases[key.case_id]
        tried = await self._means.trying.tried(self.experiment, case, cell, slot, stopped=self._is_cancelled)
        self._count(tried.cell)
        if tried.ending.day_is_spent:
            self.pause(tried.ending.why)
        return tried

    @contextmanager
    def _running(self, name: str) -> Iterator[None]:
        self._going_on.add(name)
        self.tally.running += 1
        try:
            yield
        finally:
            self.tally.running -= 1
            self._going_on.discard(name)

    async def _scored_again(self, name: str) -> None:
        """What the scorers say by now of what was answered then; nothing is run for it."""
        before = self._counted[name]
        evidence = await self._means.trying.evidence_of(before, self._cases[before.case_id])
        if evidence is not None:
            again = before.model_copy(update={"scores": (), "judged_before": before.judged})
            with self._running(name):
                await self._keep(await self._scored(again, evidence))

    async def _scored(self, cell: Cell, evidence: Evidence) -> Cell:
        scored = cell.model_copy(update={"scores": await self._scores(evidence, cell.key)})
        return scored.model_copy(update={"end": scored_end(scored, self.experiment.plan.deciding)})

    async def _keep(self, cell: Cell) -> None:
        ended = None if cell.end is None else now()
        self._count(await self._means.cells.save(cell.model_copy(update={"ended_at": ended})))

    def _count(self, cell: Cell) -> None:
        self.tally.put(cell, before=self._counted.get(cell.id))
        self._counted[cell.id] = cell

    async def _scores(self, evidence: Evidence, key: CellKey) -> tuple[CellScore, ...]:
        scorers, scoring, own = self.experiment.plan.scorers, self._means.scoring, self.experiment.id
        baseline = await self._baseline(key) if any(isinstance(one, Pairwise) for one in scorers) else None
        asked = [one for one in scorers if key.column or not isinstance(one, Pairwise)]
        given = (scoring.score(one, evidence, baseline=baseline, experiment_id=own) for one in asked)
        return tuple(await asyncio.gather(*given))

    async def _baseline(self, key: CellKey) -> Evidence | None:
        """The baseline's answer to the same case, tried before it."""
        cell = self._means.cells.find(cell_id(self.experiment.id, key._replace(column=0)))
        if not key.column or cell is None or cell.end not in ANSWERED:
            return None
        return await self._means.trying.evidence_of(cell, self._cases[key.case_id])
