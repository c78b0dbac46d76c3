"""Fewer go on at once when a provider is busy, more while it is not."""

import asyncio

from app.engine.experiments.limiting import AT_FIRST, CLEAN_CALLS, Limiter
from tests.waiting import until


async def test_no_more_go_on_than_are_allowed():
    limiter, most = Limiter(), 0
    done = asyncio.Event()

    async def one() -> None:
        nonlocal most
        async with limiter.slot(100):
            most = max(most, limiter.running)
            await done.wait()

    async with asyncio.TaskGroup() as group:
        for _ in range(10):
            group.create_task(one())
        await until(lambda: limiter.running == AT_FIRST)
        done.set()
    assert (most, limiter.running) == (AT_FIRST, 0)


async def test_a_refusal_halves_once_for_all_that_was_going_on():
    limiter = Limiter()
    async with limiter.slot(8) as first, limiter.slot(8) as second:
        first.busy()
        second.busy()
    assert limiter.allowed == AT_FIRST // 2
    for _ in range(3):
        async with limiter.slot(8) as slot:
            slot.busy()
    assert limiter.allowed == 1


async def test_clean_answers_let_one_more_go_on_and_no_more_than_asked():
    limiter = Limiter()
    async with limiter.slot(1) as slot:
        for _ in range(CLEAN_CALLS):
            slot.clean()
    assert limiter.allowed == AT_FIRST + 1
    async with limiter.slot(1):
        waiting = asyncio.create_task(limiter.slot(1).__aenter__())
        await asyncio.sleep(0)
        assert not waiting.done()
        waiting.cancel()
