"""What becomes of a node that fails, of its siblings, and of a run that reaches a limit or is stopped."""

import asyncio

import pytest

from app.domain.agents import Limits
from app.domain.errors import ToolError
from app.domain.workflows.document import (
    AgentNode,
    ApprovalNode,
    FixedValue,
    FoundValue,
    JoinNode,
    OutputNode,
    Template,
    ToolNode,
    TransformNode,
)
from tests.domain.workflows.worlds import chain, workflow
from tests.engine.households import started
from tests.engine.workflows.test_walking import hold, quick
from tests.engine.workflows.workshop import answer, begun_nodes, end, ended, known, states, why
from tests.waiting import until

REFUSE = ToolNode(id="refuse", title="Refuse", tool="refuse")


def shaky(**fields: object) -> ToolNode:
    return ToolNode(id="shaky", tool="shaky", arguments={"text": FixedValue(value="x")}, **fields)


async def test_a_failure_that_leads_nowhere_fails_the_run_and_names_the_node_first(shop):
    wires = ("input > refuse", "input > slow", "refuse > output", "slow > output")
    live = await shop.ran(workflow(REFUSE, hold("slow"), wires=wires))
    assert (end(live).status, end(live).error.failure, why(live)) == ("failed", "node", "Refuse: Not today.")
    assert states(live) == {"input": "done", "refuse": "failed", "slow": "cancelled", "output": "skipped"}


async def test_a_failure_may_lead_on(shop):
    routed = REFUSE.model_copy(update={"on_error": "route"})
    wires = ("input > refuse", "refuse:next > good", "refuse:error > output")
    made = workflow(routed, quick("good"), wires=wires, answer="{{refuse.error}} {{good ?? no}}")
    live = await shop.ran(made)
    assert (answer(live), end(live).status, states(live)["good"]) == ("Not today. no", "completed", "skipped")
    assert known(live).by_call["refuse"].error.text == "Not today."


async def test_a_value_may_stand_for_a_failure(shop):
    instead = REFUSE.model_copy(update={"on_error": "value", "error_value": {"n": 1}})
    live = await shop.ran(chain(instead, answer="{{refuse.n}}"))
    assert (answer(live), known(live).by_call["refuse"].state) == ("1", "failed")


async def test_an_expression_without_a_value_fails_its_node(shop):
    find = TransformNode(id="find", title="Find", code="input.gone")
    live = await shop.ran(chain(find))
    assert why(live).startswith("Find: input.gone is not there. Where that may be, say what stands for it")
    assert begun_nodes(live) == ["input", "find"]


async def test_what_does_no_harm_is_tried_again(shop):
    shop.hands.failures = 2
    live = await shop.ran(chain(shaky(retries=2), answer="{{shaky}}"))
    assert (answer(live), shop.hands.did, known(live).by_call["shaky"].attempt) == ("x", ["x"] * 3, 3)
    assert shop.clock.waits == [0.2, 0.4]
    calls = [entry.event.call_id for entry in live.entries if entry.event.type == "tool_called"]
    assert calls == ["shaky", "shaky~2", "shaky~3"]


async def test_what_cannot_be_taken_back_is_not_tried_again(shop):
    live = await shop.ran(chain(REFUSE.model_copy(update={"retries": 3})))
    assert (end(live).status, known(live).by_call["refuse"].attempt) == ("failed", 1)


async def test_an_agent_that_fails_is_asked_again_in_a_run_of_its_own(shop):
    await shop.agent("Writer")

    def fails(_results: object) -> None:
        raise ToolError("no")

    shop.models.plans["go"] = [fails]
    ask = AgentNode(id="ask", agent="writer", message=Template(text="go"), retries=1)
    live = await shop.ran(chain(ask))
    assert len(started(live)) == 2 and end(live).status == "failed"


async def test_a_tool_that_takes_longer_than_its_node_allows_is_stopped(shop):
    live = await shop.ran(chain(hold("slow", title="Slow", timeout=0.05)))
    assert why(live) == "Slow: hold took longer than 0.05 seconds and was stopped."


