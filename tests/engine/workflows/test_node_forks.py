"""A workflow's run gone on with from its nodes: what stands is copied, what is changed and what follows runs anew."""

import pytest

from app.domain.agents import WorkflowBehaviour, with_variant
from app.domain.errors import Conflict, WorkbenchError
from app.domain.events import Forked
from app.domain.forks.node_forks import NodePlan
from app.domain.provenance import Trigger
from app.domain.workflows.document import (
    BranchCase,
    BranchNode,
    FixedValue,
    FoundValue,
    JoinNode,
    MapNode,
    Template,
    ToolNode,
)
from app.engine.forks.forks import Forks
from app.engine.forks.node_forks import NodeForks
from tests.domain.workflows.worlds import chain, workflow
from tests.engine.workflows.flows import of_each_kind, sends
from tests.engine.workflows.test_left_anywhere import to_its_end
from tests.engine.workflows.test_scopes import within
from tests.engine.workflows.test_walking import hold, quick
from tests.engine.workflows.workshop import Workshop, answer, begun_nodes, end, ended, known, states
from tests.waiting import until

PAGE = Trigger(kind="page")
FLOW = chain(sends("one", "{{input.text}}"), sends("two", "{{one}}!"), sends("three", "{{two}}?"), answer="{{three}}")


def forks_of(shop: Workshop) -> NodeForks:
    return NodeForks(shop.data.agents, shop.data.sessions, shop.runs, shop.registry)


async def forked(shop: Workshop, run_id: str, **plan: object):
    live, kept = await forks_of(shop).start(run_id, NodePlan(**plan), trigger=PAGE)
    await ended(live)
    return live, kept


async def test_a_node_runs_again_with_all_that_comes_after_it(shop):
    live = await shop.ran(FLOW, "a")
    shop.hands.did.clear()
    fork, kept = await forked(shop, live.run_id, again=("two",))
    assert answer(fork) == answer(live)
    assert shop.hands.did == ["sent a!", "sent sent a!?"]
    assert (kept.kept, kept.anew) == (("input", "one"), ("two", "three", "output"))
    before = [entry.event for entry in live.entries if getattr(entry.event, "call_id", "") == "one"]
    assert [entry.event for entry in fork.entries if getattr(entry.event, "call_id", "") == "one"] == before
    assert (end(fork).status, fork.started.purpose) == ("completed", "chat")


async def test_a_run_to_a_node_leaves_out_what_that_does_not_need(shop):
    live = await shop.ran(FLOW, "a")
    shop.hands.did.clear()
    fork, kept = await forked(shop, live.run_id, to="two")
    assert (answer(fork), shop.hands.did, fork.started.purpose) == ("sent sent a!", [], "try")
    assert "three" not in states(fork) and kept.anew == ("value_of_two",)


async def test_a_node_runs_alone_with_what_is_recorded_of_the_others(shop):
    live = await shop.ran(FLOW, "a")
    shop.hands.did.clear()
    fork, _ = await forked(shop, live.run_id, again=("two",), to="two")
    assert (answer(fork), shop.hands.did) == ("sent sent a!", ["sent a!"])


async def test_a_value_that_a_person_wrote_stands_for_what_a_node_gives(shop):
    live = await shop.ran(FLOW, "a")
    shop.hands.did.clear()
    fork, _ = await forked(shop, live.run_id, pins={"two": "mine"})
    assert (answer(fork), shop.hands.did) == ("sent mine?", ["mine?"])
    assert known(fork).by_call["two"].pinned and begun_nodes(fork) == ["input", "one", "three", "output"]
    [event] = [entry.event for entry in fork.entries if isinstance(entry.event, Forked)]
    assert fork.entries[event.edited[0]].event.node == "two"
    fork, _ = await forked(shop, live.run_id, pins={"two": "mine"}, again=("one",))
    assert answer(fork) == "sent mine?" and shop.hands.did[-2:] == ["a", "mine?"]


