"""Nodes that ask a person, several at once, and tools that ask before they are called."""

import pytest

from app.domain.errors import WorkbenchError
from app.domain.trace import open_pauses
from app.domain.workflows.document import (
    AgentNode,
    ApprovalNode,
    FixedValue,
    FoundValue,
    MapNode,
    Template,
    ToolNode,
)
from tests.domain.workflows.worlds import chain, workflow
from tests.engine.scripted import reply
from tests.engine.workflows.test_scopes import within
from tests.engine.workflows.test_walking import hold
from tests.engine.workflows.workshop import answer, end, ended, states, why
from tests.waiting import until

FORM = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
ASK = ApprovalNode(
    id="ask", title="Ask first", question="Send {{input.text}}?", form=FORM, shown={"to": FixedValue(value="Ada")}
)
SENT = ToolNode(id="send", tool="post", arguments={"text": Template(text="{{input.text}} to {{ask.values.to}}")})
ASKING = workflow(
    ASK, SENT, wires=("input > ask", "ask:approved > send", "ask:denied > output", "send > output"),
    answer="{{ask.decision}}: {{send ?? nothing}} {{ask.note}}",
)  # fmt: skip


async def paused(shop, live, count=1):
    await until(lambda: len(open_pauses(live.entries)) == count)
    return open_pauses(live.entries)


async def test_a_person_sees_what_is_asked_and_their_values_go_on(shop):
    live = await shop.begun(ASKING, "it")
    [pause] = await paused(shop, live)
    assert (live.status, pause.question, pause.asked_by, pause.form) == ("paused", "Send it?", "Ask first", FORM)
    assert (pause.call_id, pause.arguments) == ("ask", {"to": "Ada"})
    await shop.pauses.decide(live.run_id, pause.pause_id, "answer", arguments={"to": "Bob"}, note="gladly")
    await ended(live)
    assert (answer(live), shop.hands.did) == ("approved: sent it to Bob gladly", ["it to Bob"])


async def test_what_is_denied_goes_on_at_its_own_port(shop):
    live = await shop.begun(ASKING, "it")
    [pause] = await paused(shop, live)
    await shop.pauses.decide(live.run_id, pause.pause_id, "deny", note="no")
    await ended(live)
    assert (answer(live), shop.hands.did, states(live)["send"]) == ("denied: nothing no", [], "skipped")


async def test_values_that_do_not_fit_the_form_fail_the_node(shop):
    live = await shop.begun(ASKING, "it")
    [pause] = await paused(shop, live)
    await shop.pauses.decide(live.run_id, pause.pause_id, "answer", arguments={"to": 5})
    await ended(live)
    assert "Ask first: What it was answered does not fit its schema. to: 5 is not of type" in why(live)


async def test_several_questions_stand_open_beside_each_other(shop):
    asks = [ASK.model_copy(update={"id": name, "form": None, "shown": {}}) for name in ("one", "two")]
    wires = ("input > one", "input > two", "one:approved > output", "two:approved > output")
    live = await shop.begun(workflow(*asks, wires=wires, answer="{{one.decision ?? no}} {{two.decision ?? no}}"))
    first, second = await paused(shop, live, 2)
    await shop.pauses.decide(live.run_id, second.pause_id, "answer")
    await until(lambda: len(open_pauses(live.entries)) == 1)
    assert live.status == "paused"
    await shop.pauses.decide(live.run_id, first.call_id, "deny")
    await ended(live)
    assert answer(live) == "no approved" or answer(live) == "denied approved"


async def test_a_tool_asks_before_it_is_called_where_its_node_says_so(shop):
    made = chain(
        ToolNode(id="send", tool="post", policy="ask", arguments={"text": FixedValue(value="x")}), answer="{{send}}"
    )
    live = await shop.begun(made)
    [pause] = await paused(shop, live)
    assert (pause.reason, pause.name, shop.hands.did) == ("approval", "post", [])
    await shop.pauses.decide(live.run_id, pause.pause_id, "edit", arguments={"text": "y"})
    await ended(live)
    assert answer(live) == "sent y"
    denied = await shop.begun(made)
    [pause] = await paused(shop, denied)
    await shop.pauses.decide(denied.run_id, pause.pause_id, "deny")
    await ended(denied)
    assert why(denied) == "send: The user denied this call."


