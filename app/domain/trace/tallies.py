"""How often each tool was called, how often that failed, and how long it took, in a form that adds up over runs."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from app.domain.events import Entry, ToolReturned
from app.domain.messages import ToolStatus
from app.domain.values import Value

STEPS_PER_DOUBLING = 4
"""Times are counted in steps of 19 %, so that a median out of them is at most 9 % off."""
SHORTEST_MS = 0.01
UNCOUNTED: frozenset[ToolStatus] = frozenset({"denied", "unknown", "cancelled", "invalid"})
"""Calls that no tool got, as the model's arguments fit none, or that a person ended: they tell nothing of the tool."""


class ToolTally(Value):
    """One tool in one run."""

    name: str
    calls: int
    failures: int = 0
    times: dict[int, int] = {}
    """By step of time: how many calls took so long."""


class ToolStats(Value):
    """One tool in all runs."""

    calls: int = 0
    failures: int = 0
    p50_ms: float | None = None
    """Half of its calls took no longer, give or take 9 %; `None` where none was timed."""
    recent_runs: tuple[str, ...] = ()
    """The ids of the last runs that called it, newest first."""


def tallies(entries: Iterable[Entry]) -> tuple[ToolTally, ...]:
    """One for each tool that was called, by name."""
    calls: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    times: dict[str, Counter[int]] = {}
    for entry in entries:
        match entry.event:
            case ToolReturned(result=result, ms=ms) if result.status not in UNCOUNTED:
                calls[result.name] += 1
                failures[result.name] += result.failed
                times.setdefault(result.name, Counter())[time_step(ms)] += 1
            case _:
                pass
    return tuple(
        ToolTally(name=name, calls=calls[name], failures=failures[name], times=dict(times[name]))
        for name in sorted(calls)
    )


def time_step(ms: float) -> int:
    """The step that the time falls into."""
    return round(math.log2(max(ms, SHORTEST_MS)) * STEPS_PER_DOUBLING)


def median_ms(times: Mapping[int, int]) -> float | None:
    """The time of the call in the middle, in milliseconds."""
    left = (sum(times.values()) + 1) // 2
    for step in sorted(times):
        left -= times[step]
        if left <= 0:
            return ms_of(step)
    return None


def ms_of(step: int) -> float:
    """The time that the step stands for, in milliseconds."""
    return float(2 ** (step / STEPS_PER_DOUBLING))
