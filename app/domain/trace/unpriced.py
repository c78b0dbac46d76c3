"""Whether somebody agreed to a model of which nobody said what it costs."""

from collections.abc import Sequence

from app.domain.events import Decision, Entry, PauseRequested, PauseResolved, RunStarted
from app.domain.trace.usage import own_entries

UNPRICED = "unpriced"
"""The name of the pause that asks for it."""


def unpriced_decision(entries: Sequence[Entry]) -> Decision | None:
    """What was decided in this run or in one before it; `None` where nobody was asked or answered.

    Of a fork, what it says at its beginning, and what was decided in its own session.
    """
    asked: set[str] = set()
    decision: Decision | None = None
    for entry in (*entries[:1], *own_entries(entries)):
        match entry.event:
            case RunStarted(unpriced_agreed=True):
                decision = "approve"
            case PauseRequested(name=name, call_id="") as pause if name == UNPRICED:
                asked.add(pause.pause_id)
            case PauseResolved(by=by) as resolved if resolved.pause_id in asked and by not in ("steer", "app"):
                decision = resolved.decision
            case _:
                pass
    return decision
