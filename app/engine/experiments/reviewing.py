"""Quick review: answers that a person rates one by one, and what that tells of judges and of the person."""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from app.domain.errors import NotFound
from app.domain.evals.calibration import JudgeBeside, judged_so, judges_beside
from app.domain.evals.experiments import Cell, Experiment, planned
from app.domain.evals.scorers import Judge
from app.domain.evals.scores import AGAIN, NOTE, RATING, Score, given
from app.domain.events import Entry
from app.domain.provenance import Trigger
from app.domain.trace import RunFilter, RunRow
from app.engine.experiments.cells import CellStore
from app.engine.experiments.experimenting import Experimenting
from app.engine.experiments.review_rounds import OF_EXPERIMENTS, QueueName, ReviewItem, Round, judges_of, wanted
from app.engine.ports import ScoreStore
from app.engine.runs.runs import Runs

LOOKED_AT = 1_000
"""Newest runs, or experiments, among which is looked."""
AT_RANDOM = 20
PAGE = Trigger(kind="page")


class ReviewScores(ScoreStore, Protocol):
    def named(self, *names: str) -> Sequence[Score]:
        """All scores by people under these names, the oldest first; for a thread."""
        ...

    async def save(self, value: Score) -> Score: ...


class RecentExperiments(Protocol):
    def recent(self, *, limit: int) -> Sequence[Experiment]:
        """The newest first."""
        ...


@dataclass(frozen=True)
class ReviewAnswer:
    """What is looked at: the run of an item, and what is told once it is rated."""

    entries: tuple[Entry, ...]
    row: RunRow
    judged: tuple[tuple[str, bool], ...]
    """What judges said of it: name, and whether it passed."""


