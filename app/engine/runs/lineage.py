"""What the runs above and below one have spent, found again where one of them goes on after a restart."""

from dataclasses import dataclass

from app.domain.errors import NotFound
from app.domain.events import Entry, RunStarted
from app.domain.trace import RunFilter, RunRow, totals
from app.engine.ports import RunRows, Traces
from app.engine.run.ledger import Account, Ledger, Spent

MOST_CHILDREN = 1000
"""Of one run, that are looked at."""


@dataclass(frozen=True)
class Lineage:
    ledger: Ledger
    traces: Traces
    rows: RunRows

    async def above(self, started: RunStarted) -> list[Account]:
        """The accounts of the runs above that one; the ledger knows them as long as they are held on to."""
        chain: list[tuple[str, RunStarted, list[Entry]]] = []
        parent = started.parent
        while parent is not None and not self.ledger.knows(parent.run_id):
            entries = await self._entries(parent.run_id)
            if not entries or not isinstance(first := entries[0].event, RunStarted):
                break
            chain.append((parent.run_id, first, entries))
            parent = first.parent
        recalled = [(run_id, first, entries, await self.below(run_id)) for run_id, first, entries in reversed(chain)]
        return [self.ledger.recall(*one) for one in recalled]

    async def below(self, run_id: str) -> dict[str, Spent]:
        """By run: what those have spent that it started, and that these started."""
        spent: dict[str, Spent] = {}
        waiting = [run_id]
        while waiting:
            for row in self.rows.find(RunFilter(parent=waiting.pop()), limit=MOST_CHILDREN).rows:
                if row.run_id not in spent:
                    spent[row.run_id] = await self._spent(row)
                    waiting.append(row.run_id)
        return spent

    async def _spent(self, row: RunRow) -> Spent:
        """The row of a run without an end is from its beginning: its trace knows."""
        if row.status != "running":
            return Spent(row.cost, row.input_tokens + row.output_tokens)
        sums = totals(await self._entries(row.run_id))
        return Spent(sums.cost, sums.usage.total_tokens)

    async def _entries(self, run_id: str) -> list[Entry]:
        try:
            return (await self.traces.read(run_id)).entries
        except NotFound:
            return []
