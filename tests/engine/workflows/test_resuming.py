"""A workflow's run that its process left goes on where it was: nothing that has ended runs again."""

from app.domain.events import RunResumed
from app.domain.messages import ToolCall
from app.domain.trace import open_pauses
from app.domain.workflows.document import (
    AgentNode,
    ApprovalNode,
    Carried,
    FixedValue,
    FoundValue,
    JoinNode,
    LoopNode,
    MapNode,
    Template,
    ToolNode,
    TransformNode,
)
from tests.domain.workflows.worlds import chain, workflow
from tests.engine.households import started
from tests.engine.scripted import reply
from tests.engine.workflows.test_approvals import paused
from tests.engine.workflows.test_scopes import within
from tests.engine.workflows.test_walking import hold, quick
from tests.engine.workflows.workshop import Workshop, answer, begun_nodes, end, ended, ended_nodes, states
from tests.waiting import until


def post(id_: str, text: str = "x", **fields: object) -> ToolNode:
    return ToolNode(id=id_, tool="post", arguments={"text": Template(text=text)}, **fields)


async def went_on(shop: Workshop, run_id: str):
    live = await shop.chat.resume(run_id)
    await ended(live)
    assert len(ended_nodes(live)) == len(set(ended_nodes(live)))
    return live


async def test_what_has_ended_is_read_from_the_trace_and_what_goes_on_begins_again(shop):
    live = await shop.begun(chain(post("first"), hold("slow"), answer="{{first}} {{slow}}"))
    await until(lambda: shop.hands.did == ["x", "hold slow"])
    again = await shop.restarted()
    again.hands.gate.set()
    gone_on = await went_on(again, live.run_id)
    assert (answer(gone_on), again.hands.did) == ("sent x slow", ["x", "hold slow", "hold slow"])
    assert begun_nodes(gone_on) == ["input", "first", "slow", "output"]
    await again.closed()


async def test_what_may_have_happened_is_asked_about_before_it_happens_again(shop):
    send = ToolNode(id="send", tool="wonder")
    live = await shop.begun(chain(send, answer="{{send}}"))
    await paused(shop, live)
    again = await shop.restarted()
    gone_on = await again.chat.resume(live.run_id)
    [pause] = await paused(again, gone_on)
    await again.pauses.decide(live.run_id, pause.pause_id, "answer")
    await ended(gone_on)
    assert answer(gone_on) == "accept"
    await again.closed()


async def test_an_agent_goes_on_in_the_same_run(shop):
    await shop.agent("Writer")
    live = await shop.begun(
        chain(AgentNode(id="ask", agent="writer", message=Template(text="waits")), answer="{{ask}}")
    )
    await until(lambda: shop.models.calls)
    again = await shop.restarted()
    again.models.gate.set()
    gone_on = await went_on(again, live.run_id)
    assert (answer(gone_on), len(started(gone_on))) == ("waits: done", 1)
    await again.closed()


async def test_a_run_that_is_left_twice_after_its_answer_answers_once(shop):
    live = await shop.ran(chain(quick("one"), answer="{{one}}"))
    left = [*live.entries[:-1]]
    for _ in range(2):
        left.append(left[-1].model_copy(update={"seq": len(left), "event": RunResumed()}))
    await shop.runs.close()
    writer = await shop.data.traces.create("left", live.started.session_id)
    await writer.prepare(live.started)
    for entry in left:
        writer.append(entry.model_copy(update={"run_id": "left"}))
    await writer.close()
    again = await shop.restarted()
    gone_on = await again.runs.resume("left")
    await ended(gone_on)
    assert (answer(gone_on), end(gone_on).status) == (answer(live), "completed")
    await again.closed()


async def test_an_open_question_stands_until_it_is_answered(shop):
    ask = ApprovalNode(id="ask", question="Well?")
    wires = ("input > ask", "input > slow", "ask:approved > output", "slow > output")
    live = await shop.begun(workflow(ask, hold("slow"), wires=wires, answer="{{ask.note}} {{slow}}"))
    [pause] = await paused(shop, live)
    await until(lambda: shop.hands.did)
    again = await shop.restarted()
    again.hands.gate.set()
    gone_on = await again.pauses.decide(live.run_id, pause.pause_id, "answer", note="yes")
    await ended(gone_on)
    assert answer(gone_on) == "yes slow"
    pauses = [entry.event.pause_id for entry in gone_on.entries if entry.event.type == "pause_requested"]
    assert pauses == [pause.pause_id]
    await again.closed()


