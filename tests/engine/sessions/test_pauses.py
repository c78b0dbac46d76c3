"""A pause is decided once: who comes second is told so, however soon that is."""

import asyncio
from pathlib import Path

import pytest

from app.domain.agents import ToolChoice
from app.domain.errors import Conflict
from app.domain.messages import ToolCall
from app.engine.run.run import Run
from app.engine.sessions.pauses import Pauses
from tests.engine.conftest import Bench
from tests.engine.households import Family, Household, ended
from tests.engine.scripted import reply
from tests.waiting import until

ADD = ToolCall(call_id="c1", name="add", arguments={"x": 1, "y": 2})
LOOK = ToolCall(call_id="c1", name="look", arguments={})


@pytest.mark.parametrize("steps", range(8))
async def test_a_second_decision_is_refused_however_soon_it_comes(bench: Bench, steps: int):
    session = await bench.session(ToolChoice(name="add", policy="ask"))
    bench.models.say(reply("", ADD))
    bench.models.say("Done.")
    live, pauses = await bench.chat.send(session.id, "add"), Pauses(bench.chat)
    await until(lambda: live.control.waits)
    await live.recorder.flush()  # from then on it does nothing but wait
    await _steps(8)

    async def second() -> None:
        await _steps(steps)
        await pauses.decide(live.run_id, "c1", "always")

    first, refused = await asyncio.gather(pauses.decide(live.run_id, "c1", "approve"), second(), return_exceptions=True)
    assert first is live and isinstance(refused, Conflict)
    await asyncio.wait_for(live.ended(), 30)
    assert bench.data.sessions.get(session.id).tools_allowed == ()


@pytest.mark.parametrize("steps", range(8))
async def test_a_second_decision_on_a_run_that_goes_on_by_the_first_is_refused(tmp_path: Path, steps: int):
    house = Household.opened(tmp_path / "data", Family())
    house.models.plans["lead"] = [reply("", LOOK)]
    left = await house.begun(await house.agent(tools=(ToolChoice(name="look", policy="ask"),)))
    await until(lambda: left.control.waits)
    house = await house.restarted()

    async def second() -> None:
        while house.runs.live(left.run_id) is None:  # noqa: ASYNC110  it is there for a few steps before it asks again
            await asyncio.sleep(0)
        await _steps(steps)
        await house.pauses.decide(left.run_id, "c1", "deny")

    live, refused = await asyncio.gather(
        house.pauses.decide(left.run_id, "c1", "approve"), second(), return_exceptions=True
    )
    assert isinstance(live, Run) and isinstance(refused, Conflict)
    await ended(live)
    assert house.looked == ["look"]
    await house.closed()


async def _steps(count: int) -> None:
    """Let the loop take so many."""
    for _ in range(count):
        await asyncio.sleep(0)
