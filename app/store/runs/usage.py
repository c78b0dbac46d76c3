"""What pages and programs ask of the daily figures. Whatever is asked is added up off the event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import date, datetime

from app.domain.usage.figures import Cell, Figures, UsageKey
from app.domain.usage.query import UsageQuery, UsageRow, UsageSeries, daily_of, rows_of, totals_of
from app.store.runs.usage_figures import UsageFigures


class Usage:
    def __init__(self, figures: UsageFigures, settle: Callable[[], Awaitable[None]]) -> None:
        self._figures = figures
        self._settle = settle

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
        return await asyncio.to_thread(_together, self._figures.cells(date.min, date.max))

    def span(self, query: UsageQuery) -> tuple[date, date]:
        """The first and the last day that are asked for, as of today."""
        return query.span(today())

    async def _cells(self, query: UsageQuery) -> Callable[[], list[Cell]]:
        await self._figures.warm()
        return self._figures.cells(*query.span(today()))


def _together(cells: Callable[[], list[Cell]]) -> list[Cell]:
    found: dict[UsageKey, Figures] = {}
    for key, figures in cells():
        ever = key._replace(day="")
        found[ever] = found[ever] + figures if ever in found else figures
    return list(found.items())


def today() -> date:
    """The person's day."""
    return datetime.now().date()  # noqa: DTZ005  the computer's own zone is meant
