from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from app.domain.workflows.document import (
    BranchCase,
    BranchNode,
    InputNode,
    JoinNode,
    LoopNode,
    MapNode,
    NoteNode,
    OutputNode,
    ToolNode,
    Workflow,
)
from app.domain.workflows.schedule import WHOLE, Place, Round, Schedule
from tests.domain.workflows.random_workflows import Walk, random_workflow, told_again
from tests.domain.workflows.worlds import chain, edge, workflow


def tool(id_, **more):
    return ToolNode(id=id_, tool="now", **more)


class Played:
    """A schedule of which nodes are named by `id` or `id 0 1`, their rounds behind it."""

    def __init__(self, document):
        self.schedule = Schedule(document)
        self.moves = self.schedule.begin()

    def start(self, *names):
        for name in names:
            self.schedule.start(place(name))
        return self

    def end(self, *names, **how):
        for name in names:
            self.schedule.start(place(name)) if self.schedule.state(place(name)) == "ready" else None
            self.moves = self.schedule.end(place(name), **({"port": "next"} | how))
        return self

    def open(self, name, number):
        self.moves = self.schedule.open(place(name), number)
        return self

    @property
    def ready(self):
        return [written(one) for one in self.moves.ready]

    @property
    def skipped(self):
        return [written(one) for one in self.moves.skipped]

    @property
    def cancelled(self):
        return [written(one) for one in self.moves.cancelled]


def place(name):
    id_, *rounds = name.split()
    return Place(id_, tuple(map(int, rounds)))


def written(one):
    return " ".join([one.node, *map(str, one.rounds)])


def test_nodes_follow_one_another():
    played = Played(chain(tool("a"), tool("b")))
    assert played.ready == ["input"]
    assert played.end("input").ready == ["a"]
    assert played.end("a").ready == ["b"]
    assert played.end("b", "output").moves.closed == [Round(WHOLE, 0)]
    assert played.schedule.answer() == "output"


def test_a_node_waits_for_all_that_leads_to_it_and_no_longer():
    wires = ["input > a", "input > b", "a > c", "b > c", "a > d"]
    played = Played(workflow(*map(tool, "abcd"), wires=wires))
    assert played.end("input").ready == ["a", "b"]
    assert played.start("b").end("a").ready == ["d"]
    assert played.end("b").ready == ["c"]


def test_what_only_dead_edges_lead_to_is_skipped():
    sort = BranchNode(id="sort", cases=(BranchCase(name="yes"),))
    wires = ["input > sort", "sort:yes > a", "sort:else > b", "a > c", "c > d", "b > d", "d > output"]
    played = Played(workflow(sort, *map(tool, "abcd"), wires=wires))
    played.end("input").end("sort", port="else")
    assert (played.ready, played.skipped) == (["b"], ["a", "c"])
    assert played.end("b").ready == ["d"]


def test_nodes_that_nothing_leads_to_are_skipped_at_once_and_notes_are_none():
    played = Played(workflow(tool("a"), tool("b"), NoteNode(id="n"), wires=["input > output", "a > b"]))
    assert (played.ready, played.skipped) == (["input"], ["a", "b"])
    assert played.end("input", "output").moves.closed


def test_a_failure_that_leads_on_lives_at_its_port():
    wires = ["input > a", "a > b", "a:error > c"]
    played = Played(workflow(tool("a", on_error="route"), tool("b"), tool("c"), wires=wires))
    played.end("input").end("a", status="failed", port="error")
    assert (played.ready, played.skipped) == (["c"], ["b"])


def test_a_failure_that_leads_nowhere_ends_the_run():
    wires = ["input > a", "input > b", "input > c", "b > d"]
    played = Played(workflow(*map(tool, "abcd"), wires=wires)).end("input").start("a", "b")
    played.end("a", status="failed", port=None)
    assert played.cancelled == ["b"]
    assert sorted(played.skipped) == ["c", "d"]
    assert played.moves.failed == [Round(WHOLE, 0)] and not played.moves.closed
    assert played.schedule.answer() == ""


@pytest.mark.parametrize(("need", "after"), [("all", 3), ("any", 1), (2, 2)])
def test_a_join_begins_with_as_many_as_it_needs(need, after):
    wires = ["input > a", "input > b", "input > c", "a > j", "b > j", "c > j"]
    played = Played(workflow(*map(tool, "abc"), JoinNode(id="j", need=need), wires=wires))
    played.end("input").start("a", "b", "c")
    assert [bool(played.end(id_).ready) for id_ in "abc"].index(True) + 1 == after
    assert played.schedule.state(Place("j")) == "ready"


