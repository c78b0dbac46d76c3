"""Time that is used up, and stands still while a person is waited for."""

import asyncio
from contextlib import suppress

from app.engine.run.stopwatch import Stopwatch


async def test_what_waits_for_a_person_may_wind_up_after_its_call_has_ended():
    stopwatch = Stopwatch(60)
    standing = stopwatch.standing_still()
    async with stopwatch.timer:
        standing.__enter__()
    standing.__exit__(None, None, None)
    assert not stopwatch.timer.expired()


async def test_what_is_left_may_wait_for_a_person_when_the_time_is_over():
    stopwatch = Stopwatch(0.01)
    with suppress(TimeoutError):
        async with stopwatch.timer:
            with stopwatch.part(), stopwatch.standing_still(), stopwatch.part():
                await asyncio.Event().wait()
    assert stopwatch.timer.expired()