async def test_in_another_variant_what_differs_runs_anew(shop):
    live = await shop.ran(FLOW, "a")
    agent = shop.data.agents.get(live.started.agent.id)
    nodes = tuple(sends("three", "{{two}} now") if node.id == "three" else node for node in FLOW.nodes)
    other = WorkflowBehaviour(workflow=FLOW.model_copy(update={"nodes": nodes}))
    await shop.data.agents.change(agent.id, lambda one: with_variant(one, other, origin=1))
    shop.hands.did.clear()
    fork, kept = await forked(shop, live.run_id, variant=2)
    assert (answer(fork), shop.hands.did) == ("sent sent sent a! now", ["sent sent a! now"])
    assert kept.kept == ("input", "one", "two") and fork.started.agent.variant == 2


async def test_a_run_that_failed_goes_on_from_the_node_that_failed(shop):
    shop.hands.failures = 1
    shaky = ToolNode(id="shaky", tool="shaky", arguments={"text": FixedValue(value="x")})
    live = await shop.ran(chain(sends("one", "a"), shaky, answer="{{one}} {{shaky}}"))
    assert end(live).status == "failed"
    fork, _ = await forked(shop, live.run_id)
    assert (answer(fork), shop.hands.did) == ("sent a x", ["a", "x", "x"])


async def test_what_did_not_run_since_another_node_failed_is_not_from_the_record(shop):
    shop.hands.failures = 1
    shaky = ToolNode(id="shaky", tool="shaky", arguments={"text": FixedValue(value="x")})
    nodes = (shaky, sends("after", "{{shaky}}!"), hold("slow"), sends("beside", "{{slow}}?"))
    wires = ("input > shaky", "shaky > after", "input > slow", "slow > beside", "after > output", "beside > output")
    live = await shop.ran(workflow(*nodes, wires=wires, answer="{{after}} {{beside}}"))
    assert states(live)["after"] == states(live)["beside"] == "skipped"
    shop.hands.gate.set()
    fork, kept = await forked(shop, live.run_id)
    assert answer(fork) == "sent x! sent slow?"
    assert (kept.kept, kept.anew) == (("input",), ("shaky", "after", "slow", "beside", "output"))
    assert "skipped" not in {getattr(entry.event, "status", "") for entry in fork.entries}


async def test_what_a_join_cancelled_does_not_run_the_join_again(shop):
    join = JoinNode(id="first", need="any", cancel_rest=True, values={"it": FoundValue(path="quick ?? null")})
    wires = ("input > quick", "input > slow", "quick > first", "slow > first", "first > sent", "sent > output")
    flow = workflow(quick("quick"), hold("slow"), join, sends("sent", "{{first.it}}"), wires=wires, answer="{{sent}}")
    live = await shop.ran(flow)
    assert states(live)["slow"] == "cancelled"
    did = list(shop.hands.did)
    fork, kept = await forked(shop, live.run_id)
    assert (answer(fork), shop.hands.did) == (answer(live), did)
    assert ({*kept.kept}, kept.anew) == ({"input", "quick", "slow", "first", "sent", "output"}, ())
    assert states(fork)["slow"] == "cancelled"
    again, kept = await forked(shop, live.run_id, again=("sent",))
    assert (answer(again), kept.anew, shop.hands.did) == (answer(live), ("sent", "output"), [*did, did[-1]])
    shop.hands.gate.set()
    _, kept = await forked(shop, live.run_id, again=("quick",))
    assert {*kept.anew} == {"quick", "slow", "first", "sent", "output"}


async def test_how_often_and_under_which_policy_a_tool_is_called_makes_it_not_run_again(shop):
    live = await shop.ran(FLOW, "a")
    now = {"policy": "ask", "timeout": 9.0, "retries": 2}
    nodes = tuple(node.model_copy(update=now) if node.id == "two" else node for node in FLOW.nodes)
    tried = WorkflowBehaviour(workflow=FLOW.model_copy(update={"nodes": nodes}))
    shop.hands.did.clear()
    fork, kept = await forks_of(shop).start(live.run_id, NodePlan(), trigger=PAGE, tried=tried)
    await ended(fork)
    assert (answer(fork), shop.hands.did, kept.anew) == (answer(live), [], ())


