"""How far a run is: the steps it has done, and what it does now."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.events import Entry, ModelCalled
from app.domain.trace.left import left_calls
from app.domain.trace.status import finished, open_pauses


@dataclass(frozen=True, slots=True)
class JobProgress:
    steps: int
    """Calls of the model so far, further attempts at the same one not counted."""
    tools: tuple[str, ...] = ()
    """The tools that are running now."""
    waits: bool = False
    """True while a person has to decide something."""


def job_progress(entries: Sequence[Entry]) -> JobProgress:
    """How far the run is after the last of these entries."""
    steps = sum(isinstance(entry.event, ModelCalled) and entry.event.attempt == 1 for entry in entries)
    if finished(entries) is not None:
        return JobProgress(steps)
    running = tuple(left.call.name for left in left_calls(entries) if left.begun and left.pause is None)
    return JobProgress(steps, running, bool(open_pauses(entries)))
