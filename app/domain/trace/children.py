"""The runs that a run has started."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.events import ChildFinished, ChildStarted, Entry, FinalStatus
from app.domain.trace.usage import own_entries


@dataclass(slots=True)
class Child:
    run_id: str
    call_id: str
    """The tool call that started it."""
    status: FinalStatus | None = None
    """How it ended, `None` where the run that started it was not told of an end."""


def children(entries: Sequence[Entry]) -> list[Child]:
    """In the order in which they were started; of a fork those that it started itself."""
    found: dict[str, Child] = {}
    for entry in own_entries(entries):
        match entry.event:
            case ChildStarted(call_id=call_id, child_run_id=run_id, of_run=""):
                found.setdefault(run_id, Child(run_id, call_id))
            case ChildFinished(child_run_id=run_id, status=status) if run_id in found:
                found[run_id].status = status
            case _:
                pass
    return list(found.values())
