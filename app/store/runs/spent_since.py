"""What runs have cost since a moment: added up once, and kept right as rows are saved."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from app.store.journal.frames import Document
from app.store.runs.stored_row import PICO, spent

KEPT = 2
"""Moments that are asked for again and again: when the day began, and the month."""


class SpentSince:
    def __init__(self, begun_since: Callable[[datetime], list[Document]]) -> None:
        self._begun_since = begun_since
        self._sums: dict[float, int] = {}
        self._saved = 0

    def dollars(self, moment: datetime) -> float:
        """For one of the last moments it takes as long with many runs as with few."""
        start = moment.timestamp()
        if start not in self._sums:
            self._keep(start, self._added_up(moment))
        return self._sums[start] / PICO

    async def warm(self, *moments: datetime) -> None:
        """Add up beside the event loop what is asked for next."""
        for moment in moments:
            if (start := moment.timestamp()) not in self._sums:
                saved, found = self._saved, await asyncio.to_thread(self._added_up, moment)
                if saved == self._saved:  # else it is of other rows
                    self._keep(start, found)

    def take(self, stored: Document, before: Document | None) -> None:
        """A row was saved, in place of the one before."""
        self._saved += 1
        for start in self._sums:
            self._sums[start] += spent(stored, start) - spent(before, start)

    def _added_up(self, moment: datetime) -> int:
        return sum(spent(document, moment.timestamp()) for document in self._begun_since(moment))

    def _keep(self, start: float, found: int) -> None:
        if len(self._sums) >= KEPT:
            del self._sums[next(iter(self._sums))]
        self._sums[start] = found
