"""A fork beside the run it comes from: what it took over, and step by step what became another."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.errors import ErrorInfo
from app.domain.events import Entry, Forked, MessageAdded
from app.domain.trace.alignment import AlignedStep, align
from app.domain.trace.status import error_of
from app.domain.trace.trajectory import TrajectoryStep, trajectory


@dataclass(frozen=True, slots=True)
class ForkView:
    forked: Forked
    """Where it comes from."""
    reused: int
    """Steps that were copied whole."""
    new: int
    """Steps of its own."""
    rows: tuple[AlignedStep, ...] = ()
    """From the first edited step on, else what came after: its origin in the first column, the fork in the second."""
    error: ErrorInfo | None = None
    """Why the run it comes from ended, where that is an error."""

    @property
    def summary(self) -> str:
        """`12 steps reused, 3 new`."""
        return f"{self.reused} step{'s' * (self.reused != 1)} reused, {self.new} new"


def fork_view(fork: Sequence[Entry], original: Sequence[Entry] = ()) -> ForkView | None:
    """The fork as it stands, beside the run it comes from where that is given; `None` for a run that is no fork."""
    found = fork_of(fork)
    if found is None:
        return None
    place, forked = found
    reused = reused_steps(trajectory(fork[:place]))
    steps = trajectory(fork)
    start = min([reused, *(_step_at(steps, fork[seq]) for seq in forked.edited if 0 < seq < place)])
    rows = align([trajectory(original)[start:], steps[start:]]) if original else []
    return ForkView(forked, reused, len(steps) - reused, tuple(rows), error_of(original))


def _step_at(steps: Sequence[TrajectoryStep], edited: Entry) -> int:
    """The index of the step that has the entry, or that answers it."""
    begun = bisect_right(steps, edited.seq, key=lambda step: step.decision.seq)
    is_message = isinstance(edited.event, MessageAdded) and edited.event.message.role == "user"
    return begun if is_message else max(0, begun - 1)


def fork_of(entries: Sequence[Entry]) -> tuple[int, Forked] | None:
    """The end of the copied prefix and its place, `None` for a run that is no fork; read from the end."""
    for entry in reversed(entries):
        match entry.event:
            case Forked() as forked:
                return entry.seq, forked
            case _:
                pass
    return None


def reused_steps(prefix: Sequence[TrajectoryStep]) -> int:
    """How many of the copied steps are whole: with all their calls answered."""
    cut = (place for place, step in enumerate(prefix) if any(call.result is None for call in step.calls))
    return next(cut, len(prefix))
