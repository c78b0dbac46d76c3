"""Figures of all runs by day, kept up while rows are saved: nobody ever adds up all rows for a page."""

import asyncio
from collections.abc import Iterable
from datetime import date, datetime

from app.domain.usage.figures import NOTHING, Figures, UsageKey
from app.domain.usage.query import Cell, UsageQuery, UsageRow, UsageSeries, daily_of, rows_of, totals_of
from app.store.journal.frames import Document
from app.store.runs.usage_shares import shares


class UsageFigures:
    def __init__(self, stored: Iterable[Document] = ()) -> None:
        """`stored` are the documents of all runs' rows; they are looked at as they are stored, for there are many."""
        self._cells: dict[UsageKey, Figures] = {}
        for document in stored:
            self._add(document)

    def take(self, document: Document, *, before: Document | None) -> None:
        """Count a run's row as it is stored now, in place of what was stored `before`."""
        if before is not None:
            for key, figures in shares(before):
                self._set(key, self._cells.get(key, NOTHING) - figures)
        self._add(document)

    def cells(self) -> list[Cell]:
        """All, as they stand now."""
        return list(self._cells.items())

    def _add(self, document: Document) -> None:
        for key, figures in shares(document):
            self._set(key, self._cells.get(key, NOTHING) + figures)

    def _set(self, key: UsageKey, figures: Figures) -> None:
        if figures:
            self._cells[key] = figures
        else:
            self._cells.pop(key, None)


class Usage:
    """What pages and programs ask of the figures. Whatever is asked is added up off the event loop."""

    def __init__(self, figures: UsageFigures) -> None:
        self._figures = figures

    async def rows(self, query: UsageQuery) -> list[UsageRow]:
        """One for each group that the query tells apart, the dearest first; by day, where days come first in it."""
        return await asyncio.to_thread(rows_of, self._cells(query), query)

    async def totals(self, query: UsageQuery) -> Figures:
        """The sum over all that is asked for."""
        return await asyncio.to_thread(totals_of, self._cells(query), query)

    async def daily(self, query: UsageQuery) -> list[UsageSeries]:
        """A series day by day for each of the rows, in their order."""
        first = min((key.day for key, _ in self._figures.cells()), default=None)
        known = None if first is None else date.fromisoformat(first)
        return await asyncio.to_thread(daily_of, self._cells(query), query, first=known, today=_today())

    def _cells(self, query: UsageQuery) -> list[Cell]:
        since, until = (day.isoformat() for day in query.span(_today()))
        return [cell for cell in self._figures.cells() if since <= cell[0].day <= until]


def _today() -> date:
    return datetime.now().date()  # noqa: DTZ005  the computer's own zone is meant
