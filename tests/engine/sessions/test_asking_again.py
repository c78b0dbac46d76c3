"""A tool that was allowed for a session once and for all is asked about again when somebody takes that back."""

import asyncio

import pytest

from app.domain.agents import ToolChoice
from app.domain.events import PauseRequested
from app.domain.messages import ToolCall
from app.domain.trace import open_pauses
from app.engine.run.run import Run
from app.engine.sessions.pauses import Pauses
from tests.deciding import resolve
from tests.engine.conftest import Bench
from tests.engine.scripted import reply
from tests.waiting import until


def add(call_id: str) -> ToolCall:
    return ToolCall(call_id=call_id, name="add", arguments={"x": 1, "y": 2})


async def pause_of(live: Run, call_id: str) -> PauseRequested:
    return await until(lambda: next((one for one in open_pauses(live.entries) if one.call_id == call_id), None))


@pytest.fixture
async def allowed(bench: Bench) -> tuple[Pauses, Run, asyncio.Event]:
    """A run in which `add` was just allowed always; its model answers further once the event is set."""
    session = await bench.session(ToolChoice(name="add", policy="ask"))
    going_on = asyncio.Event()
    bench.models.say(reply("", add("c1")))
    bench.models.say(going_on.wait, reply("", add("c2")))
    bench.models.say("Done.")
    live = await bench.chat.send(session.id, "add")
    pauses = Pauses(bench.chat)
    await pauses.decide(live.run_id, (await pause_of(live, "c1")).pause_id, "always")
    await until(lambda: len(bench.models.requests) == 2)
    return pauses, live, going_on


async def test_the_run_in_which_it_was_said_and_the_next_one_ask_again(bench: Bench, allowed):
    pauses, live, going_on = allowed
    assert bench.data.sessions.get(live.started.session_id).tools_allowed == ("add",)
    await pauses.ask_again(live.started.session_id, "add")
    going_on.set()
    await pauses.decide(live.run_id, (await pause_of(live, "c2")).pause_id, "approve")
    await asyncio.wait_for(live.ended(), 30)
    assert bench.data.sessions.get(live.started.session_id).tools_allowed == ()

    bench.models.say(reply("", add("c3")))
    bench.models.say("Done.")
    following = await bench.chat.send(live.started.session_id, "add")
    resolve(following, (await pause_of(following, "c3")).pause_id, "approve")
    await asyncio.wait_for(following.ended(), 30)


async def test_what_is_not_taken_back_is_not_asked_about(bench: Bench, allowed):
    pauses, live, going_on = allowed
    await pauses.ask_again(live.started.session_id, "another")
    going_on.set()
    await asyncio.wait_for(live.ended(), 30)
    assert bench.data.sessions.get(live.started.session_id).tools_allowed == ("add",)
