"""Figures of many runs. All are whole numbers: what is added and taken out again leaves exactly nothing."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from app.domain.histograms import quantile_ms
from app.domain.trace.model_tallies import NANO


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


NO_COUNTS: Mapping[Any, int] = {}


class Figures(NamedTuple):
    """Of runs, their model calls and their tool calls. Empty ones are false."""

    runs: int = 0
    """Counted on the day they began; calls of apps are none."""
    endings: Mapping[str, int] = NO_COUNTS
    """Runs by status: completed, failed, cancelled, limited; running ones have no end, or none yet."""
    failures: Mapping[str, int] = NO_COUNTS
    """Runs that ended by an error, by its class."""
    durations: Mapping[int, int] = NO_COUNTS
    """Runs by how long they took: see `domain.histograms`."""
    unpriced_runs: int = 0
    """Runs with a call of which nobody said what it costs."""
    queued: int = 0
    """Messages of runs that had waited in the queue of their session."""
    waits: Mapping[int, int] = NO_COUNTS
    """These by how long they waited, but for old ones, of which nobody knows it."""
    calls: int = 0
    """Model calls, further attempts included."""
    retries: int = 0
    call_failures: Mapping[str, int] = NO_COUNTS
    """Model calls that came to no end, by the class of the error, also those that were tried again."""
    times: Mapping[int, int] = NO_COUNTS
    """Answers by how long they took."""
    first_token_times: Mapping[int, int] = NO_COUNTS
    input_tokens: int = 0
    cached_tokens: int = 0
    """Of the input: read from the provider's cache."""
    cache_write_tokens: int = 0
    """Of the input: written to it."""
    output_tokens: int = 0
    reasoning_tokens: int = 0
    """Of the output."""
    cost: int = 0
    """Nano-dollars."""
    unpriced: int = 0
    """Model calls of which nobody said what they cost."""
    tool_calls: int = 0
    tool_failures: int = 0
    tool_times: Mapping[int, int] = NO_COUNTS

    def __add__(self, other: "Figures") -> "Figures":  # type: ignore[override]  # a sum, where tuples are joined
        return self.plus(other)

    def __sub__(self, other: "Figures") -> "Figures":
        return self.plus(other, -1)

    def __bool__(self) -> bool:
        return self != NOTHING

    @property
    def dollars(self) -> float:
        """US dollars."""
        return self.cost / NANO

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def hit_rate(self) -> float:
        """The share of the input that came from a cache."""
        return self.cached_tokens / self.input_tokens if self.input_tokens else 0.0

    @property
    def failed(self) -> int:
        """Runs that failed."""
        return self.endings.get("failed", 0)

    def duration_ms(self, share: float) -> float | None:
        """How long that share of the runs took at most, about: 0.5 for the median."""
        return quantile_ms(self.durations, share)

    def wait_ms(self, share: float) -> float | None:
        """The same of messages in the queue."""
        return quantile_ms(self.waits, share)

    def answer_ms(self, share: float) -> float | None:
        """The same of answers of models, from the request to their end."""
        return quantile_ms(self.times, share)

    def first_token_ms(self, share: float) -> float | None:
        return quantile_ms(self.first_token_times, share)

    def tool_ms(self, share: float) -> float | None:
        return quantile_ms(self.tool_times, share)

    def plus(self, other: "Figures", sign: int = 1) -> "Figures":
        """The sum, or what is left with a `sign` of -1."""
        pairs: Iterable[tuple[Any, Any]] = zip(self, other, strict=True)
        return Figures._make(
            one if not more else one + sign * more if isinstance(more, int) else _counted(one, more, sign)
            for one, more in pairs
        )


Cell = tuple[UsageKey, Figures]
NOTHING = Figures()


def total(figures: Iterable[Figures]) -> Figures:
    """The sum of all."""
    columns = list(zip(*figures, strict=True))
    return Figures._make(map(_sum_of, columns)) if columns else NOTHING


def _sum_of(column: Sequence[int | Mapping[object, int]]) -> int | dict[object, int]:
    """Of what all say in one field."""
    counts: Counter[object] = Counter()
    whole = 0
    for one in column:
        if isinstance(one, int):
            whole += one
        elif one:
            counts.update(one)
    return whole if isinstance(column[0], int) else {what: count for what, count in counts.items() if count}


def _counted(one: Mapping[Any, int], more: Mapping[Any, int], sign: int) -> dict[Any, int]:
    """Without what has become nought, so that equal figures are equal."""
    counts = dict(one)
    for what, count in more.items():
        if left := counts.get(what, 0) + sign * count:
            counts[what] = left
        else:
            counts.pop(what, None)
    return counts
