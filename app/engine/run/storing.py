"""A run on disk: what it begins with, or it does not begin; how it ended, as often as that has to be tried."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence

from app.domain.errors import StorageError
from app.domain.events import Entry
from app.domain.trace import RunRow
from app.engine.ports import Clock, RunRows
from app.engine.run.interrupted_runs import row_to_store
from app.engine.run.run import LONG, Run

log = logging.getLogger(__name__)

SAVE_AGAIN_SECONDS = 5.0


Join = Callable[[Run], Coroutine[None, None, None]]
"""Tells the session of a run that is about to begin."""


async def row_of(live: Run, made: Callable[[Sequence[Entry]], RunRow]) -> RunRow:
    """The row that is made of the run's entries, of many in a thread."""
    if len(live.entries) < LONG:
        return made(live.entries)
    return await asyncio.to_thread(made, tuple(live.entries))


async def store_beginning(live: Run, rows: RunRows, join: Join | None = None) -> None:
    """Returns when the session and the lists know of the run, whose trace is on disk. Raises `StorageError`.

    A run that its session names begins: where only the lists could not be told, they are at its end or the next start.
    """
    try:
        row = await row_of(live, row_to_store)
        if join is None:
            await rows.save(row)
        else:
            await _store_together(join(live), rows, row)
    except asyncio.CancelledError:  # the process ends meanwhile, and leaves the run to the next one
        live.recorder.let_go()
        raise


async def _store_together(join: Coroutine[None, None, None], rows: RunRows, row: RunRow) -> None:
    """Both wait for the disk at once, which has the session first: where it refuses that, it has no row either."""
    joining = asyncio.create_task(join)
    await asyncio.sleep(0)  # the session is changed
    if joining.done():
        await joining
    [listed] = await asyncio.gather(rows.save(row), return_exceptions=True)
    await joining
    if isinstance(listed, StorageError):
        log.warning("Run %s is in no list yet: %s", row.run_id, listed)
    elif listed is not None:
        raise listed


async def store_end(live: Run, rows: RunRows, clock: Clock) -> None:
    """Bring the end of the trace to disk; while that fails (a full disk), try again and say so.

    The row of a run without an end stays one of a running run: how it really stands is seen when it is met.
    """
    while True:
        try:
            live.recorder.flush_soon()
            row = await row_of(live, row_to_store)
            await live.recorder.close()
            await rows.save(row)
        except StorageError as error:
            if live.unsaved is None:
                log.warning("Run %s is not on disk yet: %s", live.run_id, error)
            live.say_unsaved(str(error))
            await clock.sleep(SAVE_AGAIN_SECONDS)
        else:
            live.unsaved = None
            return
