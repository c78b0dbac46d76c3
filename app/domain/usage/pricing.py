"""What tokens would have cost otherwise: without a cache, or at another model's price. Prices are those of today."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date

from app.domain.messages import Usage
from app.domain.models import Price
from app.domain.usage.days import days_between
from app.domain.usage.figures import NOTHING, Figures
from app.domain.usage.query import UsageQuery, UsageRow, UsageSeries, days_of, ordered

PriceOf = Callable[[str], Price | None]
"""By a model's name; `None` where nobody said it."""


@dataclass(frozen=True, slots=True)
class PricedRow:
    group: tuple[str, ...]
    figures: Figures = NOTHING
    saved: float = 0.0
    """US dollars that caches saved, what was paid for writing to them taken off; of models with a price."""
    not_priced: frozenset[str] = field(default=frozenset())
    """Models that used a cache, and of which nobody said what that saves."""
    otherwise: float | None = None
    """US dollars of the same tokens at the other price, where one was asked for."""


def usage_of(figures: Figures) -> Usage:
    """Its tokens."""
    return Usage.model_validate({name: getattr(figures, name) for name in _TOKENS})


_TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens")


def used_cache(figures: Figures) -> bool:
    return bool(figures.cached_tokens or figures.cache_write_tokens)


def saved_by_cache(figures: Figures, price: Price) -> float:
    """US dollars; less than nothing where writing to the cache cost more than reading from it saved."""
    read = 0.0 if price.cached is None else price.input - price.cached
    written = 0.0 if price.cache_write is None else price.input - price.cache_write
    return figures.cached_tokens * read + figures.cache_write_tokens * written


def priced_rows(
    split: Sequence[UsageRow], query: UsageQuery, price_of: PriceOf, other: Price | None = None
) -> list[PricedRow]:
    """The query's rows; `split`: those of the same query told apart by the model at last."""
    found: dict[tuple[str, ...], PricedRow] = {}
    for row in split:
        *group, model = row.group
        before = found.get(tuple(group), PricedRow(tuple(group)))
        price = price_of(model) if used_cache(row.figures) else None
        unknown = {model} if price is None and used_cache(row.figures) else set()
        figures = before.figures + row.figures
        found[before.group] = PricedRow(
            before.group,
            figures,
            before.saved + (saved_by_cache(row.figures, price) if price else 0.0),
            before.not_priced | unknown,
            other.cost(usage_of(figures)) if other else None,
        )
    rows = {row.group: row for row in found.values()}
    return [rows[row.group] for row in ordered((UsageRow(one.group, one.figures) for one in rows.values()), query)]


@dataclass(frozen=True, slots=True)
class PricedDays:
    """Rows, and the same day by day."""

    rows: list[PricedRow]
    series: list[UsageSeries]


def priced_days(
    split: Sequence[UsageRow],
    query: UsageQuery,
    price_of: PriceOf,
    other: Price | None = None,
    *,
    first: date | None,
    today: date,
) -> PricedDays:
    """`split`: the rows of the same query told apart by the day at first and the model at last.

    `first` is the first day of which anything is known.
    """
    rows = priced_rows([UsageRow(row.group[1:], row.figures) for row in split], query, price_of, other)
    known: dict[tuple[tuple[str, ...], str], Figures] = {}
    for row in split:
        key = row.group[1:-1], row.group[0]
        known[key] = known[key] + row.figures if key in known else row.figures
    span = days_between(*query.span(today))
    return PricedDays(rows, [UsageSeries(row.group, tuple(days_of(row.group, span, known, first))) for row in rows])


def together(rows: Sequence[PricedRow]) -> PricedRow:
    """Their sum, of no group."""
    otherwise = [row.otherwise for row in rows if row.otherwise is not None]
    return PricedRow(
        (),
        sum((row.figures for row in rows), NOTHING),
        sum(row.saved for row in rows),
        frozenset[str]().union(*(row.not_priced for row in rows)),
        sum(otherwise) if otherwise else None,
    )
