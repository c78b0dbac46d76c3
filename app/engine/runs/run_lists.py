"""Lists of runs, each as it really stands: those that go on here, those that were left, those that have ended."""

import asyncio
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from functools import partial

from app.domain.trace import UNFINISHED, RunFilter, RunPage, RunRow, SortKey, run_row
from app.engine.ports import RunRows, RunSearch
from app.engine.run.interrupted_runs import InterruptedRuns
from app.engine.run.run import Run
from app.engine.run.storing import row_of

MOST_UNFINISHED = 1000


class RunLists:
    def __init__(
        self, rows: RunRows, search: RunSearch | None, live: Callable[[str], Run | None], left: InterruptedRuns
    ) -> None:
        """`live` gives the run that goes on here under an id. Without a `search` only the rows are looked at."""
        self._rows = rows
        self._search = search
        self._live = live
        self._left = left

    async def page(
        self,
        wanted: RunFilter,
        *,
        sort: SortKey = "started_at",
        descending: bool = True,
        offset: int = 0,
        limit: int = 50,
    ) -> RunPage:
        """One page of all runs. A run that its process left without an end is shown as it really stands.

        Of a search, it tells where the words were found.
        """
        search = self._search if wanted.text.strip() else None
        matching = await search.matching(wanted.text) if search is not None else ()
        page = await self._page(wanted, matching, sort=sort, descending=descending, offset=offset, limit=limit)
        if search is None:
            return page
        return replace(page, excerpts=await search.excerpts([row.run_id for row in page.rows], wanted.text))

    async def _page(
        self, wanted: RunFilter, matching: Container[str], *, sort: SortKey, descending: bool, offset: int, limit: int
    ) -> RunPage:
        if wanted.status not in UNFINISHED:
            look = partial(self._rows.find, wanted, sort=sort, descending=descending, offset=offset, limit=limit)
            look = partial(look, matching=matching)  # for a text all rows are looked through, which takes its time
            found = await asyncio.to_thread(look) if wanted.text.strip() else look()
            return RunPage([await self._settled(row) for row in found.rows], found.total)
        unfinished = wanted.model_copy(update={"status": "running"})
        found = self._rows.find(unfinished, sort=sort, descending=descending, limit=MOST_UNFINISHED, matching=matching)
        rows = [row for row in [await self._settled(row) for row in found.rows] if row.status == wanted.status]
        return RunPage(rows[offset : offset + limit], len(rows))

    async def unfinished(self, wanted: RunFilter) -> list[RunRow]:
        """The runs without an end that the filter lets through, newest first: they run, wait, or were left."""
        found = self._rows.find(wanted.model_copy(update={"status": "running"}), limit=MOST_UNFINISHED)
        rows = [await self._settled(row) for row in found.rows]
        return [row for row in rows if row.status in UNFINISHED]

    async def answered(self, rows: Sequence[RunRow]) -> list[RunRow]:
        """Of these the ended ones of an earlier version, which kept no answers, with theirs; kept from then on."""
        old = [row for row in rows if row.answer is None and row.status not in UNFINISHED]
        return [await self._left.answered(row) for row in old]

    def below(self, run_id: str) -> list[RunRow]:
        """The runs below it as they stand now, each followed by those that it started."""
        return [
            row if (live := self._live(row.run_id)) is None else run_row(live.entries, alive=True)
            for row in self._rows.below(run_id)
        ]

    async def _settled(self, row: RunRow) -> RunRow:
        """The row of a run without an end, as that really stands."""
        if row.status != "running":
            return row
        if (live := self._live(row.run_id)) is not None:
            return await row_of(live, partial(run_row, alive=True))
        return await self._left.settled(row)