@dataclass
class Reviewing:
    runs: Runs
    scores: ReviewScores
    experiments: RecentExperiments
    cells: CellStore
    experimenting: Experimenting

    async def begin(self, queue: QueueName, experiment_id: str = "", *, random: Random | None = None) -> Round:
        """The answers of that queue; of the newest experiment where it needs one and none is named.

        Raises `NotFound`, also where there is no experiment yet.
        """
        chance = random or Random()  # noqa: S311  nobody gains by guessing what is reviewed next
        experiment = self._experiment(queue, experiment_id)
        ratings = await asyncio.to_thread(self._ratings)
        find = self._of_runs if experiment is None else self._of_experiment
        items = await asyncio.to_thread(find, queue, experiment, ratings)
        if queue == "random":
            items = chance.sample(items, min(AT_RANDOM, len(items)))
        again = await asyncio.to_thread(self.scores.named, f"{AGAIN}{RATING}")
        twice = {one.run_id: (one.value == 1) == ratings[one.run_id] for one in again if one.run_id in ratings}
        kept = await asyncio.to_thread(self._kept, [run_id for run_id in ratings if run_id not in twice])
        return Round(items, kept, chance, experiment, twice)

    async def look(self, item: ReviewItem) -> ReviewAnswer:
        """The answer to rate. Raises `NotFound` where its run is gone, `StorageError`."""
        row = self.runs.rows.get(item.run_id)
        if row is None:
            raise NotFound("This run was deleted.")
        entries = tuple((await self.runs.trace(item.run_id)).entries)
        judges = self._judges(item.cell)
        return ReviewAnswer(entries, row, tuple(judged_so(item.cell, judges)) if item.cell else ())

    async def rate(self, round_: Round, item: ReviewItem, *, good: bool) -> None:
        """Give the thumb; it is on disk when this returns. Raises `StorageError`, and nothing is given then."""
        score = given(item.run_id, item.named(RATING), PAGE, value=float(good))
        before = next((one for one in self.scores.of(item.run_id) if score.replaces(one)), None)
        kept, is_new = await self.scores.give(score), item not in round_.said
        round_.said[item] = kept
        round_.undone.append((item, kept, before))
        if item.is_again:
            round_.twice[item.run_id] = good == self.rating(item.run_id)
        elif is_new:
            round_.slip_in()

    async def undo(self, round_: Round) -> bool:
        """Take the last thumb back, bring back what it had replaced, and go there; False where there is none."""
        if not round_.undone:
            return False
        item, kept, before = round_.undone[-1]
        if before is not None:
            await self.scores.save(before)
        await self.scores.delete(kept.id)
        round_.undone.pop()
        round_.at = round_.items.index(item)
        if before is not None and any(score.id == before.id for _, score, _ in round_.undone):
            round_.said[item] = before
        else:
            round_.said.pop(item, None)
            if item.is_again:
                round_.twice.pop(item.run_id, None)
        return True

    async def say(self, item: ReviewItem, name: str, *, value: float | None = None, note: str = "") -> None:
        """Answer a criterion, or note something, in place of what was said before; neither takes it back."""
        if value is None and not note.strip():
            for score in list(self._said(item.run_id, item.named(name))):
                await self.scores.delete(score.id)
            return
        await self.scores.give(given(item.run_id, item.named(name), PAGE, value=value, note=note))

    def note(self, item: ReviewItem) -> str:
        """What was noted on it here."""
        return next((score.note for score in self._said(item.run_id, item.named(NOTE))), "")

    def answers(self, item: ReviewItem, criteria: Collection[str]) -> dict[str, bool]:
        """By criterion: what was said, as far as it was."""
        found = ((name, score.value) for name in criteria for score in self._said(item.run_id, item.named(name)))
        return {name: value >= 0.5 for name, value in found if value is not None}

    def rating(self, run_id: str) -> bool | None:
        """The thumb that stands here, but for one that was given unseen."""
        return next((one.value >= 0.5 for one in self._said(run_id, RATING) if one.value is not None), None)

    async def judges(self) -> list[JudgeBeside]:
        """Every judge that was asked in an experiment, beside what people said of the same answers."""
        return await asyncio.to_thread(self._judges_beside)

    def _judges_beside(self) -> list[JudgeBeside]:
        tried = [one for one in self.experiments.recent(limit=LOOKED_AT) if judges_of(one)]
        return judges_beside(((one.plan, self.cells.of(one.id)) for one in tried), self._ratings())

    def _experiment(self, queue: QueueName, experiment_id: str) -> Experiment | None:
        if experiment_id:
            return self.experimenting.get(experiment_id)
        if queue not in OF_EXPERIMENTS:
            return None
        newest = self.experiments.recent(limit=LOOKED_AT)
        wanted = [one for one in newest if judges_of(one)] if queue == "judge" else newest
        if not wanted:
            raise NotFound("There is no experiment yet that this could be asked of. Try an agent on a dataset first.")
        return wanted[0]

    def _ratings(self) -> dict[str, bool]:
        """By run: the newest thumb that was given here."""
        said = (one for one in self.scores.named(RATING) if not one.by.key)
        return {one.run_id: one.value >= 0.5 for one in said if one.value is not None}

    def _kept(self, run_ids: Sequence[str]) -> list[str]:
        """Those of them that are not deleted."""
        return [run_id for run_id in run_ids if self.runs.rows.get(run_id) is not None]

    def _of_runs(
        self, _queue: QueueName, _experiment: Experiment | None, ratings: Mapping[str, bool]
    ) -> list[ReviewItem]:
        rows = self.runs.rows.find(RunFilter(), limit=LOOKED_AT).rows
        ended = (row for row in rows if row.finished_at is not None and row.answer)
        return [ReviewItem(row.run_id) for row in ended if row.run_id not in ratings]

    def _of_experiment(
        self, queue: QueueName, experiment: Experiment | None, ratings: Mapping[str, bool]
    ) -> list[ReviewItem]:
        if experiment is None:
            return []
        place = {key: at for at, key in enumerate(planned(experiment.plan))}
        answered = [
            one for one in self.cells.of(experiment.id) if one.runs and one.end in ("passed", "failed", "not_scored")
        ]
        cells = sorted(answered, key=lambda one: place.get(one.key, len(place)))
        return [ReviewItem(one.runs[-1], one) for one in wanted(queue, cells, judges_of(experiment), ratings)]

    def _judges(self, cell: Cell | None) -> dict[str, Judge]:
        if cell is None:
            return {}
        try:
            return judges_of(self.experimenting.get(cell.experiment_id))
        except NotFound:
            return {}

    def _said(self, run_id: str, name: str) -> Iterator[Score]:
        """What was said at a page, and not over the API with a key; the newest first."""
        said = (one for one in reversed(self.scores.of(run_id)) if one.source == "person" and one.name == name)
        return (one for one in said if not one.by.key)
