"""Somebody who waits for the disk, and is gone before it has written."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress


async def given_up(waiting: Coroutine[None, None, object]) -> None:
    task = asyncio.create_task(waiting)
    await asyncio.sleep(0)
    assert not task.done()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
