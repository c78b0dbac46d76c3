"""What figures are made of, told again from traces: rows of an earlier version lack some of it."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from app.domain.errors import WorkbenchError
from app.domain.events import Entry, RunStarted
from app.domain.trace import RunRow, StoredTrace
from app.engine.run.interrupted_runs import row_to_store

log = logging.getLogger(__name__)


class Figured(Protocol):
    """The rows of all runs, and the daily figures made of them."""

    def get(self, run_id: str) -> RunRow | None: ...

    async def save(self, row: RunRow) -> None: ...

    async def to_tell(self, *, all_runs: bool) -> list[str]:
        """The runs whose rows lack something, the newest first; or all there are."""
        ...

    async def settle_usage(self, *, anew: bool = False) -> None:
        """Make the daily figures right; `anew` from all rows, whatever is stored."""
        ...


@dataclass(frozen=True)
class ToldAgain:
    rows: Figured
    trace: Callable[[str], Awaitable[StoredTrace]]
    is_taken: Callable[[str], bool]

    async def lacking(self) -> int:
        """Tell what rows lack, slowly, as nobody waits for it; how many rows have changed."""
        return await self._tell(await self.rows.to_tell(all_runs=False), resting=True)

    async def all(self) -> int:
        """Tell all rows again, and make all figures anew; how many rows have changed."""
        changed = await self._tell(await self.rows.to_tell(all_runs=True), resting=False)
        await self.rows.settle_usage(anew=True)
        return changed

    async def _tell(self, run_ids: Sequence[str], *, resting: bool) -> int:
        changed = 0
        for run_id in run_ids:
            began = time.monotonic()
            changed += await self._told(run_id)
            await asyncio.sleep(time.monotonic() - began if resting else 0)  # half of the time is for others
        return changed

    async def _told(self, run_id: str) -> bool:
        """Whether the row is another one now. A run whose trace is gone keeps the row it has."""
        try:
            before = self.rows.get(run_id)
            if self.is_taken(run_id):
                return False
            entries = (await self.trace(run_id)).entries
            made = await asyncio.to_thread(_row, entries)
            row = self.rows.get(run_id)
            if made is None or row is None or row != before or self.is_taken(run_id):
                return False
            made = made.model_copy(update={"imported": row.imported})
            if made == row:
                return False
            await self.rows.save(made)
        except WorkbenchError as problem:
            log.info("The figures of run %s are what its row says: %s", run_id, problem)
            return False
        return True


def _row(entries: Sequence[Entry]) -> RunRow | None:
    return row_to_store(entries) if entries and isinstance(entries[0].event, RunStarted) else None
