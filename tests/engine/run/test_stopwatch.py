"""Time that is used up, and stands still while a person is waited for."""

from app.engine.run.stopwatch import Stopwatch


async def test_what_waits_for_a_person_may_wind_up_after_its_call_has_ended():
    stopwatch = Stopwatch(60)
    standing = stopwatch.standing_still()
    async with stopwatch.timer:
        standing.__enter__()
    standing.__exit__(None, None, None)
    assert not stopwatch.timer.expired()
