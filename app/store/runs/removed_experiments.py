"""Deleted experiments: after the next start nothing is left of them but what their runs have cost."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable

from app.domain.errors import WorkbenchError
from app.domain.values import now
from app.store.records.evals import Cells, Experiments
from app.store.records.sessions import Sessions
from app.store.runs.rows import Rows

log = logging.getLogger(__name__)

AT_ONCE = 200
"""Records that are written together, so that they share their way to the disk."""


class RemovedExperiments:
    def __init__(self, experiments: Experiments, cells: Cells, sessions: Sessions, rows: Rows) -> None:
        self._experiments = experiments
        self._cells = cells
        self._sessions = sessions
        self._rows = rows
        self._opened_at = now()

    async def remove(self) -> list[str]:
        """Forget those that were deleted before this start of the app, with their cells; which ones these were.

        Their sessions and runs are deleted with them, so that `RemovedRuns` removes the traces.
        """
        return [one for one in self._experiments.deleted(self._opened_at) if await self._removed(one)]

    async def _removed(self, experiment_id: str) -> bool:
        try:
            sessions = await asyncio.to_thread(self._sessions.behind, experiment_id)
            await self._rows.delete(turn.run_id for session in sessions for turn in self._rows.turns(session))
            await _each(self._sessions.delete, sessions)
            await _each(self._cells.forget, self._cells.ids(experiment_id))
            await self._experiments.forget(experiment_id)
        except WorkbenchError as problem:
            log.warning("The deleted experiment %s is still on disk: %s", experiment_id, problem)
            return False
        return True


async def _each(forget: Callable[[str], Coroutine[object, object, object]], keys: Iterable[str]) -> None:
    waiting = list(keys)
    for place in range(0, len(waiting), AT_ONCE):
        await asyncio.gather(*map(forget, waiting[place : place + AT_ONCE]))
