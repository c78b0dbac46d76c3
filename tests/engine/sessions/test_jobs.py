"""Runs in the background: begun in a session of their own, listed, told of when they end."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.errors import NotFound
from app.domain.provenance import Trigger
from app.domain.trace import KeyRuns
from tests.engine.households import Family, Household, ended, joining, spawn
from tests.engine.scripted import reply
from tests.waiting import until

PAGE, KEY = Trigger(kind="page"), Trigger(kind="api_key", name="nightly")


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Household]:
    house = Household.opened(tmp_path / "data", Family())
    yield house
    await house.closed()


async def test_a_job_goes_on_while_nobody_waits_in_a_session_of_its_own(house):
    live = await house.jobs.start(await house.agent(), "waits", trigger=PAGE)
    assert live.alive and live.started.background and house.jobs.running() == 1
    assert [session.id for session in house.data.sessions.recent()] == [live.started.session_id]
    house.models.gate.set()
    await ended(live)

    assert house.jobs.running() == 0 and house.jobs.ended_count == 1
    assert [(row.run_id, row.status) for row in house.jobs.ended] == [(live.run_id, "completed")]


async def test_who_asked_for_a_job_is_in_its_trace_with_what_they_chose(house):
    agent = await house.agent()
    live = await house.jobs.start(agent, "x", variant=1, model="other/one", variables={"mood": "kind"}, trigger=KEY)
    await ended(live)

    assert (live.started.trigger, live.started.purpose, live.started.model) == (KEY, "api", "other/one")
    assert live.started.variables == {"mood": "kind"}


async def test_a_job_has_not_the_tools_that_were_turned_off(house):
    live = await house.jobs.start(await house.agent(), "x", tools_off=("look", "spawn_task"), trigger=PAGE)
    await ended(live)

    assert not {"look", "spawn_task"} & {tool.spec.name for tool in live.started.tools}
    assert live.started.tools and house.data.sessions.get(live.started.session_id).tools_off == ("look", "spawn_task")


async def test_a_job_of_an_agent_that_is_not_there_is_refused(house):
    with pytest.raises(NotFound):
        await house.jobs.start("nobody", "x", trigger=PAGE)
    assert (await house.jobs.page()).rows == []


async def test_jobs_are_listed_newest_first_and_by_whether_they_have_ended(house):
    agent, other = await house.agent(), await house.agent("Other")
    first = await house.jobs.start(agent, "one", trigger=PAGE)
    await ended(first)
    second = await house.jobs.start(other, "waits", trigger=PAGE)
    await ended(await house.begun(agent, "no job"))

    every = await house.jobs.page()
    assert [row.run_id for row in every.rows] == [second.run_id, first.run_id] and every.total == 2
    assert [row.run_id for row in (await house.jobs.page(live=True)).rows] == [second.run_id]
    assert [row.run_id for row in (await house.jobs.page(live=False)).rows] == [first.run_id]
    of_key = KeyRuns(key="k1", agents=frozenset({agent, other}))
    assert (await house.jobs.page(of_key=of_key)).total == 0
    assert (await house.jobs.page(limit=1)).total == 2
    assert [row.run_id for row in (await house.jobs.page(offset=1)).rows] == [first.run_id]


async def test_pages_of_ended_jobs_pass_over_those_that_go_on(house):
    agent = await house.agent()
    ids = []
    for number in range(5):
        live = await house.jobs.start(agent, "waits" if number == 3 else "x", trigger=PAGE)
        if number != 3:
            await ended(live)
            ids.insert(0, live.run_id)

    pages = [await house.jobs.page(live=False, offset=offset, limit=2) for offset in (0, 2)]
    assert [row.run_id for page in pages for row in page.rows] == ids and {page.total for page in pages} == {4}


async def test_a_child_is_told_of_where_no_parent_waits_for_it(house):
    house.models.plans["one"] = [reply("", spawn("c1", "two")), joining]
    live = await house.jobs.start(await house.agent(), "one", trigger=PAGE)
    await ended(live)

    assert [row.run_id for row in house.jobs.ended] == [live.run_id]
    assert (await house.jobs.page()).total == 2


async def test_a_job_that_the_app_left_goes_on_and_is_then_told_of(house):
    live = await house.jobs.start(await house.agent(), "waits", trigger=PAGE)
    await until(lambda: house.models.calls)
    await house.runs.close()
    assert house.jobs.ended_count == 0
    again = await house.restarted()
    again.models.gate.set()
    [row] = (await again.jobs.page(live=True)).rows
    assert row.status == "interrupted"
    await ended(await again.chat.resume(row.run_id))

    assert [row.status for row in again.jobs.ended] == ["completed"] and row.run_id == live.run_id
    house.data = again.data
    house.runs = again.runs
