"""The matrix of an experiment: cases by columns, what differs from the baseline, and which case is looked at first."""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from app.domain.evals.cases import Case
from app.domain.evals.experiments import Cell, CellKey, CellState, Experiment, cell_id
from app.domain.evals.results import ColumnResults, Results, state_of, value_of
from app.domain.evals.scorers import span_of
from app.domain.evals.verdicts import STEPS, CaseScores, Verdict, verdict

Mark = CellState | Literal["flaky"]
Beside = Literal["better", "worse", "same", "unknown"]
Flag = Literal["regression", "flip", "changed", "flaky", "error", "open", "failed", "equal"]
"""What holds for a row: a column is worse than the baseline, or better; the score is the same and the answer another
one; repeats of a cell came out differently; a cell has no score; it has not ended; a try failed; nothing of all that,
but that as much may have failed in all columns.
"""
FLAGS: tuple[Flag, ...] = get_args(Flag)
ORDER: tuple[Flag, ...] = ("regression", "flip", "changed", "error", "open", "equal")
"""Of the rows, what is looked at first."""
DIFFERENT: frozenset[Flag] = frozenset(FLAGS) - {"failed", "equal"}
SEARCHED = 2_000  # characters of an input
MARGIN = 0.1
"""How much worse a cheaper column may be, as a share of the cases, to be still no worse."""
_WITHOUT_SCORE: tuple[CellState, ...] = ("error", "not_scored", "pending", "skipped")


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """One case in one column, with all its repeats."""

    tries: tuple[CellState, ...]
    """By repeat."""
    scored: CaseScores
    answers: tuple[str, ...]
    """By repeat, the heads of them; empty where a try came to none."""
    cost: float | None
    """US dollars of a try on average; `None` where none was answered, as with `ms`, and where one was unpriced."""
    ms: float | None

    @property
    def passes(self) -> int:
        return self.tries.count("passed")

    @property
    def lacks_score(self) -> bool:
        """Whether a try that ended has none; a baseline that answers are compared with has one without being judged."""
        return len(self.scored.scores) < sum(state not in ("pending", "skipped") for state in self.tries)

    @property
    def mark(self) -> Mark:
        """All passed, all failed, or some of each; without any of these why there is no score."""
        passed, failed = self.tries.count("passed"), self.tries.count("failed")
        if passed and failed:
            return "flaky"
        if passed or failed:
            return "passed" if passed else "failed"
        return next(state for state in _WITHOUT_SCORE if state in self.tries)

    def differs(self, baseline: "MatrixCell") -> bool:
        """Whether a try was answered in other words than the baseline's, with the same score."""
        pairs = zip(self.answers, baseline.answers, strict=True)
        return self.beside(baseline) == "same" and any(ours != theirs for ours, theirs in pairs if ours and theirs)

    def beside(self, baseline: "MatrixCell") -> Beside:
        difference = self.scored.mean - baseline.scored.mean
        if math.isnan(difference):
            return "unknown"
        steps = round(difference * STEPS)
        return "better" if steps > 0 else "worse" if steps < 0 else "same"


@dataclass(frozen=True)
class MatrixRow:
    """One case in all columns, the baseline first."""

    number: int
    """Its place in the plan, from 1; it never changes."""
    case: Case
    cells: tuple[MatrixCell, ...]

    @cached_property
    def flags(self) -> frozenset[Flag]:
        first, others = self.cells[0], self.cells[1:]
        beside = {cell.beside(first) for cell in others}
        tries = {state for cell in self.cells for state in cell.tries}
        holds: dict[Flag, bool] = {
            "regression": "worse" in beside,
            "flip": "better" in beside,
            "changed": any(cell.differs(first) for cell in others),
            "flaky": any(cell.mark == "flaky" for cell in self.cells),
            "error": any(cell.lacks_score for cell in self.cells),
            "open": not tries.isdisjoint(("pending", "skipped")),
            "failed": "failed" in tries,
        }
        found = frozenset(flag for flag, is_so in holds.items() if is_so)
        return found if found & DIFFERENT else found | {"equal"}

    @cached_property
    def place(self) -> tuple[float, ...]:
        """What it is sorted by: the worst of its flags, how much the columns disagree, how little passed."""
        means = [cell.scored.mean for cell in self.cells if cell.scored.scores]
        order = ORDER if len(self.cells) > 1 else ("failed", *ORDER)
        first = next((at for at, flag in enumerate(order) if flag in self.flags), len(order))
        spread = statistics.pvariance(means) if means else 0.0
        return first, -spread, min(means, default=0.0), self.number

    def says(self, text: str) -> bool:
        """Whether the casefolded text stands in its case or in the heads of its answers."""
        case, answers = self.case, (answer for cell in self.cells for answer in cell.answers)
        return any(text in one.casefold() for one in (case.input[:SEARCHED], case.note, *case.tags, *answers))


