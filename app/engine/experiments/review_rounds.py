"""A person's way through answers to rate: which ones, in which order, and which of them come a second time unseen."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal, get_args

from app.domain.evals.agreement import Share
from app.domain.evals.calibration import judged_so
from app.domain.evals.experiments import Cell, CellEnd, Experiment
from app.domain.evals.scorers import Judge
from app.domain.evals.scores import AGAIN, Score

QueueName = Literal["unreviewed", "judge", "flaky", "random", "failures"]
QUEUES: tuple[QueueName, ...] = get_args(QueueName)
OF_EXPERIMENTS: tuple[QueueName, ...] = ("judge", "flaky", "failures")
"""Those that there are of an experiment only."""
EVERY = 10
"""One in so many answers is one that was rated before."""
MOST_CRITERIA = 5
LAG = 5
"""Answers at least between a rating and its repetition."""


@dataclass(frozen=True)
class ReviewItem:
    """An answer to rate."""

    run_id: str
    cell: Cell | None = None
    """The cell of an experiment that it is the answer of."""
    is_again: bool = False
    """It was rated before, and nobody is told."""

    def named(self, name: str) -> str:
        """The name of the score under which that is said of it."""
        return f"{AGAIN}{name}" if self.is_again else name


@dataclass
class Round:
    """A person's way through a queue."""

    items: list[ReviewItem]
    rated_before: list[str]
    """The runs that the person rated before this round."""
    random: Random
    experiment: Experiment | None = None
    """The one that the answers are of."""
    twice: dict[str, bool] = field(default_factory=dict)
    """By run: whether the person said the same again, of those that were rated a second time unseen."""
    at: int = 0
    said: dict[ReviewItem, Score] = field(default_factory=dict)
    undone: list[tuple[ReviewItem, Score, Score | None]] = field(default_factory=list)
    """What can be taken back, the newest last: of what, what was given, and what that had replaced."""

    @property
    def item(self) -> ReviewItem | None:
        """The one that is looked at; `None` past the last one."""
        return self.items[self.at] if self.at < len(self.items) else None

    @property
    def criteria(self) -> tuple[str, ...]:
        """What the judges of the experiment are asked, so that a person answers the same; five at most."""
        judges = judges_of(self.experiment).values() if self.experiment else ()
        return tuple(dict.fromkeys(one for judge in judges for one in judge.criteria))[:MOST_CRITERIA]

    @property
    def own(self) -> Share:
        """How often the person agreed with themself."""
        return Share(of=len(self.twice), right=sum(self.twice.values()))

    @property
    def done(self) -> int:
        return len(self.said)

    def move(self, step: int) -> None:
        """To the next one, or the one before; past the last one nothing is shown."""
        self.at = min(len(self.items), max(0, self.at + step))

    def slip_in(self) -> None:
        """Let one that was rated come once more, so that every tenth is such a one."""
        if (self.done + 1) % EVERY or any(item.is_again for item in self.items[self.at + 1 : self.at + 2]):
            return
        seen = {item.run_id for item in self.items if item.is_again}
        here = [item.run_id for item in self.items[: max(0, self.at - LAG)] if item in self.said]
        choices = [run_id for run_id in (*self.rated_before, *here) if run_id not in seen]
        if choices:
            self.items.insert(self.at + 1, ReviewItem(self.random.choice(choices), is_again=True))


def judges_of(experiment: Experiment) -> dict[str, Judge]:
    """Its judges, by name."""
    return {scorer.name: scorer for scorer in experiment.plan.scorers if isinstance(scorer, Judge)}


def wanted(
    queue: QueueName, cells: Sequence[Cell], judges: Mapping[str, Judge], ratings: Mapping[str, bool]
) -> Iterator[Cell]:
    """The cells of that queue, of those that were answered; `ratings`: what a person said, by run."""
    ends: defaultdict[tuple[str, int], set[CellEnd | None]] = defaultdict(set)
    for cell in cells:
        ends[cell.case_id, cell.column].add(cell.end)
    for cell in cells:
        rated = ratings.get(cell.runs[-1])
        if queue == "judge":
            is_wanted = rated is not None and any(passed != rated for _, passed in judged_so(cell, judges))
        else:
            is_flaky = {"passed", "failed"} <= ends[cell.case_id, cell.column]
            fits = {"flaky": is_flaky, "failures": cell.end == "failed"}
            is_wanted = rated is None and fits.get(queue, True)
        if is_wanted:
            yield cell
