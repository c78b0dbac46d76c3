"""How a cell ends by what became of its run: what its variant did is a failure, all else an error or no answer yet."""

from collections.abc import Sequence

from app.domain.agents import LimitName
from app.domain.errors import FailureClass
from app.domain.evals.experiments import VARIANTS_FAULT, Cell, CellEnd
from app.domain.events import Entry
from app.domain.trace import error_of, finished, limit_of
from app.domain.values import Value

CEILINGS_OF_A_TIME: tuple[LimitName, ...] = ("day_cost", "app_day_cost", "app_month_cost")
"""They say nothing of the variant: the same run would have gone on yesterday."""
STOPPED = "The run was stopped."
LEFT = "The app was closed in the middle of the run."


class Ending(Value):
    """How a try ended before any scorer was asked."""

    end: CellEnd | None = None
    """`None`: it came to an answer, which is to be scored."""
    failure: FailureClass | None = None
    why: str = ""
    day_is_spent: bool = False
    """Nothing was wrong with it: no other cell can run either, since the money of the day or the machines are gone."""


ANSWERED = Ending()


def ending_of(entries: Sequence[Entry]) -> Ending:
    """How a run decides its cell. Errors are the provider's and ours, and no word about the variant."""
    end, error = finished(entries), error_of(entries)
    if end is None:
        return Ending(end="error", failure="internal", why=LEFT)
    if end.status == "completed":
        return ANSWERED
    failure = "cancelled" if end.status == "cancelled" else error.failure if error else "internal"
    why = error.text if error else STOPPED if failure == "cancelled" else ""
    limit = limit_of(entries)
    if limit is not None and limit.limit in CEILINGS_OF_A_TIME:
        return Ending(end="skipped", failure=failure, why=why, day_is_spent=True)
    if failure == "cancelled":
        return Ending(end="skipped", failure=failure, why=why)
    return Ending(end="failed" if failure in VARIANTS_FAULT else "error", failure=failure, why=why)


def scored_end(cell: Cell, deciding: str) -> CellEnd:
    """How a cell that was answered ends by what its scorers said; `deciding` is the one that counts."""
    score = cell.score(deciding)
    if score is None or score.passed is None:
        return "not_scored"
    return "passed" if score.passed else "failed"
