"""Maps and loops: bodies beside each other, one after another, and what of them fails."""

import pytest

from app.domain.workflows.document import (
    Carried,
    FixedValue,
    FoundValue,
    LoopNode,
    MapNode,
    Template,
    ToolNode,
    TransformNode,
)
from tests.domain.workflows.worlds import chain, edge
from tests.engine.workflows.workshop import answer, begun_nodes, end, ended, known, states, why
from tests.waiting import until

POST = ToolNode(id="post", title="Post", scope="each", tool="post", arguments={"text": Template(text="{{item}}")})


def each(items: list[object], **fields: object) -> MapNode:
    gives = fields.pop("gives", Template(text="{{index}} {{post}}"))
    return MapNode(id="each", title="Each", items=FixedValue(value=items), gives=gives, **fields)


def within(flow, *nodes, wires=()):
    """The workflow with nodes in the bodies of its scopes."""
    edges = (*flow.edges, *map(edge, wires))
    return flow.model_copy(update={"nodes": (*flow.nodes, *nodes), "edges": edges})


async def test_what_items_come_to_stands_in_their_order(shop):
    live = await shop.ran(within(chain(each(["a", "b", "c"]), answer="{{each}}"), POST))
    assert answer(live) == '["0 sent a", "1 sent b", "2 sent c"]'
    assert sorted(shop.hands.did) == ["a", "b", "c"]
    run = known(live).by_call["each"]
    assert (run.of, run.done, states(live)["each[2].post"]) == (3, 3, "done")


async def test_no_more_items_go_on_at_once_than_it_says(shop):
    hold = POST.model_copy(update={"tool": "hold"})
    live = await shop.begun(within(chain(each(["a", "b", "c"], at_once=2), answer="{{each}}"), hold))
    await until(lambda: len(shop.hands.did) == 2)
    assert [call for call in begun_nodes(live) if call.startswith("each[")] == ["each[0].post", "each[1].post"]
    shop.hands.gate.set()
    await ended(live)
    assert len(shop.hands.did) == 3


async def test_a_list_of_nothing_begins_nothing(shop):
    live = await shop.ran(within(chain(each([]), answer="{{each}}"), POST))
    assert (answer(live), shop.hands.did) == ("[]", [])


@pytest.mark.parametrize(("each_error", "given"), [("null", '["0 4", null, "2 6"]'), ("drop", '["0 4", "2 6"]')])
async def test_an_item_that_fails_may_be_left_out(shop, each_error, given):
    add = {"x": FixedValue(value=1), "y": FoundValue(path="item")}
    adds = ToolNode(id="post", scope="each", tool="add", arguments=add)
    made = within(chain(each([3, "three", 5], each_error=each_error), answer="{{each}}"), adds)
    assert answer(await shop.ran(made)) == given


async def test_an_item_that_fails_fails_the_map_and_says_which(shop):
    made = within(
        chain(each(["a", "b"], at_once=1), answer="{{each}}"),
        POST.model_copy(update={"tool": "refuse", "arguments": {}}),
    )
    live = await shop.ran(made)
    assert (end(live).status, why(live)) == ("failed", "Each: Item 1: Post: Not today.")
    assert states(live) == {"input": "done", "each": "failed", "each[0].post": "failed", "output": "skipped"}


async def test_what_goes_on_of_other_items_is_cancelled_when_one_fails(shop):
    part = TransformNode(id="part", scope="each", language="formula", code="1 / [item]")
    hold = ToolNode(id="post", scope="each", tool="hold", arguments={"text": Template(text="{{part}}")})
    live = await shop.ran(within(chain(each([1, 0])), part, hold, wires=("part > post",)))
    assert why(live).startswith("Each: Item 2: part: 1 / [item] has no value")
    assert (states(live)["each[0].post"], states(live)["each[1].post"]) == ("cancelled", "skipped")
    assert [e.event.result.status for e in live.entries if e.event.type == "tool_returned"] == ["cancelled"]


