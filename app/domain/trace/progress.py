"""How far a run is: the steps it has done, and what it does now."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.events import Entry, ModelCalled, NodeStarted, RunStarted
from app.domain.trace.left import left_calls
from app.domain.trace.nodes import nodes
from app.domain.trace.status import finished, open_pauses


@dataclass(frozen=True, slots=True)
class JobProgress:
    steps: int
    """Calls of the model so far, or nodes that began; further attempts at the same one not counted."""
    tools: tuple[str, ...] = ()
    """The tools that are running now; of a workflow its nodes, but for maps and loops."""
    waits: bool = False
    """True while a person has to decide something."""


def job_progress(entries: Sequence[Entry]) -> JobProgress:
    """How far the run is after the last of these entries."""
    steps = sum(isinstance(entry.event, ModelCalled | NodeStarted) and entry.event.attempt == 1 for entry in entries)
    if finished(entries) is not None:
        return JobProgress(steps)
    if isinstance(entries[0].event, RunStarted) and entries[0].event.workflow is not None:
        runs = nodes(entries).by_call.values()
        going_on = tuple(run.label for run in runs if not (run.ended or run.of or run.pauses))
        return JobProgress(steps, going_on, bool(open_pauses(entries)))
    running = tuple(left.call.name for left in left_calls(entries) if left.begun and left.pause is None)
    return JobProgress(steps, running, bool(open_pauses(entries)))
