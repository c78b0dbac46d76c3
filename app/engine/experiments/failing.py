"""Answers that were not good, as a model that reflects on them is shown them; and tries that are kept nowhere."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.domain.evals.cases import Case
from app.domain.evals.experiments import Cell
from app.domain.evals.suggestions import Failure, failure_of
from app.domain.trace import RunFilter, conversation
from app.engine.experiments.cells import Trying
from app.engine.ports import ScoreStore
from app.engine.runs.runs import Runs

MOST_NOTES = 3
"""Answers with a thumb down that are read."""


@dataclass
class Failing:
    trying: Trying
    runs: Runs
    scores: ScoreStore

    async def of(self, cells: Iterable[Cell], cases: Mapping[str, Case], *, agent_slug: str) -> list[Failure]:
        """Those that did not pass, and those that somebody disliked, the newest first. Raises `StorageError`."""
        found = []
        for cell in sorted(cells, key=lambda cell: cell.case_id):
            if cell.end != "failed":
                continue
            evidence = await self.trying.evidence_of(cell, cases[cell.case_id])
            why = cell.why or "; ".join(f"{one.name}: {one.reason}" for one in cell.scores if not one.passed)
            if evidence is not None:
                found.append(failure_of(cases[cell.case_id], evidence, why))
        return [*found, *await self._disliked(agent_slug)]

    async def _disliked(self, agent_slug: str) -> list[Failure]:
        """What people gave a thumb down, with their notes."""
        wanted = RunFilter(agent=agent_slug, rating="bad", noted=True)
        rows = await asyncio.to_thread(lambda: self.runs.rows.find(wanted, limit=MOST_NOTES).rows)
        found = []
        for row in rows:
            said = conversation((await self.runs.trace(row.run_id)).entries)
            asked = next((one.text for one in reversed(said) if one.role == "user"), "")
            notes = [score.note for score in self.scores.of(row.run_id) if score.note]
            answer = said[-1].text if said else ""
            why = "A person disliked it: " + " ".join(notes)
            found.append(Failure(task=asked, answer=answer, why=why, headline=asked[:80], run_id=row.run_id))
        return found


class Memory:
    """Cells of tries that nobody looks at later."""

    def __init__(self) -> None:
        self.cells: dict[str, Cell] = {}

    def find(self, key: str) -> Cell | None:
        return self.cells.get(key)

    def of(self, _experiment_id: str) -> Sequence[Cell]:
        return list(self.cells.values())

    def revision(self, _experiment_id: str) -> int:
        return len(self.cells)

    async def save(self, value: Cell) -> Cell:
        self.cells[value.id] = value
        return value