async def test_an_agent_that_takes_longer_than_its_node_allows_is_stopped(shop):
    await shop.agent("Writer")
    ask = AgentNode(id="ask", title="Ask", agent="writer", message=Template(text="waits"), timeout=1)
    live = await shop.ran(chain(ask))
    assert why(live).startswith("Ask: The run took all of its time, 1 second.")


async def test_a_person_who_does_not_decide_in_time_fails_the_node(shop):
    ask = ApprovalNode(id="ask", title="Ask", question="Well?", timeout=0.05)
    live = await shop.ran(chain(ask))
    assert why(live) == "Ask: It took longer than 0.05 seconds."
    assert [entry.event.by for entry in live.entries if entry.event.type == "pause_resolved"] == ["app"]


async def test_no_more_nodes_begin_than_may(shop):
    live = await shop.ran(chain(quick("a"), quick("b"), quick("c")), nodes=3)
    assert (end(live).status, begun_nodes(live)) == ("limited", ["input", "a", "b"])
    assert "3 nodes of this workflow have begun, and 3 may in one run." in why(live)


async def test_a_run_that_takes_too_long_ends_and_what_it_started_too(shop):
    await shop.agent("Writer")
    ask = AgentNode(id="ask", agent="writer", message=Template(text="waits"))
    wires = ("input > ask", "input > slow", "ask > output", "slow > output")
    live = await shop.begun(workflow(ask, hold("slow"), wires=wires), total_time=0.5)
    await ended(live)
    assert end(live).status == "limited"
    assert (states(live)["ask"], states(live)["slow"]) == ("cancelled", "cancelled")
    await until(lambda: not shop.runs.live_runs())


async def test_stop_ends_all_that_goes_on(shop):
    await shop.agent("Writer")
    ask = AgentNode(id="ask", agent="writer", message=Template(text="waits"))
    wires = ("input > ask", "input > slow", "ask > output", "slow > output")
    live = await shop.begun(workflow(ask, hold("slow"), wires=wires))
    await until(lambda: shop.models.calls and shop.hands.did)
    live.stop()
    await asyncio.wait_for(live.ended(), 30)
    assert end(live).status == "cancelled"
    assert states(live) == {"input": "done", "ask": "cancelled", "slow": "cancelled"}
    await until(lambda: not shop.runs.live_runs())
    [child] = started(live)
    assert (await shop.runs.trace(child)).entries[-1].event.status == "cancelled"


async def test_a_node_that_nobody_wants_any_more_asks_nobody(shop):
    ask = ApprovalNode(id="ask", question="Well?")
    join = JoinNode(id="first", need="any", cancel_rest=True, values={"fast": FoundValue(path="fast")})
    wires = (
        "input > ask",
        "input > fast",
        "ask:approved > first",
        "ask:denied > first",
        "fast > first",
        "first > slow",
        "slow > output",
    )
    live = await shop.begun(workflow(ask, quick("fast"), join, hold("slow"), wires=wires))
    await until(lambda: shop.hands.did)
    assert live.status == "running"
    shop.hands.gate.set()
    await ended(live)
    assert end(live).status == "completed"


async def test_an_answer_that_does_not_fit_its_schema_fails_the_run(shop):
    flow = chain(quick("a"))
    output = OutputNode(id="output", title="Out", value=FoundValue(path="a"), output_schema={"type": "string"})
    live = await shop.ran(flow.model_copy(update={"nodes": (*flow.nodes[:-1], output)}))
    assert why(live) == "Out: What it answers does not fit its schema. 2 is not of type 'string'"


def test_a_workflow_may_begin_a_thousand_nodes():
    assert Limits().nodes == 1000


@pytest.mark.parametrize("name", ["run_tokens", "run_cost"])
async def test_no_node_begins_when_the_means_are_used_up(shop, name):
    from app.domain.models import Price

    shop.models.priced, shop.models.tokens = Price(input=0.01, output=0.01), 30
    await shop.agent("Writer")
    ask = AgentNode(id="ask", agent="writer", message=Template(text="go"))
    live = await shop.ran(chain(ask, quick("after")), **{name: 0.5 if name == "run_cost" else 40})
    assert (end(live).status, states(live)["ask"]) == ("limited", "done")
    assert "after" not in begun_nodes(live)
