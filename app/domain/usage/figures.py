"""Figures of many runs. All are whole numbers: what is added and taken out again leaves exactly nothing."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, TypeVar

from app.domain.histograms import quantile_ms
from app.domain.trace.model_tallies import NANO

Counted = TypeVar("Counted", bound=Hashable)
Sum = int | dict[str, int] | dict[int, int]


class UsageKey(NamedTuple):
    """What one cell of figures is of."""

    day: str
    """The person's day on which the run began: `2026-11-23`."""
    agent: str
    """Its id."""
    variant: int
    model: str
    """As the run names it."""
    provider: str
    purpose: str
    background: bool
    tool: str
    """Empty but for figures of a tool: those are cells of their own, with the model that the run began with."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Of runs, their model calls and their tool calls. Empty ones are false."""

    runs: int = 0
    """Counted on the day they began; calls of apps are none."""
    endings: Mapping[str, int] = field(default_factory=dict)
    """Runs by status: completed, failed, cancelled, limited; running ones have no end, or none yet."""
    failures: Mapping[str, int] = field(default_factory=dict)
    """Runs that ended by an error, by its class."""
    durations: Mapping[int, int] = field(default_factory=dict)
    """Runs by how long they took: see `domain.histograms`."""
    unpriced_runs: int = 0
    """Runs with a call of which nobody said what it costs."""
    calls: int = 0
    """Model calls, further attempts included."""
    retries: int = 0
    call_failures: Mapping[str, int] = field(default_factory=dict)
    """Model calls that came to no end, by the class of the error, also those that were tried again."""
    times: Mapping[int, int] = field(default_factory=dict)
    """Answers by how long they took."""
    first_token_times: Mapping[int, int] = field(default_factory=dict)
    input_tokens: int = 0
    cached_tokens: int = 0
    """Of the input."""
    output_tokens: int = 0
    reasoning_tokens: int = 0
    """Of the output."""
    cost: int = 0
    """Nano-dollars."""
    unpriced: int = 0
    """Model calls of which nobody said what they cost."""
    tool_calls: int = 0
    tool_failures: int = 0
    tool_times: Mapping[int, int] = field(default_factory=dict)

    def __add__(self, other: "Figures") -> "Figures":
        return self._with(other, 1)

    def __sub__(self, other: "Figures") -> "Figures":
        return self._with(other, -1)

    def __bool__(self) -> bool:
        return self != NOTHING

    @property
    def dollars(self) -> float:
        """US dollars."""
        return self.cost / NANO

    @property
    def failed(self) -> int:
        """Runs that failed."""
        return self.endings.get("failed", 0)

    def duration_ms(self, share: float) -> float | None:
        """How long that share of the runs took at most, about: 0.5 for the median."""
        return quantile_ms(self.durations, share)

    def answer_ms(self, share: float) -> float | None:
        """The same of answers of models, from the request to their end."""
        return quantile_ms(self.times, share)

    def first_token_ms(self, share: float) -> float | None:
        return quantile_ms(self.first_token_times, share)

    def tool_ms(self, share: float) -> float | None:
        return quantile_ms(self.tool_times, share)

    def _with(self, other: "Figures", sign: int) -> "Figures":
        return self.replaced(
            {name: _summed(getattr(self, name), theirs, sign) for name in NAMES if (theirs := getattr(other, name))}
        )

    def replaced(self, changes: Mapping[str, Sum]) -> "Figures":
        """The same with these in place of its own, by name."""
        changed: dict[str, Any] = dict(changes)
        return replace(self, **changed)


Cell = tuple[UsageKey, Figures]
NAMES = tuple(each.name for each in fields(Figures))
NOTHING = Figures()


def total(figures: Iterable[Figures]) -> Figures:
    """The sum of all."""
    return sum(figures, NOTHING)


def _summed(one: object, other: object, sign: int) -> Sum:
    if isinstance(one, int) and isinstance(other, int):
        return one + sign * other
    if isinstance(one, dict) and isinstance(other, dict):
        return _counted(one, other, sign)
    raise TypeError("Figures are whole numbers, or counts of something")


def _counted(one: dict[Counted, int], other: dict[Counted, int], sign: int) -> dict[Counted, int]:
    """Without what has become nought, so that equal figures are equal."""
    counts = dict(one)
    for what, count in other.items():
        if left := counts.get(what, 0) + sign * count:
            counts[what] = left
        else:
            counts.pop(what, None)
    return counts