@dataclass(frozen=True)
class Matrix:
    """Rows in the order in which they are looked at."""

    rows: tuple[MatrixRow, ...]
    scorer: str
    """Whose word the marks are; empty where nothing is scored."""
    span: float = 1.0
    """The most by which its scores can differ from the baseline's."""

    @cached_property
    def counts(self) -> Mapping[Flag, int]:
        """How many rows each flag holds for; a row may have several."""
        return Counter(flag for row in self.rows for flag in row.flags)

    @cached_property
    def tags(self) -> tuple[str, ...]:
        return tuple(sorted({tag for row in self.rows for tag in row.case.tags}))

    def row(self, number: int) -> MatrixRow | None:
        return next((row for row in self.rows if row.number == number), None)

    def column(self, column: int) -> dict[str, CaseScores]:
        """By case: what was scored in that column."""
        return {row.case.id: row.cells[column].scored for row in self.rows}


@dataclass(frozen=True, slots=True)
class MatrixFilter:
    """Which rows are shown. What is empty lets all through."""

    flag: Flag | None = None
    tag: str = ""
    text: str = ""
    only_different: bool = False
    pinned: frozenset[int] = frozenset()
    """The numbers of rows that are shown first, and always."""


def matrix_of(experiment: Experiment, cells: Iterable[Cell], cases: Mapping[str, Case], *, scorer: str = "") -> Matrix:
    """As one of its scorers tells it, the deciding one where none of that name is there. For a thread."""
    plan, known = experiment.plan, {cell.id: cell for cell in cells}
    name = scorer if plan.scorer(scorer) else plan.deciding

    def cell_of(case_id: str, column: int) -> MatrixCell:
        keys = (CellKey(case_id, column, repeat) for repeat in range(plan.repeats))
        return _cell(experiment, [known.get(cell_id(experiment.id, key)) for key in keys], name)

    columns = range(len(plan.columns))
    rows = [
        MatrixRow(number, cases[case_id], tuple(cell_of(case_id, column) for column in columns))
        for number, case_id in enumerate(plan.case_ids, start=1)
        if case_id in cases
    ]
    return Matrix(tuple(sorted(rows, key=lambda row: row.place)), name, span_of(plan.scorer(name)))


def shown(matrix: Matrix, wanted: MatrixFilter) -> list[MatrixRow]:
    """The rows that the filter lets through, pinned ones before all others."""
    text = wanted.text.strip().casefold()
    asked: list[Callable[[MatrixRow], bool]] = []
    if wanted.flag is not None:
        asked.append(lambda row: wanted.flag in row.flags)
    elif wanted.only_different:
        asked.append(lambda row: not row.flags.isdisjoint(DIFFERENT))
    if wanted.tag:
        asked.append(lambda row: wanted.tag in row.case.tags)
    if text:
        asked.append(lambda row: row.says(text))
    pinned = [row for row in matrix.rows if row.number in wanted.pinned]
    others = (row for row in matrix.rows if row.number not in wanted.pinned)
    return [*pinned, *(row for row in others if all(ask(row) for ask in asked))]


def cheapest(results: Results) -> int | None:
    """The column whose tries cost least, where they cost less than the baseline's; else `None`.

    What is unpriced is not compared.
    """
    if results.columns[0].unpriced:
        return None
    costs = [math.inf if column.unpriced else _cost_of_a_try(column) for column in results.columns]
    least = min(range(len(costs)), key=costs.__getitem__)
    return least if costs[least] < costs[0] else None


def no_worse(matrix: Matrix, column: int, *, finished: bool, margin: float = MARGIN) -> Verdict:
    """Whether that column is at most so much worse than the baseline. For a thread: 1,000 cases may take 100 ms."""
    ours, theirs = matrix.column(0), matrix.column(column)
    return verdict(ours, theirs, finished=finished, margin=margin, span=matrix.span)


def _cost_of_a_try(column: ColumnResults) -> float:
    tries = column.passed + column.failed + column.not_scored
    return column.cost_usd / tries if tries else math.inf


def _cell(experiment: Experiment, cells: Sequence[Cell | None], scorer: str) -> MatrixCell:
    begun = [cell for cell in cells if cell is not None]
    tries = tuple(_try(experiment, cell, scorer) for cell in cells)
    values = (value_of(cell, experiment.plan, scorer) for cell in begun)
    answered = [cell for cell in begun if cell.end in ("passed", "failed", "not_scored") and cell.runs]
    priced = not any(cell.unpriced for cell in answered)
    return MatrixCell(
        tries=tries,
        scored=CaseScores(scores=tuple(v for v in values if v is not None), errors=tries.count("error")),
        answers=tuple(" ".join(cell.answer.split()) if cell in answered else "" for cell in cells),
        cost=statistics.fmean(cell.cost for cell in answered) if answered and priced else None,
        ms=statistics.fmean(cell.ms for cell in answered) if answered else None,
    )


def _try(experiment: Experiment, cell: Cell | None, scorer: str) -> CellState:
    """How a try ended, as that scorer tells it."""
    state = state_of(cell, experiment)
    if cell is None or scorer == experiment.plan.deciding or state not in ("passed", "failed", "not_scored"):
        return state
    score = cell.score(scorer)
    if score is None or score.passed is None:
        return "failed" if state == "failed" and not cell.scores else "not_scored"
    return "passed" if score.passed else "failed"