async def test_a_map_that_takes_longer_than_it_may_ends(shop):
    hold = ToolNode(id="post", scope="each", tool="hold", arguments={"text": Template(text="{{item}}")})
    live = await shop.ran(within(chain(each([1], timeout=0.5)), hold))
    assert (why(live), states(live)["each[0].post"]) == ("Each: It took longer than 0.5 seconds.", "cancelled")


async def test_more_items_than_it_takes_fail_it(shop):
    live = await shop.ran(within(chain(each([1, 2, 3], most=2), answer="{{each}}"), POST))
    assert "It was given 3 items, and goes through 2 at most." in why(live)


async def test_bodies_stand_in_each_other(shop):
    inner = MapNode(id="inner", scope="each", items=FoundValue(path="item"), gives=FoundValue(path="twice"))
    twice = TransformNode(id="twice", scope="inner", language="formula", code="[item] * 2 + [input.text]")
    made = within(chain(each([[1, 2], [3]], gives=FoundValue(path="inner")), answer="{{each}}"), inner, twice)
    live = await shop.ran(made, "100")
    assert answer(live) == "[[102, 104], [106]]"
    assert "each[0].inner[1].twice" in begun_nodes(live)


def loop(most: int, until: str = "[carry.total] > 4") -> LoopNode:
    carry = {"total": Carried(first=FixedValue(value=1), next=FoundValue(path="twice"))}
    return LoopNode(id="again", carry=carry, until=until, most=most)


TWICE = TransformNode(id="twice", scope="again", language="formula", code="[carry.total] * 2")


async def test_a_loop_ends_when_its_formula_holds(shop):
    live = await shop.ran(within(chain(loop(9), answer="{{again}}"), TWICE))
    assert answer(live) == '{"total": 8, "rounds": 3, "reached_most": false}'


async def test_a_loop_that_reaches_its_most_says_so(shop):
    live = await shop.ran(within(chain(loop(2), answer="{{again}}"), TWICE))
    assert answer(live) == '{"total": 4, "rounds": 2, "reached_most": true}'


async def test_a_round_that_fails_fails_the_loop(shop):
    broken = TWICE.model_copy(update={"code": "1 / 0", "title": "Twice"})
    live = await shop.ran(within(chain(loop(2)), broken))
    assert why(live).startswith("again: Round 1: Twice: 1 / 0 has no value: ")


async def test_a_map_in_a_loop_begins_anew_in_each_round(shop):
    inner = each(["x", "y"], gives=FoundValue(path="post")).model_copy(update={"scope": "again"})
    carry = {"said": Carried(first=FixedValue(value=[]), next=FoundValue(path="[carry.said, each][]"))}
    made = within(chain(LoopNode(id="again", carry=carry, until="1 = 2", most=2), answer="{{again.said}}"), inner, POST)
    assert answer(await shop.ran(made)) == '["sent x", "sent y", "sent x", "sent y"]'


async def test_items_that_fail_at_the_same_moment_fail_the_map_once(shop):
    part = TransformNode(id="part", scope="each", language="formula", code="1 / [item]")
    after = TransformNode(id="after", language="formula", code="1 + 1")
    routed = each([0, 0, 0], on_error="route", gives=FoundValue(path="part"))
    live = await shop.ran(within(chain(routed, after, answer="{{each.error}}"), part, wires=("each:error > output",)))
    assert (end(live).status, known(live).by_call["each"].state) == ("completed", "failed")
    assert answer(live).startswith("Item 1: part: 1 / [item] has no value")


async def test_a_map_is_cancelled_with_rounds_that_have_not_begun_yet(shop):
    """A sibling in its round fails in the step in which it begins."""
    outer = each([1], gives=FoundValue(path="inner"))
    inner = MapNode(id="inner", scope="each", items=FixedValue(value=[1, 2]), gives=FoundValue(path="part"))
    broken = TransformNode(id="broken", scope="each", language="formula", code="1 / 0")
    part = TransformNode(id="part", scope="inner", language="formula", code="1 + 1")
    live = await shop.ran(within(chain(outer), inner, broken, part))
    assert (end(live).error.failure, states(live)["each[0].inner"]) == ("node", "cancelled")
