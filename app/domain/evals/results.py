"""What came of an experiment: each column by itself, and beside the baseline in a word."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from app.domain.evals import statistics as figures
from app.domain.evals.experiments import Cell, CellKey, CellState, Column, Experiment, Plan, cell_id
from app.domain.evals.scorers import Pairwise, span_of
from app.domain.evals.verdicts import CaseScores, Verdict, noise_words, verdicts
from app.domain.values import Value

Cells = Mapping[str, Cell]
"""By their ids."""


class ColumnResults(Value):
    """One column. Only what passed and failed is in its rate; all is in view."""

    column: Column
    passed: int
    failed: int
    errors: int
    not_scored: int
    skipped: int
    pending: int
    rate: float | None
    """Of those that passed or failed; `None` where none did."""
    low: float | None
    """Of the 95 % interval of the rate; repeats of a case count as one."""
    high: float | None
    worst: float | None
    """The rate if all errors were failures."""
    best: float | None
    """The rate if all errors had passed."""
    cost_usd: float
    unpriced: bool = False
    """Whether a try had a model of which nobody said what it costs: it cost more than `cost_usd`."""
    judge_usd: float
    p50_ms: float | None
    p95_ms: float | None
    recorded: int
    """Calls of tools that the record answered."""
    called: int

    @property
    def rate_words(self) -> str:
        """`17 of 20 passed (70–97 %)`"""
        scored = self.passed + self.failed
        if not scored or self.low is None or self.high is None:
            return "nothing scored"
        return f"{self.passed:,} of {scored:,} passed ({self.low * 100:.0f}–{self.high * 100:.0f} %)"


class ColumnVerdict(Value):
    """A column beside the baseline, the first one."""

    column: int
    verdict: Verdict


class Results(Value):
    experiment_id: str
    columns: tuple[ColumnResults, ...]
    verdicts: tuple[ColumnVerdict, ...] = ()
    """Of all columns but the first."""
    noise: str = ""
    """How much changes by itself, in words."""
    finished: bool
    """Whether all that was planned came to an end."""

    @property
    def outcome(self) -> str:
        """`variant 2: better`, of each column; without another column how many passed."""
        if not self.finished:
            ended = sum(one.passed + one.failed + one.errors + one.not_scored for one in self.columns)
            return f"{ended:,} of {ended + sum(one.pending + one.skipped for one in self.columns):,} done"
        if self.verdicts:
            return "; ".join(f"{self.columns[one.column].column.words}: {one.verdict.verdict}" for one in self.verdicts)
        return self.columns[0].rate_words


def state_of(cell: Cell | None, experiment: Experiment) -> CellState:
    """How a cell stands: what an experiment that is over never began is skipped."""
    if cell is not None and cell.end is not None:
        return cell.end
    return "skipped" if experiment.status in ("completed", "cancelled") else "pending"


def results_of(experiment: Experiment, cells: Iterable[Cell]) -> Results:
    """Takes a while where there are many cells: for a thread."""
    plan, known = experiment.plan, {cell.id: cell for cell in cells}
    scored = [scores_of(experiment, known, column) for column in range(len(plan.columns))]
    ended = all(cell.end is not None for cell in known.values()) and len(known) >= plan.size
    done = experiment.status == "completed" and ended
    tried = [one for one, column in zip(scored, plan.columns, strict=True) if not column.as_recorded]
    others = {str(number): column for number, column in enumerate(scored) if number}
    span = span_of(plan.scorer(plan.deciding))
    told = verdicts(scored[0], others, finished=done, margin=plan.margin, span=span) if others else {}
    return Results(
        experiment_id=experiment.id,
        columns=tuple(_column(experiment, known, number) for number in range(len(plan.columns))),
        verdicts=tuple(ColumnVerdict(column=int(number), verdict=one) for number, one in told.items()),
        noise=noise_words(tried) if done else "",
        finished=done,
    )


def of_column(plan: Plan, column: int) -> list[CellKey]:
    return [CellKey(case_id, column, repeat) for case_id in plan.case_ids for repeat in range(plan.repeats)]


def _column(experiment: Experiment, known: Cells, number: int) -> ColumnResults:
    plan = experiment.plan
    found = [known.get(cell_id(experiment.id, key)) for key in of_column(plan, number)]
    begun = [cell for cell in found if cell is not None]
    ends = Counter(state_of(cell, experiment) for cell in found)
    passed, scored, errors = ends["passed"], ends["passed"] + ends["failed"], ends["error"]
    rate = passed / scored if scored else None
    cases = len({cell.case_id for cell in begun if cell.end in ("passed", "failed")})
    low, high = figures.wilson(round((rate or 0) * cases), of=cases) if cases else (None, None)
    took = sorted(cell.ms for cell in begun if cell.end in ("passed", "failed", "not_scored") and cell.runs)
    return ColumnResults(
        column=plan.columns[number],
        passed=passed,
        failed=ends["failed"],
        errors=errors,
        not_scored=ends["not_scored"],
        skipped=ends["skipped"],
        pending=ends["pending"],
        rate=rate,
        low=low,
        high=high,
        worst=passed / (scored + errors) if scored + errors else None,
        best=(passed + errors) / (scored + errors) if scored + errors else None,
        cost_usd=sum(cell.cost for cell in begun),
        unpriced=any(cell.unpriced for cell in begun),
        judge_usd=sum(cell.judged for cell in begun),
        p50_ms=statistics.median(took) if took else None,
        p95_ms=percentile(took, 0.95),
        recorded=sum(cell.recorded for cell in begun),
        called=sum(cell.called for cell in begun),
    )


def scores_of(experiment: Experiment, known: Cells, column: int) -> dict[str, CaseScores]:
    """By case: what counts of its repeats."""
    plan = experiment.plan
    return {case_id: _case_scores(_repeats(experiment, known, case_id, column), plan) for case_id in plan.case_ids}


def _repeats(experiment: Experiment, known: Cells, case_id: str, column: int) -> list[Cell]:
    keys = (CellKey(case_id, column, repeat) for repeat in range(experiment.plan.repeats))
    return [cell for key in keys if (cell := known.get(cell_id(experiment.id, key))) is not None]


def _case_scores(cells: Sequence[Cell], plan: Plan) -> CaseScores:
    values = (value_of(cell, plan) for cell in cells)
    scores = tuple(value for value in values if value is not None)
    return CaseScores(scores=scores, errors=sum(cell.end == "error" for cell in cells))


def value_of(cell: Cell, plan: Plan, scorer: str = "") -> float | None:
    """1 for passed and 0 for failed by that scorer, the deciding one where none is named; `None` without a score.

    Where answers are compared with the baseline's, a tie and itself are 0.5.
    """
    name = scorer or plan.deciding
    if cell.end not in ("passed", "failed", "not_scored"):
        return None
    score, unasked = cell.score(name), cell.end == "failed" and not cell.scores
    if isinstance(plan.scorer(name), Pairwise):
        return 0.5 if cell.column == 0 else score.value if score else 0.0 if unasked else None
    if name == plan.deciding:
        return None if cell.end == "not_scored" else float(cell.end == "passed")
    if score is None:
        return 0.0 if unasked else None
    return None if score.passed is None else float(score.passed)


def percentile(ordered: Sequence[float], share: float) -> float | None:
    """The value below which that share of the values, in order, lies; `None` of none."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None
