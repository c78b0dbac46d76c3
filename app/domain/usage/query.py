"""What is asked of the daily figures, and the answers: rows, sums, and a series day by day."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

from pydantic import Field

from app.domain.usage.days import days_between
from app.domain.usage.figures import NOTHING, Cell, Figures, UsageKey, total
from app.domain.values import Value

Grouping = Literal["day", "agent", "variant", "model", "provider", "purpose", "background", "tool"]


class UsageQuery(Value):
    """Of which days, which runs, and told apart by what."""

    days: int = Field(default=30, ge=1, le=3660)
    """The last so many days up to `until`, that one included; without meaning where `since` is set."""
    since: date | None = None
    until: date | None = None
    """The first and the last day, both included; today, where no last one is set."""
    by: tuple[Grouping, ...] = ()
    where: dict[Grouping, tuple[str, ...]] = {}
    """Only cells that say one of these: `{"agent": ("its id",), "background": ("true",)}`."""

    def span(self, today: date) -> tuple[date, date]:
        """The first and the last day that are asked for."""
        until = self.until or today
        return self.since or date.fromordinal(max(1, until.toordinal() - self.days + 1)), until

    def holds(self, key: UsageKey) -> bool:
        """Whether the cell is asked for, whatever its day."""
        return all(word(key, name) in wanted for name, wanted in self.where.items())

    def group(self, key: UsageKey) -> tuple[str, ...]:
        """What the cell is told apart by, one word for each of `by`."""
        return tuple(word(key, name) for name in self.by)


@dataclass(frozen=True, slots=True)
class UsageRow:
    group: tuple[str, ...]
    """What it is of, one word for each of the query's `by`."""
    figures: Figures


@dataclass(frozen=True, slots=True)
class UsageSeries:
    """Day by day."""

    group: tuple[str, ...]
    days: tuple[tuple[date, Figures | None], ...]
    """Each day asked for; `None` before the first day of which anything is known, nought where there were no runs."""


def word(key: UsageKey, name: Grouping) -> str:
    """What the cell says there, as a word."""
    said = getattr(key, name)
    return str(said).lower() if isinstance(said, bool) else str(said)


def rows_of(cells: Iterable[Cell], query: UsageQuery) -> list[UsageRow]:
    """The dearest first, then those with the most calls; by day, where days are told apart first."""
    groups: defaultdict[tuple[str, ...], list[Figures]] = defaultdict(list)
    for key, figures in cells:
        if query.holds(key) and (key.tool or "tool" not in query.by):
            groups[query.group(key)].append(figures)
    rows = [UsageRow(group, total(found)) for group, found in groups.items()]
    return ordered((row for row in rows if row.figures), query)


def totals_of(cells: Iterable[Cell], query: UsageQuery) -> Figures:
    """The sum over all that is asked for, whatever it is told apart by."""
    return total(figures for key, figures in cells if query.holds(key))


def daily_of(cells: Iterable[Cell], query: UsageQuery, *, first: date | None, today: date) -> list[UsageSeries]:
    """A series for each row of the query, in the same order; one of nothing where there are no rows.

    `first` is the first day of which anything is known.
    """
    found = list(cells)
    by_day = rows_of(found, query.model_copy(update={"by": ("day", *query.by)}))
    known = {(row.group[1:], row.group[0]): row.figures for row in by_day}
    groups = [row.group for row in rows_of(found, query)] if query.by else [()]
    span = days_between(*query.span(today))
    return [UsageSeries(group, tuple(days_of(group, span, known, first))) for group in groups]


def days_of(
    group: tuple[str, ...], span: list[date], known: Mapping[tuple[tuple[str, ...], str], Figures], first: date | None
) -> Iterable[tuple[date, Figures | None]]:
    """Each day with the group's figures, which are `known` by group and day; `None` before the first day of all."""
    for day in span:
        was_there = first is not None and day >= first
        yield day, known.get((group, day.isoformat()), NOTHING) if was_there else None


def ordered(rows: Iterable[UsageRow], query: UsageQuery) -> list[UsageRow]:
    """The dearest first, then those with the most calls; by day, where days are told apart first."""
    by_day = query.by[:1] == ("day",)
    return sorted(rows, key=lambda row: row.group if by_day else _weight(row))


def _weight(row: UsageRow) -> tuple[object, ...]:
    return -row.figures.cost, -row.figures.calls - row.figures.tool_calls, row.group