async def test_what_is_always_allowed_in_a_session_is_not_asked_again(shop):
    made = chain(ToolNode(id="send", tool="post", policy="ask", arguments={"text": FixedValue(value="x")}))
    live = await shop.begun(made)
    [pause] = await paused(shop, live)
    await shop.pauses.decide(live.run_id, pause.pause_id, "always")
    await ended(live)
    again = await shop.chat.send(live.started.session_id, "hi")
    await ended(again)
    assert (end(again).status, shop.hands.did) == ("completed", ["x", "x"])


async def test_time_stands_still_only_while_nothing_else_goes_on(shop):
    ask = ApprovalNode(id="ask", question="Well?")
    wires = ("input > ask", "ask:approved > output", "ask:denied > output")
    alone = await shop.begun(workflow(ask, wires=wires), total_time=30)
    [pause] = await paused(shop, alone)
    left = alone.stopwatch.left
    beside = await shop.begun(
        workflow(ask, hold("slow"), wires=(*wires, "input > slow", "slow > output")), total_time=1
    )
    await ended(beside)
    assert end(beside).status == "limited" and alone.stopwatch.left == left
    await shop.pauses.decide(alone.run_id, pause.pause_id, "answer")
    await ended(alone)
    assert end(alone).status == "completed"


async def test_the_time_of_a_map_stands_still_only_while_nothing_else_goes_on_in_it(shop):
    ask = ApprovalNode(id="ask", scope="each", question="Well?")
    beside = ToolNode(id="slow", scope="each", tool="hold", arguments={"text": Template(text="x")})
    each = MapNode(id="each", items=FixedValue(value=[1]), gives=FoundValue(path="ask.decision"), timeout=1)
    alone = await shop.begun(within(chain(each, answer="{{each}}"), ask))
    [pause] = await paused(shop, alone)
    busy = await shop.begun(within(chain(each), ask, beside))
    await ended(busy)
    assert why(busy) == "each: It took longer than 1 second."
    assert states(busy)["each[0].slow"] == states(busy)["each[0].ask"] == "cancelled"
    await shop.pauses.decide(alone.run_id, pause.pause_id, "answer")
    await ended(alone)
    assert answer(alone) == '["approved"]'


async def test_a_child_that_waits_for_a_person_stops_the_clock_too(shop):
    from app.domain.messages import ToolCall

    await shop.agent("Asker", "wonder")
    shop.models.plans["go"] = [reply("", ToolCall(call_id="c", name="wonder", arguments={}))]
    ask = AgentNode(id="ask", agent="asker", message=Template(text="go"))
    live = await shop.begun(chain(ask, answer="{{ask}}"), total_time=5)
    child = lambda: next((one for one in shop.runs.live_runs() if one.started.parent), None)  # noqa: E731
    await until(lambda: child() is not None and open_pauses(child().entries))
    await until(lambda: live.stopwatch.timer.when() is None)
    [pause] = open_pauses(child().entries)
    await shop.pauses.decide(child().run_id, pause.pause_id, "answer")
    await ended(live)
    assert answer(live) == "go: done"


async def test_nothing_breaks_into_a_workflow_and_messages_queue(shop):
    live = await shop.begun(chain(hold("slow"), answer="{{input.text}}"), "first")
    session_id = live.started.session_id
    with pytest.raises(WorkbenchError, match="Nothing breaks into a workflow"):
        await shop.queue.steer(session_id, "now")
    await shop.queue.add(session_id, "second")
    shop.hands.gate.set()
    await ended(live)
    await until(lambda: len(shop.data.sessions.get(session_id).runs) == 2 and not shop.runs.live_runs())
    last = await shop.runs.trace(shop.data.sessions.get(session_id).runs[-1])
    assert [e.event.message.text for e in last.entries if e.event.type == "message_added"] == ["second", "second"]