def test_a_join_that_too_few_can_come_to_is_skipped():
    sort = BranchNode(id="sort", cases=(BranchCase(name="yes"),))
    wires = ["input > sort", "input > a", "sort:yes > j", "a > j", "j > b"]
    played = Played(workflow(sort, tool("a"), tool("b"), JoinNode(id="j", need=2), wires=wires))
    assert played.end("input").start("a").end("sort", port="else").skipped == ["j", "b"]
    assert not played.end("a").ready


def test_a_join_may_cancel_what_leads_to_it_only():
    wires = ["input > a", "input > b", "b > c", "input > d", "a > j", "c > j", "d > j", "d > e"]
    join = JoinNode(id="j", need="any", cancel_rest=True)
    played = Played(workflow(*map(tool, "abcde"), join, wires=wires)).end("input").start("b", "d").end("a")
    assert (played.ready, played.cancelled, played.skipped) == (["j"], ["b"], ["c"])
    assert played.end("d").ready == ["e"]


def in_map(**more):
    inside = [tool("b", scope="each"), tool("c", scope="each", on_error="route")]
    return workflow(MapNode(id="each", **more), *inside, wires=["input > each", "each > output", "b > c"])


def test_a_map_walks_its_body_for_each_item():
    played = Played(in_map()).end("input").start("each")
    assert played.open("each", 0).ready == ["b 0"]
    assert played.open("each", 1).ready == ["b 1"]
    assert played.end("b 1").ready == ["c 1"]
    assert played.end("c 1").moves.closed == [Round(Place("each"), 1)]
    assert played.end("b 0", "c 0").moves.closed == [Round(Place("each"), 0)]
    assert played.end("each").ready == ["output"]


def test_an_item_that_fails_takes_its_own_round_along_only():
    played = Played(in_map()).end("input").start("each").open("each", 0).open("each", 1)
    played.end("b 0", status="failed", port=None)
    assert played.skipped == ["c 0"] and played.moves.failed == [Round(Place("each"), 0)]
    assert played.end("b 1").ready == ["c 1"]


def test_a_map_that_ends_cancels_what_goes_on_in_it():
    played = Played(in_map()).end("input").start("each").open("each", 0).open("each", 1).start("b 1")
    played.end("each", status="failed", port=None)
    assert played.cancelled == ["b 1"]
    assert sorted(played.skipped) == ["b 0", "c 0", "c 1", "output"]


def test_an_empty_body_is_over_at_once():
    played = Played(workflow(LoopNode(id="loop", most=2), wires=["input > loop", "loop > output"]))
    assert played.end("input").start("loop").open("loop", 0).moves.closed == [Round(Place("loop"), 0)]
    assert played.open("loop", 1).moves.closed


def test_a_node_is_named_by_the_rounds_around_it():
    nodes = [MapNode(id="a"), LoopNode(id="b", scope="a", most=1), tool("c", scope="b")]
    schedule = Schedule(workflow(*nodes))
    assert schedule.call_id(Place("c", (3, 0))) == "a[3].b[0].c"
    assert schedule.call_id(Place("input")) == "input"


def test_what_is_told_out_of_turn_is_refused():
    schedule = Schedule(chain(tool("a")))
    schedule.begin()
    for out_of_turn in (
        lambda: schedule.start(Place("a")),
        lambda: schedule.end(Place("input")),
        lambda: schedule.open(Place("input"), 0),
    ):
        with pytest.raises(ValueError, match="Place"):
            out_of_turn()
    schedule.start(Place("input"))
    schedule.end(Place("input"), port="next")
    with pytest.raises(ValueError, match="done, not running"):
        schedule.end(Place("input"), port="next")


def test_the_first_output_in_the_document_is_the_answer():
    sort = BranchNode(id="sort", cases=(BranchCase(name="yes"),))
    nodes = (InputNode(id="input"), OutputNode(id="one"), OutputNode(id="two"), OutputNode(id="three"), sort)
    wires = ["input > sort", "sort:yes > one", "sort:else > two", "sort:else > three"]
    played = Played(Workflow(nodes=nodes, edges=tuple(map(edge, wires))))
    played.end("input").end("sort", port="else").end("three", port=None).end("two", port=None)
    assert played.moves.closed and played.schedule.answer() == "two"


@settings(max_examples=100)
@given(some.randoms(use_true_random=False), some.sampled_from([0.0, 0.1, 0.4]))
def test_each_node_of_a_random_workflow_ends_once_in_each_round(random, failures):
    walk = Walk(random_workflow(random), random, failures)
    assert walk.go() == []
    assert told_again(walk)


def test_a_long_chain_is_walked_in_time():
    document = chain(*(tool(f"n{n}") for n in range(498)))
    assert Walk(document, Random(1), 0).go() == []
