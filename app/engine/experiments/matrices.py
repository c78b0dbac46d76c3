"""What came of an experiment case by case, read once and kept while nothing changes."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.evals.cases import Case
from app.domain.evals.experiments import Cell, CellKey, Experiment, ExperimentStatus, cell_id
from app.domain.evals.matrix import Matrix, cheapest, matrix_of, no_worse
from app.domain.evals.results import Results, results_of
from app.domain.evals.verdicts import Verdict
from app.engine.experiments.cells import CellStore
from app.engine.experiments.collecting import Collecting
from app.engine.experiments.experimenting import Experimenting

KEPT = 4
"""Matrices that were looked at last; one of 12,000 cells takes some 10 MB."""

Stamp = tuple[int, ExperimentStatus]


@dataclass(frozen=True)
class Looked:
    """An experiment as it stood at one moment."""

    experiment: Experiment
    matrix: Matrix
    results: Results
    stamp: Stamp
    """What stood before it was read: it may hold more than that, never less."""


@dataclass
class Matrices:
    experimenting: Experimenting
    cells: CellStore
    collecting: Collecting

    def __post_init__(self) -> None:
        self._kept: dict[tuple[str, str], Looked] = {}

    def stamp(self, experiment_id: str) -> Stamp:
        """Changes whenever the experiment does. Raises `NotFound`."""
        return self.cells.revision(experiment_id), self.experimenting.get(experiment_id).status

    def known(self, experiment_id: str, scorer: str = "") -> Looked | None:
        """What `look` gives, where that is at hand. Raises `NotFound`."""
        looked, stamp = self._kept.get((experiment_id, scorer)), self.stamp(experiment_id)
        return looked if looked is not None and looked.stamp == stamp else None

    async def look(self, experiment_id: str, scorer: str = "") -> Looked:
        """As that scorer tells it, the deciding one where none is named.

        Raises `NotFound`, also where the cases as they were then are gone, and `StorageError`.
        """
        if (known := self.known(experiment_id, scorer)) is not None:
            return known
        stamp, experiment = self.stamp(experiment_id), self.experimenting.get(experiment_id)
        cases = await self.collecting.cases_of(experiment.plan.cases)
        looked = await asyncio.to_thread(self._read, experiment, cases, scorer, stamp)
        self._kept.pop((experiment_id, scorer), None)
        self._kept[experiment_id, scorer] = looked
        while len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]
        return looked

    def tries(self, experiment: Experiment, case_id: str, column: int) -> list[Cell | None]:
        """By repeat: the cells of a case in a column; `None` for one that was not begun."""
        keys = (CellKey(case_id, column, repeat) for repeat in range(experiment.plan.repeats))
        return [self.cells.find(cell_id(experiment.id, key)) for key in keys]

    async def cheaper(self, looked: Looked) -> tuple[int, Verdict] | None:
        """Whether the cheapest column is no worse than the baseline; `None` where none is cheaper than that."""
        column = cheapest(looked.results)
        if column is None:
            return None
        finished = looked.results.finished
        return column, await asyncio.to_thread(no_worse, looked.matrix, column, finished=finished)

    def _read(self, experiment: Experiment, cases: Mapping[str, Case], scorer: str, stamp: Stamp) -> Looked:
        cells = self.cells.of(experiment.id)
        matrix = matrix_of(experiment, cells, cases, scorer=scorer)
        return Looked(experiment, matrix, results_of(experiment, cells), stamp)
