"""Columns of cells to compare."""

from collections.abc import Sequence

from app.domain.evals.verdicts import CaseScores, ColumnScores


def column(passes: Sequence[int], *, repeats: int = 1) -> dict[str, CaseScores]:
    """One case for each number of passes."""
    return {f"case {at}": CaseScores(scores=(1.0,) * n + (0.0,) * (repeats - n)) for at, n in enumerate(passes)}


def graded(scores: Sequence[float]) -> dict[str, CaseScores]:
    return {f"case {at}": CaseScores(scores=(score,)) for at, score in enumerate(scores)}


def split(better: int, worse: int, *, of: int) -> tuple[ColumnScores, ColumnScores]:
    """A baseline, and a column that differs from it in so many cases."""
    same = [1] * (of - better - worse)
    return column([0] * better + [1] * worse + same), column([1] * better + [0] * worse + same)