async def test_a_map_goes_on_with_the_items_that_have_not_ended(shop):
    each = MapNode(
        id="each", items=FixedValue(value=["a", "b", "c"]), gives=Template(text="{{sent}}{{slow}}"), at_once=2
    )
    sent = post("sent", "{{item}}", scope="each")
    slow = ToolNode(id="slow", scope="each", tool="hold", arguments={"text": FoundValue(path="item")})
    live = await shop.begun(within(chain(each, answer="{{each}}"), sent, slow, wires=("sent > slow",)))
    await until(lambda: len(shop.hands.did) == 4)
    again = await shop.restarted()
    again.hands.gate.set()
    gone_on = await went_on(again, live.run_id)
    assert answer(gone_on) == '["sent aa", "sent bb", "sent cc"]'
    assert sorted(one for one in again.hands.did if len(one) == 1) == ["a", "b", "c"]
    await again.closed()


async def test_a_loop_goes_on_in_its_round_with_what_it_carries(shop):
    carry = {"n": Carried(first=FixedValue(value=0), next=FoundValue(path="more"))}
    loop = LoopNode(id="again", carry=carry, until="[carry.n] > 2", most=9)
    more = TransformNode(id="more", scope="again", language="formula", code="[carry.n] + 1")
    sent = post("sent", "{{carry.n}}", scope="again")
    slow = ToolNode(id="slow", scope="again", tool="hold", arguments={"text": Template(text="{{more}}")})
    live = await shop.begun(
        within(
            chain(loop, answer="{{again.n}} {{again.rounds}}"), more, sent, slow, wires=("more > sent", "sent > slow")
        )
    )
    await until(lambda: len(shop.hands.did) == 2)
    again = await shop.restarted()
    await again.chat.resume(live.run_id)
    await until(lambda: len(again.hands.did) == 3)
    last = await again.restarted()
    last.hands.gate.set()
    gone_on = await went_on(last, live.run_id)
    assert answer(gone_on) == "3 3"
    assert [one for one in last.hands.did if len(one) == 1] == ["0", "1", "2"]
    await last.closed()


async def test_a_failure_between_two_tries_is_tried_again_after_a_restart(shop):
    shop.hands.failures = 1
    node = ToolNode(id="shaky", tool="shaky", arguments={"text": FixedValue(value="x")}, retries=1)
    live = await shop.begun(chain(node, hold("slow"), answer="{{shaky}}"))
    await until(lambda: "hold slow" in shop.hands.did)
    again = await shop.restarted()
    again.hands.gate.set()
    gone_on = await went_on(again, live.run_id)
    assert (answer(gone_on), again.hands.did.count("x")) == ("x", 2)
    await again.closed()


async def test_what_was_cancelled_stays_cancelled(shop):
    join = JoinNode(id="first", need="any", cancel_rest=True, values={"fast": FoundValue(path="fast")})
    wires = (
        "input > sent",
        "sent > held",
        "input > fast",
        "held > first",
        "fast > first",
        "first > slow",
        "slow > output",
    )
    held = ToolNode(id="held", tool="hold", arguments={"text": FixedValue(value="held")})
    live = await shop.begun(
        workflow(post("sent"), held, quick("fast"), join, hold("slow"), wires=wires, answer="{{first}}")
    )
    await until(lambda: "hold slow" in shop.hands.did)
    before = dict(states(live))
    did = list(shop.hands.did)
    again = await shop.restarted()
    again.hands.gate.set()
    gone_on = await went_on(again, live.run_id)
    assert end(gone_on).status == "completed" and states(gone_on)["held"] == before["held"]
    assert again.hands.did == [*did, "hold slow"]
    await again.closed()


async def test_one_that_is_given_up_leaves_no_node_open(shop):
    live = await shop.begun(chain(hold("slow")))
    await until(lambda: shop.hands.did)
    again = await shop.restarted()
    gone = await again.runs.end(live.run_id)
    assert (end(gone).status, states(gone)["slow"]) == ("cancelled", "cancelled")
    assert not open_pauses(gone.entries)
    await again.closed()


async def test_an_agent_that_is_asked_after_a_restart_asks_nobody_for_what_it_may(shop):
    await shop.agent("Poster", "post")
    shop.models.plans["go"] = [reply("", ToolCall(call_id="c", name="post", arguments={"text": "x"}))]
    ask = AgentNode(id="ask", agent="poster", message=Template(text="go"))
    live = await shop.begun(chain(hold("slow"), ask, answer="{{ask}}"))
    await until(lambda: shop.hands.did)
    again = await shop.restarted()
    again.hands.gate.set()
    gone_on = await went_on(again, live.run_id)
    assert (answer(gone_on), again.hands.did[-1]) == ("go: done", "x")
    await again.closed()
