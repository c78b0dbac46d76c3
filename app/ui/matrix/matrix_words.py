"""What a matrix says in words and signs: how a cell ended, what it took beside the baseline, what a column came to."""

from app.domain.evals.experiments import Experiment
from app.domain.evals.matrix import Beside, Flag, Mark, MatrixCell
from app.domain.evals.results import ColumnResults
from app.ui.elements.format import dollars, duration, plural

FLAG_WORDS: dict[Flag, str] = {
    "regression": "Worse",
    "flip": "Better",
    "changed": "Other answer",
    "flaky": "Flaky",
    "error": "Errors",
    "open": "Not ended",
    "failed": "Failed",
    "equal": "Equal",
}
MARKS: dict[Mark, tuple[str, str]] = {
    "passed": ("✓", "passed"),
    "failed": ("✕", "failed"),
    "flaky": ("", "flaky"),
    "error": ("!", "error"),
    "not_scored": ("?", "not scored"),
    "skipped": ("–", "skipped"),
    "pending": ("…", "not run yet"),
}
"""By how a cell ended: its sign, and the words."""
BESIDE: dict[Beside, str] = {"better": "better", "worse": "worse", "same": "", "unknown": ""}
LEAST_MS = 50
"""A difference that is less is no difference."""


def dots(cell: MatrixCell) -> str:
    """One sign for each repeat: passed ones first, then failed ones, then those without a score."""
    passed, failed = cell.passes, cell.tries.count("failed")
    return "●" * passed + "○" * failed + "·" * (len(cell.tries) - passed - failed)


def cell_words(cell: MatrixCell) -> str:
    """`2 of 3 passed`, or how its only try ended."""
    if len(cell.tries) > 1 and (scored := cell.passes + cell.tries.count("failed")):
        left = len(cell.tries) - scored
        return f"{cell.passes} of {scored} passed" + (f", {left} without a score" if left else "")
    return MARKS[cell.mark][1]


def deltas(cell: MatrixCell, baseline: MatrixCell) -> list[str]:
    """What a try cost and took more or less than one of the baseline: `−12 % cost`, `+0.3 s`."""
    found: list[str] = []
    if cell.cost is not None and baseline.cost is not None and (cost := _cost_delta(cell.cost, baseline.cost)):
        found.append(cost)
    if cell.ms is not None and baseline.ms is not None:
        more = cell.ms - baseline.ms
        if abs(more) >= LEAST_MS:
            found.append(f"{'+' if more > 0 else '−'}{duration(abs(more))}")
    return found


def _cost_delta(cost: float, baseline: float) -> str:
    if not baseline:
        return f"+{dollars(cost)}" if cost else ""
    share = round(100 * (cost / baseline - 1))
    return f"{'+' if share > 0 else '−'}{abs(share):,} % cost" if share else ""


def left_words(column: ColumnResults) -> list[str]:
    """What is in no rate, and what the rate would be at worst and at best."""
    counts = ((column.errors, "error"), (column.not_scored, "not scored"), (column.skipped, "skipped"))
    found = [plural(number, "error") if word == "error" else f"{number:,} {word}" for number, word in counts if number]
    if column.pending:
        found.append(f"{column.pending:,} not run yet")
    if column.errors and column.worst is not None and column.best is not None:
        found.append(f"{100 * column.worst:.0f}–{100 * column.best:.0f} % had they failed or passed")
    return found


def time_note(experiment: Experiment) -> str:
    """Under which conditions times were measured."""
    plan = experiment.plan
    alone = "the model's alone, since tools answered from the record" if plan.tools == "recorded" else "with its tools"
    return f"Times are {alone}, with up to {plural(plan.concurrency, 'cell')} at once."
