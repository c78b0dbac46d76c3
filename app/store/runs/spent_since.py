"""What runs have cost since a moment: added up once, and kept right as rows are saved."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from app.store.journal.documents import number
from app.store.journal.frames import Document
from app.store.runs.stored_row import row_field

PICO = 10**12
"""Of a US dollar: costs are summed up as whole numbers of these."""
KEPT = 2
"""Moments that are asked for again and again: when the day began, and the month."""


class SpentSince:
    def __init__(self, added_up: Callable[[float], int]) -> None:
        """`added_up`: what the runs that began since so many seconds after 1970 have cost."""
        self._added_up = added_up
        self._sums: dict[float, int] = {}
        self._saved = 0

    def dollars(self, moment: datetime) -> float:
        """For one of the last moments it takes as long with many runs as with few."""
        start = moment.timestamp()
        if start not in self._sums:
            self._keep(start, self._added_up(start))
        return self._sums[start] / PICO

    async def warm(self, *moments: datetime) -> None:
        """Add up beside the event loop what is asked for next."""
        for moment in moments:
            if (start := moment.timestamp()) not in self._sums:
                saved, found = self._saved, await asyncio.to_thread(self._added_up, start)
                if saved == self._saved:  # else it is of other rows
                    self._keep(start, found)

    def take(self, stored: Document, before: Document | None) -> None:
        """A row was saved, in place of the one before."""
        self._saved += 1
        for start in self._sums:
            self._sums[start] += _spent(stored, start) - _spent(before, start)

    def _keep(self, start: float, found: int) -> None:
        if len(self._sums) >= KEPT:
            del self._sums[next(iter(self._sums))]
        self._sums[start] = found


def _spent(document: Document | None, start: float) -> int:
    """What the run has cost, as a whole number that can be taken out of a sum again; 0 for one that began before."""
    if document is None or number(document.get("started")) < start or row_field(document, "imported"):
        return 0
    return round(number(row_field(document, "cost")) * PICO)
