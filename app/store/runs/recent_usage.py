"""Figures of the last hours in steps shorter than a day, added up from the rows of just those hours when asked for."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from app.domain.usage.figures import Figures, total
from app.store.journal.documents import number
from app.store.journal.frames import Document
from app.store.runs.rows import Rows
from app.store.runs.usage_shares import shares

RecentStep = tuple[datetime, Figures | None]
"""When it began, and its figures: those of the runs that began in it; `None` before the first run of all."""


class RecentUsage:
    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def steps(self, step: timedelta, count: int, *, until: datetime) -> list[RecentStep]:
        """The last so many steps, the one that `until` is in at the end; added up off the event loop."""
        await self._rows.warm()
        return await asyncio.to_thread(self._steps, step, count, until)

    def _steps(self, step: timedelta, count: int, until: datetime) -> list[RecentStep]:
        seconds = step.total_seconds()
        last = until.timestamp() // seconds
        edges = [datetime.fromtimestamp((last - back) * seconds, UTC) for back in range(count - 1, -1, -1)]
        found: list[list[Document]] = [[] for _ in edges]
        for document in self._rows.begun_since(edges[0]):
            place = int((number(document.get("started")) - edges[0].timestamp()) // seconds)
            if 0 <= place < count:
                found[place].append(document)
        first = self._rows.first_begun()
        return [
            (edge, _figures(documents) if first is not None and edge + step > first else None)
            for edge, documents in zip(edges, found, strict=True)
        ]


def _figures(documents: Sequence[Document]) -> Figures:
    return total(figures for document in documents for _, figures in shares(document))
