"""Runs that come no further before a person decides, told apart from those that do something meanwhile."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.agents import ToolChoice
from app.domain.events import ToolCalled
from app.domain.messages import ToolCall
from app.domain.trace import open_pauses
from app.domain.workflows.document import AgentNode, ApprovalNode, Template
from app.engine.runs.standing import all_wait
from tests.domain.workflows.worlds import chain, workflow
from tests.engine.conftest import Bench
from tests.engine.households import Family
from tests.engine.scripted import reply
from tests.engine.workflows.test_walking import hold
from tests.engine.workflows.workshop import Hands, Workshop, ended
from tests.waiting import until

ADD = ToolCall(call_id="c1", name="add", arguments={"x": 1, "y": 2})
PAY = ToolCall(call_id="c2", name="pay", arguments={})
ASK = ApprovalNode(id="ask", question="Go on?")


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    opened = Workshop.opened(tmp_path / "data", Family(), Hands())
    yield opened
    await opened.closed()


async def test_a_branch_that_goes_on_beside_a_question_is_not_waiting(shop: Workshop) -> None:
    assert not all_wait(shop.runs.live_runs())
    wires = ("input > ask", "input > work", "ask:approved > output", "work > output")
    live = await shop.begun(workflow(ASK, hold("work"), wires=wires, answer="{{work}}"))
    await until(lambda: open_pauses(live.entries) and shop.hands.did)
    assert not all_wait(shop.runs.live_runs())
    shop.hands.gate.set()
    await until(lambda: all_wait(shop.runs.live_runs()))
    await shop.pauses.decide(live.run_id, "ask", "answer")
    await ended(live)
    assert not all_wait(shop.runs.live_runs())


async def test_a_run_waits_with_the_one_that_it_has_started(shop: Workshop) -> None:
    inner = await shop.workflow(workflow(ASK, wires=("input > ask", "ask:approved > output"), answer="yes"), "Inner")
    live = await shop.begun(chain(AgentNode(id="nest", agent=inner, message=Template(text="x")), answer="{{nest}}"))
    below = await until(lambda: next((run for run in shop.runs.live_runs() if run is not live), None))
    await until(lambda: all_wait(shop.runs.live_runs()))
    await shop.pauses.decide(below.run_id, "ask", "answer")
    await ended(live)


async def test_a_call_that_goes_on_beside_one_that_waits_for_leave_is_not_waiting(bench: Bench) -> None:
    session = await bench.session(ToolChoice(name="add", policy="ask"), "pay")
    bench.models.say(reply("", ADD, PAY))
    bench.models.say("Done.")
    live = await bench.chat.send(session.id, "go")
    await until(lambda: live.control.waits and any(isinstance(one.event, ToolCalled) for one in live.entries))
    assert not all_wait(bench.runs.live_runs())
    await bench.runs.close()


async def test_how_a_live_run_stands_is_told_without_looking_at_an_entry_twice(shop: Workshop) -> None:
    live = await shop.begun(workflow(ASK, wires=("input > ask", "ask:approved > output"), answer="yes"))
    await until(lambda: live.status == "paused")
    unseen = [None] * (len(live.entries) - 1)
    assert shop.runs.status(live.run_id, [*unseen, live.entries[-1]]) == "paused"
    assert shop.runs.status(live.run_id, live.entries[:1]) == "running"
    await shop.pauses.decide(live.run_id, "ask", "answer")
    await ended(live)
    assert shop.runs.status(live.run_id, live.entries) == "completed"
