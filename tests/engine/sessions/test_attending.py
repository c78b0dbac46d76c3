"""What waits for a person is found: pauses, runs that were left, jobs that failed; and nothing that is settled."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.agents import ToolChoice
from app.domain.messages import ToolCall, ToolResult
from app.domain.provenance import Trigger
from app.domain.streaming import Reply
from app.engine.sessions.attending import Attending
from tests.engine.households import Family, Household, ended, spawn
from tests.engine.scripted import reply
from tests.waiting import until

PAGE = Trigger(kind="page")
LOOK = ToolCall(call_id="c1", name="look", arguments={})


@pytest.fixture
async def houses(tmp_path: Path) -> AsyncIterator[list[Household]]:
    """The last one is open."""
    houses = [Household.opened(tmp_path / "data", Family())]
    yield houses
    await houses[-1].closed()


def attending(house: Household) -> Attending:
    return Attending(house.jobs, house.pauses)


def broken(_: list[ToolResult]) -> Reply:
    raise RuntimeError("The model broke.")


async def asked(house: Household) -> str:
    """The id of a run that waits to be allowed a call."""
    house.models.plans["lead"] = [reply("", LOOK)]
    live = await house.begun(await house.agent(tools=(ToolChoice(name="look", policy="ask"),)))
    await until(lambda: live.control.waits)
    return live.run_id


async def test_a_pause_waits_with_its_tool_until_it_is_decided(houses):
    house, run_id = houses[-1], await asked(houses[-1])
    [waiting] = await attending(house).pauses()
    assert (waiting.run_id, waiting.agent.name, waiting.alive) == (run_id, "Parent", True)
    assert waiting.spec is not None and waiting.spec.name == "look" and waiting.pause.reason == "approval"

    live = await house.pauses.decide(run_id, waiting.pause.pause_id, "approve", subject=waiting.pause.subject)
    await ended(live)
    assert await attending(house).pauses() == []


async def test_a_pause_of_a_run_that_was_left_waits_until_the_run_goes_on(houses):
    run_id = await asked(houses[-1])
    houses.append(await houses[-1].restarted())
    house = houses[-1]
    attends = attending(house)
    [waiting] = await attends.pauses()
    assert (waiting.run_id, waiting.alive) == (run_id, False) and await attends.pauses() == [waiting]

    live = await house.pauses.decide(run_id, waiting.pause.pause_id, "deny", subject=waiting.pause.subject)
    await ended(live)
    assert await attends.pauses() == []


async def test_a_run_that_was_cut_off_waits_until_it_is_given_up(houses):
    live = await houses[-1].begun(await houses[-1].agent(), "waits")
    await until(lambda: houses[-1].models.calls)
    houses.append(await houses[-1].restarted())
    attends = attending(houses[-1])
    assert [row.run_id for row in await attends.interrupted()] == [live.run_id] and await attends.pauses() == []

    await houses[-1].pauses.stop(live.run_id)
    assert await attends.interrupted() == []


async def test_a_run_that_was_cut_off_waits_for_nobody_once_its_session_is_deleted(houses):
    live = await houses[-1].begun(await houses[-1].agent(), "waits")
    await until(lambda: houses[-1].models.calls)
    houses.append(await houses[-1].restarted())
    await houses[-1].data.sessions.delete(live.started.session_id)
    assert await attending(houses[-1]).interrupted() == []


async def test_a_job_that_failed_waits_over_restarts_until_its_session_goes_on(houses):
    houses[-1].models.plans["break"] = [broken]
    live = await houses[-1].jobs.start(await houses[-1].agent(), "break", trigger=PAGE)
    await ended(live)
    assert [row.run_id for row in await attending(houses[-1]).failed()] == [live.run_id]

    houses.append(await houses[-1].restarted())
    attends = attending(houses[-1])
    assert [row.run_id for row in await attends.failed()] == [live.run_id]
    await ended(await houses[-1].chat.regenerate(live.started.session_id, live.run_id))
    assert await attends.failed() == []


async def test_what_failed_and_is_no_job_of_a_person_waits_for_nobody(houses):
    house = houses[-1]
    house.models.plans |= {"break": [broken], "one": [reply("", spawn("c1", "break"))]}
    await ended(await house.begun(await house.agent(), "break"))
    await ended(await house.jobs.start(await house.agent(), "one", trigger=PAGE))
    await until(lambda: not house.runs.live_runs())
    assert await attending(house).failed() == []
