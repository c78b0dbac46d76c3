"""A run on disk: what it begins with, or it does not begin; how it ended, as often as that has to be tried."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from app.domain.errors import StorageError
from app.domain.events import Entry
from app.domain.trace import RunRow
from app.engine.ports import Clock, RunRows
from app.engine.run.interrupted_runs import row_to_store
from app.engine.run.run import LONG, Run

log = logging.getLogger(__name__)

SAVE_AGAIN_SECONDS = 5.0


Join = Callable[[Run], Awaitable[None]]
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
        if join is not None:
            await join(live)
        try:
            await rows.save(await row_of(live, row_to_store))
        except StorageError as problem:
            if join is None:
                raise
            log.warning("Run %s is in no list yet: %s", live.run_id, problem)
    except asyncio.CancelledError:  # the process ends meanwhile, and leaves the run to the next one
        live.recorder.let_go()
        raise


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
