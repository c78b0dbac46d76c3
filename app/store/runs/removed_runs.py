"""What becomes of deleted runs: their traces are removed for good once nothing needs them any more."""

import logging

from app.domain.errors import WorkbenchError
from app.domain.values import now
from app.store.records.sessions import Sessions
from app.store.runs.rows import Rows
from app.store.runs.search import Search
from app.store.runs.traces import Traces

log = logging.getLogger(__name__)


class RemovedRuns:
    def __init__(self, rows: Rows, sessions: Sessions, traces: Traces, search: Search) -> None:
        self._rows = rows
        self._sessions = sessions
        self._traces = traces
        self._search = search
        self._opened_at = now()

    async def remove(self) -> list[str]:
        """Remove the traces of runs that were deleted before this start of the app; which ones these were.

        What is deleted now can be brought back from its page. A run that is a turn of a session stays until its
        session is deleted too.
        """
        gone = [run_id for run_id in self._rows.deleted(self._opened_at) if not self._is_turn(run_id)]
        removed = [run_id for run_id in gone if await self._removed(run_id)]
        if removed:
            await self._search.forget(removed)
        return removed

    def _is_turn(self, run_id: str) -> bool:
        return self._sessions.holds(self._rows.session_of(run_id), run_id)

    async def _removed(self, run_id: str) -> bool:
        try:
            await self._traces.delete(run_id)
            await self._rows.empty(run_id)
        except WorkbenchError as problem:
            log.warning("The deleted run %s is still on disk: %s", run_id, problem)
            return False
        return True
