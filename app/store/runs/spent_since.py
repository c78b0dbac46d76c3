"""What runs have cost since a moment: added up once, and kept right as their rows change."""

import asyncio
from collections.abc import Callable
from datetime import datetime

PICO = 10**12
"""Of a US dollar: costs are summed up as whole numbers of these, which can be taken out of a sum again."""
KEPT = 2
"""Moments that are asked for again and again: when the day began, and the month."""


class SpentSince:
    def __init__(self, added_up: Callable[[float], int]) -> None:
        """`added_up`: what the runs that began since so many seconds after 1970 have cost."""
        self._added_up = added_up
        self._sums: dict[float, int] = {}
        self._changes = 0

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
                changes, found = self._changes, await asyncio.to_thread(self._added_up, start)
                if changes == self._changes:  # else it is of other rows
                    self._keep(start, found)

    def take(self, began: float, dollars: float) -> None:
        """A run that began then has cost so much more, or less."""
        self._changes += 1
        for start in self._sums:
            if began >= start:
                self._sums[start] += pico(dollars)

    def _keep(self, start: float, found: int) -> None:
        if len(self._sums) >= KEPT:
            del self._sums[next(iter(self._sums))]
        self._sums[start] = found


def pico(dollars: float) -> int:
    return round(dollars * PICO)
