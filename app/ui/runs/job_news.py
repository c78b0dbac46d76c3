"""Tells, on whatever page a tab is, that runs in the background have ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.ui.elements.addresses import JOBS, run_address
from app.ui.elements.format import head, plural
from app.ui.elements.notices import notify_with_link
from app.ui.elements.status_pill import status_words

if TYPE_CHECKING:
    from app.domain.trace import RunRow
    from app.engine.sessions.jobs import Jobs

MOST_AT_ONCE = 3
"""Ended runs that are told one by one; more are counted."""


@dataclass(frozen=True)
class Ended:
    number: int
    """How many ended since it was looked last."""
    rows: "Sequence[RunRow]"
    """The last of them, oldest first."""


class JobNews:
    """Knows what one tab has been told; runs that ended before it was opened are no news."""

    def __init__(self, jobs: "Jobs") -> None:
        self._jobs = jobs
        self._seen = jobs.ended_count

    def take(self) -> Ended:
        """What ended since the last look."""
        number, self._seen = self._jobs.ended_count - self._seen, self._jobs.ended_count
        return Ended(number, list(self._jobs.ended)[-number:] if number else [])


def tell(ended: Ended) -> None:
    """Show the tab a notice of each, with a link there."""
    if ended.number > MOST_AT_ONCE:
        words = f"{plural(ended.number, 'background run')} ended."
        notify_with_link(words, "Open Jobs", JOBS, testid="job-notice", symbol="task_alt")
        return
    for row in ended.rows:
        bad = row.status in ("failed", "limited")
        symbol, address = "error" if bad else "task_alt", run_address(row.run_id)
        notify_with_link(ended_words(row), "Open", address, testid="job-notice", symbol=symbol, bad=bad)


def ended_words(row: "RunRow") -> str:
    """`Write the report: finished`."""
    outcome = {"completed": "finished", "limited": "reached a limit"}.get(row.status, status_words(row.status).lower())
    return f"{head(row.request, 60) or row.agent.name}: {outcome}"
