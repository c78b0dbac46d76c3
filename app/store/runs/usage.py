"""What pages and programs ask of the daily figures. Whatever is asked is added up off the event loop."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import date, datetime

from app.domain.models import Price
from app.domain.usage.figures import Cell, Figures
from app.domain.usage.pricing import PricedDays, PricedRow, PriceOf, priced_days, priced_rows, used_cache
from app.domain.usage.query import UsageQuery, UsageRow, UsageSeries, daily_of, rows_of, totals_of
from app.store.runs.usage_figures import UsageFigures


class Usage:
    def __init__(
        self,
        figures: UsageFigures,
        settle: Callable[[], Awaitable[None]],
        prices: Callable[[], Awaitable[PriceOf]] | None = None,
    ) -> None:
        """`prices` reads the list of prices, when it is first needed."""
        self._figures = figures
        self._settle = settle
        self._prices = prices

    @property
    def settled(self) -> bool:
        """Whether the figures are known to be right; until then, soon after a start, a kill may have left some out."""
        return self._figures.settled

    async def ready(self) -> None:
        """Return when they are: at once, but for soon after a start."""
        await self._settle()

    async def rows(self, query: UsageQuery) -> list[UsageRow]:
        """One for each group that the query tells apart, the dearest first; by day, where days come first in it."""
        cells = await self._cells(query)
        return await asyncio.to_thread(lambda: rows_of(cells(), query))

    async def priced(self, query: UsageQuery, other: Price | None = None) -> list[PricedRow]:
        """The same rows with what caches saved, and what the same tokens cost at that other price."""
        split = await self.rows(query.model_copy(update={"by": (*query.by, "model")}))
        return await asyncio.to_thread(priced_rows, split, query, await self._price_of(split), other)

    async def priced_days(self, query: UsageQuery, other: Price | None = None) -> PricedDays:
        """The same with a series day by day for each row, in their order; the figures are read once."""
        split = await self.rows(query.model_copy(update={"by": ("day", *query.by, "model")}))
        first, price_of = self._figures.first_day(), await self._price_of(split)
        return await asyncio.to_thread(lambda: priced_days(split, query, price_of, other, first=first, today=today()))

    async def _price_of(self, split: list[UsageRow]) -> PriceOf:
        needed = any(used_cache(row.figures) for row in split)
        return await self._prices() if needed and self._prices is not None else _no_price

    async def totals(self, query: UsageQuery) -> Figures:
        """The sum over all that is asked for."""
        cells = await self._cells(query)
        return await asyncio.to_thread(lambda: totals_of(cells(), query))

    async def daily(self, query: UsageQuery) -> list[UsageSeries]:
        """A series day by day for each of the rows, in their order."""
        cells, first = await self._cells(query), self._figures.first_day()
        return await asyncio.to_thread(lambda: daily_of(cells(), query, first=first, today=today()))

    async def ever(self) -> list[Cell]:
        """The figures of all days together: the day in their keys is empty."""
        await self._figures.warm()
        return await asyncio.to_thread(self._figures.ever())

    def span(self, query: UsageQuery) -> tuple[date, date]:
        """The first and the last day that are asked for, as of today."""
        return query.span(today())

    async def _cells(self, query: UsageQuery) -> Callable[[], Iterator[Cell]]:
        await self._figures.warm()
        return self._figures.cells(*query.span(today()))


def _no_price(_: str) -> None:
    """Nothing is asked of a list of prices where nothing was cached, or where there is none."""


def today() -> date:
    """The person's day."""
    return datetime.now().date()  # noqa: DTZ005  the computer's own zone is meant