async def test_a_node_that_failed_is_tried_again_where_it_may_take_longer(shop):
    shop.hands.failures = 1
    shaky = ToolNode(id="shaky", tool="shaky", arguments={"text": FixedValue(value="x")}, on_error="value")
    flow = chain(shaky, answer="{{shaky}}")
    live = await shop.ran(flow)
    nodes = tuple(node.model_copy(update={"timeout": 9.0}) if node.id == "shaky" else node for node in flow.nodes)
    tried = WorkflowBehaviour(workflow=flow.model_copy(update={"nodes": nodes}))
    fork, _ = await forks_of(shop).start(live.run_id, NodePlan(), trigger=PAGE, tried=tried)
    await ended(fork)
    assert answer(fork) == "x"


async def test_a_pinned_branch_goes_on_at_the_port_it_names(shop):
    pick = BranchNode(id="pick", cases=(BranchCase(name="yes", formula="1 = 1"),))
    wires = ("input > pick", "pick:yes > a", "pick:else > b", "a > output", "b > output")
    live = await shop.ran(workflow(pick, quick("a"), quick("b"), wires=wires, answer="{{a ?? no}} {{b ?? no}}"))
    fork, _ = await forked(shop, live.run_id, pins={"pick": "else"})
    assert (answer(live), answer(fork)) == ("2 no", "no 2")


async def test_the_body_of_a_map_stands_and_runs_with_it(shop):
    each = MapNode(id="each", items=FixedValue(value=["a", "b"]), gives=Template(text="{{sent}}"))
    flow = within(chain(each, quick("after"), answer="{{each}}"), sends("sent", "{{item}}", scope="each"))
    live = await shop.ran(flow)
    shop.hands.did.clear()
    stands, _ = await forked(shop, live.run_id, again=("after",))
    assert (answer(stands), shop.hands.did) == (answer(live), [])
    anew, _ = await forked(shop, live.run_id, again=("each",))
    assert (answer(anew), shop.hands.did) == (answer(live), ["a", "b"])
    with pytest.raises(WorkbenchError, match="runs in each round of “each”"):
        await forked(shop, live.run_id, again=("sent",))


async def test_a_run_of_each_kind_is_run_again_from_any_of_its_nodes(shop):
    await shop.agent("Writer")
    live = await to_its_end(shop, await shop.begun(of_each_kind(), "bees"))
    for node in of_each_kind().body(""):
        fork, kept = await forks_of(shop).start(live.run_id, NodePlan(again=(node.id,)), trigger=PAGE)
        await to_its_end(shop, fork)
        assert answer(fork) == answer(live), node.id
        assert node.id in kept.anew


async def test_what_has_no_nodes_or_goes_on_is_refused_in_words(shop):
    live = await shop.ran(FLOW)
    with pytest.raises(WorkbenchError, match="has no node 'nowhere' that runs"):
        await forked(shop, live.run_id, to="nowhere")
    await shop.agent("Writer")
    plain = await shop.chat.send((await shop.chat.new_session(shop.data.agents.by_slug("writer").id)).id, "hi")
    await ended(plain)
    with pytest.raises(Conflict, match="has no nodes"):
        await forked(shop, plain.run_id)
    with pytest.raises(Conflict, match="is not as a whole"):
        await Forks(shop.data.agents, shop.data.sessions, shop.runs, shop.registry).replay(live.run_id)


