"""Waiting for a condition, never for a time."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 90.0
"""Seconds: with eight test workers and their browsers on two processors a start of the app has taken 35."""


async def until(condition: Callable[[], T], seconds: float = PATIENCE, pause: float = 0.001) -> T:
    """What `condition` gives once it gives something true; fails after that many seconds."""
    async with asyncio.timeout(seconds):
        while not (found := condition()):  # noqa: ASYNC110  any condition, with nothing that tells of it
            await asyncio.sleep(pause)
    return found


def wait_until(condition: Callable[[], T], seconds: float = PATIENCE, pause: float = 0.02) -> T:
    """The same outside of an event loop."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{condition} did not come true in {seconds} s")
        time.sleep(pause)
    return found
