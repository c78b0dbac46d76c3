"""Runs that an earlier process left without an end: their rows, made again from their traces when they are met."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from app.domain.errors import StorageError, WorkbenchError
from app.domain.events import Entry, RunStarted
from app.domain.trace import RunFilter, RunRow, StoredTrace, answer_head, finished, run_row
from app.engine.ports import RunRows
from app.engine.run.ledger import Ledger

log = logging.getLogger(__name__)

MOST_LEFT = 200
"""Runs without an end that are looked at for those that wait for a person."""


class InterruptedRuns:
    def __init__(
        self,
        rows: RunRows,
        ledger: Ledger,
        trace: Callable[[str], Awaitable[StoredTrace]],
        is_taken: Callable[[str], bool],
    ) -> None:
        """`trace` reads a run's; `is_taken` says whether this process works on the run."""
        self._rows = rows
        self._ledger = ledger
        self._trace = trace
        self._is_taken = is_taken
        self._found: dict[str, RunRow] = {}
        """As they really stand: nothing changes those but `Runs.resume`."""
        self._looked_for = False
        self._looking = asyncio.Lock()

    async def all(self) -> list[RunRow]:
        """The newest of them that are not deleted, as they really stand; looked for once."""
        async with self._looking:  # whoever asks meanwhile wants all of them too
            if not self._looked_for:
                for row in self._rows.find(RunFilter(status="running"), limit=MOST_LEFT).rows:
                    if not self._is_taken(row.run_id):
                        await self.settled(row)
                self._looked_for = True
        return [left for run_id, left in self._found.items() if self._rows.get(run_id) is not None]

    async def settled(self, row: RunRow) -> RunRow:
        """The row as the run really stands, as far as its trace can be read; what it has cost is stored."""
        if (found := self._found.get(row.run_id)) is not None:
            return found
        taken = self._is_taken(row.run_id)
        entries = await self._entries(row.run_id)
        whole = bool(entries) and isinstance(entries[0].event, RunStarted)
        left = run_row(entries, alive=taken) if whole else row.model_copy(update={"status": "interrupted"})
        if taken or self._is_taken(row.run_id) or self._rows.get(row.run_id) != row:
            return left
        self._found[row.run_id] = left
        try:
            if whole:
                await self.store(entries)
        except BaseException:  # what it has cost may count nowhere yet
            self._found.pop(row.run_id, None)
            raise
        return left

    async def store(self, entries: Sequence[Entry]) -> None:
        """Keep the row of a run that nobody works on; what it has cost counts from then on."""
        row = row_to_store(entries)
        if row == self._rows.get(row.run_id):
            return
        try:
            await self._rows.save(row)
        except StorageError as problem:
            log.warning("What run %s has cost is not on disk: %s", row.run_id, problem)
        finally:  # whoever waited for the disk may be gone, and it is so
            self._ledger.forget()

    async def answered(self, row: RunRow) -> RunRow:
        """The row of an ended run with the answer that its trace tells, which is kept where it can be written."""
        answer = await asyncio.to_thread(answer_head, await self._entries(row.run_id))
        told = (self._rows.get(row.run_id) or row).model_copy(update={"answer": answer})
        try:
            await self._rows.save(told)
        except StorageError as problem:
            log.info("The answer of run %s is read again the next time: %s", row.run_id, problem)
        return told

    def forget(self, run_id: str) -> None:
        """The run goes on in this process."""
        self._found.pop(run_id, None)

    async def _entries(self, run_id: str) -> list[Entry]:
        """What can be read of the run: one whose trace is gone or unreadable keeps no list from being shown."""
        try:
            return (await self._trace(run_id)).entries
        except WorkbenchError as problem:
            log.warning("Run %s is shown by its row only: %s", run_id, problem)
            return []


def row_to_store(entries: Sequence[Entry]) -> RunRow:
    """The row of the run. Without an end it is one of a running run: how it really stands is seen when it is met."""
    row = run_row(entries, alive=True)
    return row if finished(entries) else row.model_copy(update={"status": "running"})