async def test_what_is_told_of_forks_can_be_told_of_it(shop):
    live = await shop.ran(FLOW, "a")
    fork, _ = await forked(shop, live.run_id, pins={"two": "mine"})
    forks = Forks(shop.data.agents, shop.data.sessions, shop.runs, shop.registry)
    assert await forks.compare(fork.run_id) is not None
    await forks.edits(fork.entries)
    assert await forks.beside(live.run_id, fork.run_id)
    again, _ = await forked(shop, fork.run_id, again=("three",))
    assert answer(again) == "sent mine?"


async def test_what_is_in_an_editor_is_tried_from_a_run_and_only_what_differs_runs(shop):
    live = await shop.ran(FLOW, "a")
    nodes = tuple(sends("three", "{{two}} now") if node.id == "three" else node for node in FLOW.nodes)
    tried = WorkflowBehaviour(workflow=FLOW.model_copy(update={"nodes": nodes}))
    shop.hands.did.clear()
    fork, kept = await forks_of(shop).start(live.run_id, NodePlan(), trigger=PAGE, tried=tried)
    await ended(fork)
    assert (answer(fork), shop.hands.did) == ("sent sent sent a! now", ["sent sent a! now"])
    assert (kept.kept, fork.started.agent.variant, fork.started.purpose) == (("input", "one", "two"), 0, "try")
    session = shop.data.sessions.get(fork.started.session_id)
    assert session.tried == tried and shop.data.sessions.tried(session.agent_id) is None
    assert session.id not in [one.id for one in shop.data.sessions.recent()]
    shop.hands.did.clear()
    again, _ = await forked(shop, fork.run_id, again=("three",))
    assert (answer(again), again.started.purpose, shop.hands.did) == (answer(fork), "try", ["sent sent a! now"])


async def test_each_node_says_whether_it_is_recorded_or_ran_anew(shop):
    live = await shop.ran(FLOW, "a")
    fork, _ = await forked(shop, live.run_id, again=("two",))
    origins = {id_: run.origin for id_, run in known(fork).by_call.items()}
    assert origins == {"input": "recorded", "one": "recorded", "two": "anew", "three": "anew", "output": "anew"}
    assert {run.origin for run in known(live).by_call.values()} == {""}


async def test_a_value_that_is_pinned_already_makes_nothing_run_again(shop):
    live = await shop.ran(FLOW, "a")
    fork, _ = await forked(shop, live.run_id, pins={"one": "mine"})
    shop.hands.did.clear()
    same, kept = await forked(shop, fork.run_id, pins={"one": "mine"}, again=("three",))
    assert (answer(same), shop.hands.did, kept.kept) == (answer(fork), ["sent mine!?"], ("input", "one", "two"))
    assert known(same).by_call["one"].pinned


async def test_a_pinned_node_behind_one_that_runs_anew_stays_pinned_after_a_resume(shop: Workshop) -> None:
    nodes = (sends("one", "{{input.text}}"), sends("two", "{{one}}!"), sends("three", "{{two}}?"), hold("slow"))
    shop.hands.gate.set()
    live = await shop.ran(chain(*nodes, answer="{{three}} {{slow}}"), "a")
    shop.hands.gate.clear()
    shop.hands.did.clear()
    plan = NodePlan(pins={"two": "mine"}, again=("one",))
    fork, _ = await forks_of(shop).start(live.run_id, plan, trigger=PAGE)
    await until(lambda: "hold slow" in shop.hands.did)
    again = await shop.restarted()
    again.hands.gate.set()
    await ended(await again.chat.resume(fork.run_id))
    assert shop.hands.did.count("mine?") == 1
    await again.closed()


async def test_what_is_switched_off_in_the_session_is_so_in_the_forks_own(shop: Workshop) -> None:
    live = await shop.ran(FLOW, "a")
    off = ("write_file",)
    await shop.data.sessions.change(live.started.session_id, lambda one: one.model_copy(update={"tools_off": off}))
    fork, _ = await forked(shop, live.run_id, again=("two",))
    assert shop.data.sessions.get(fork.started.session_id).tools_off == off
