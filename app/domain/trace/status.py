"""Where a run stands. Computed, never stored: a killed process writes nothing, and its runs still tell the truth."""

from collections.abc import Sequence
from typing import Literal

from app.domain.errors import ErrorInfo
from app.domain.events import Entry, LimitReached, PauseRequested, PauseResolved, RunFinished

RunStatus = Literal["running", "paused", "completed", "failed", "cancelled", "limited", "interrupted"]
UNFINISHED: tuple[RunStatus, ...] = ("running", "paused", "interrupted")
"""Of runs that have no end, or none yet."""


def status(entries: Sequence[Entry], *, alive: bool, pauses: "PausesSoFar | None" = None) -> RunStatus:
    """With an end, that; without one, running or paused while its process lives, else paused or interrupted.

    `pauses`: those of the same run before.
    """
    if (end := finished(entries)) is not None:
        return end.status
    if (pauses or PausesSoFar()).of(entries):
        return "paused"
    return "running" if alive else "interrupted"


def finished(entries: Sequence[Entry]) -> RunFinished | None:
    """The run's end, `None` while there is none."""
    if entries and isinstance(entries[-1].event, RunFinished):
        return entries[-1].event
    return None


def open_pauses(entries: Sequence[Entry]) -> list[PauseRequested]:
    """The pauses that still wait for a decision, oldest first."""
    return PausesSoFar().of(entries)


class PausesSoFar:
    """The same of a run that grows, of which no entry is looked at twice."""

    def __init__(self) -> None:
        self._waiting: dict[str, PauseRequested] = {}
        self._taken = 0

    def of(self, entries: Sequence[Entry]) -> list[PauseRequested]:
        """`entries`: those of the last time, and what came since."""
        for entry in entries[self._taken :]:
            match entry.event:
                case PauseRequested() as pause:
                    self._waiting[pause.pause_id] = pause
                case PauseResolved(pause_id=pause_id):
                    self._waiting.pop(pause_id, None)
                case _:
                    pass
        self._taken = len(entries)
        return list(self._waiting.values())


def limit_of(entries: Sequence[Entry]) -> LimitReached | None:
    """The limit that ended the run; `None` where none did."""
    end = finished(entries)
    if end is None or end.status != "limited":
        return None
    events = (entry.event for entry in reversed(entries))
    return next((event for event in events if isinstance(event, LimitReached)), None)


def error_of(entries: Sequence[Entry]) -> ErrorInfo | None:
    end = finished(entries)
    return end.error if end else None
