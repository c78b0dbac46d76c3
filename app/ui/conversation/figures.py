"""What the runs of a session used up, added up as their entries come in."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from app.domain.agents import Limits
from app.domain.events import Entry, Forked, ModelReturned
from app.domain.trace import RunRow
from app.ui.conversation.task_line import TaskState


@dataclass(slots=True)
class Figures:
    """Of one run; of a fork, what came after its copied prefix."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    """US dollars."""
    unpriced: bool = False
    latencies: list[float] = field(default_factory=list)
    """Milliseconds of each answer of the model."""
    first_tokens: list[float] = field(default_factory=list)
    """Milliseconds to the first token of each answer."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def take(self, entry: Entry) -> None:
        match entry.event:
            case ModelReturned() as returned:
                self.input_tokens += returned.usage.input_tokens
                self.output_tokens += returned.usage.output_tokens
                self.cost += returned.cost or 0.0
                self.unpriced = self.unpriced or returned.cost is None
                self.latencies.append(returned.total_ms)
                if returned.first_token_ms is not None:
                    self.first_tokens.append(returned.first_token_ms)
            case Forked():
                self.input_tokens = self.output_tokens = 0
                self.cost, self.unpriced = 0.0, False
                self.latencies.clear()
                self.first_tokens.clear()
            case _:
                pass

    def add(self, state: TaskState) -> None:
        """What a run used that it started."""
        self.input_tokens += state.input_tokens
        self.output_tokens += state.output_tokens
        self.cost += state.cost
        self.unpriced = self.unpriced or state.unpriced

    @classmethod
    def of_rows(cls, rows: Sequence[RunRow]) -> "Figures":
        """Of a run that is not shown, from its row and those of runs that count with it; a row keeps no latencies."""
        read, written = sum(row.input_tokens for row in rows), sum(row.output_tokens for row in rows)
        return cls(read, written, sum(row.cost for row in rows), any(row.unpriced for row in rows))


NEAR = 0.8
"""The share of a limit from which on it is shown as a warning."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """How much of a limit is used."""

    share: float
    """1 is all of it."""
    words: str

    @property
    def near(self) -> bool:
        return self.share >= NEAR


def ceiling(
    limits: Limits,
    *,
    run_cost: float,
    day_cost: float,
    session_cost: float = 0.0,
    all_day: float = 0.0,
    month_cost: float = 0.0,
    all_month: float = 0.0,
) -> Ceiling | None:
    """The money limit that is used up most; `None` when there is none. `all_…`: that of all agents together."""
    spans = (
        (run_cost, limits.run_cost, "a run"),
        (session_cost, limits.session_cost, "a session"),
        (day_cost, limits.day_cost, "a day"),
        (day_cost, all_day, "a day for all agents"),
        (month_cost, all_month, "a month for all agents"),
    )
    ceilings = [
        Ceiling(used / allowed, f"{used / allowed * 100:.0f} % of ${allowed:g} {span}")
        for used, allowed, span in spans
        if allowed > 0
    ]
    return max(ceilings, key=lambda one: one.share, default=None)


def token_ceiling(limits: Limits, run_tokens: int) -> Ceiling | None:
    """How much of the tokens of a run is used; `None` where they have no limit."""
    if not limits.run_tokens:
        return None
    share = run_tokens / limits.run_tokens
    return Ceiling(share, f"{share * 100:.0f} % of {limits.run_tokens:,} tokens a run")


def middle(values: Sequence[float]) -> float | None:
    """The median, `None` of nothing."""
    return median(values) if values else None
