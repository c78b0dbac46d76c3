"""What of a run's nodes is sent to a canvas."""

from random import Random

import pytest

from app.domain.events import PauseRequested
from app.domain.trace import nodes
from app.ui.graph.run_states import PIECE, RunStates
from tests.domain.trace.random_runs import RandomRun
from tests.traces import SUMMING, a_workflow_run, finished, node_ended, node_started, started, trace_of


class Shown:
    """A canvas that remembers what it was told last."""

    def __init__(self):
        self.nodes, self.edges, self.sent = {}, {}, []
        self.states = RunStates(self.take)

    def take(self, changed, edges):
        self.sent.append(([id_ for id_, *_ in changed], [edge for edge, _ in edges]))
        self.nodes |= {id_: (state, words) for id_, state, words in changed}
        self.edges |= dict(edges)


def test_a_run_lights_up_node_by_node_and_only_what_differs_is_sent():
    shown, entries = Shown(), a_workflow_run()
    for length in range(1, len(entries) + 1):
        shown.states.follow("r1", entries[:length])
        if length == 10:
            assert (shown.nodes["each"], shown.nodes["double"]) == (
                ("running", "Running, 0 of 2 rounds"), ("running", "0 of 2 done"),
            )  # fmt: skip
        if length == 11:
            nodes, edges = shown.sent[-1]
            assert not edges and {"double"} <= set(nodes) <= {"each", "double"}
            assert shown.nodes["double"] == ("running", "1 of 2 done")
    assert {id_: state for id_, (state, _) in shown.nodes.items()} == dict.fromkeys(
        ("input", "each", "double", "total", "output"), "done"
    )
    assert shown.edges == {"input|next|each": "taken", "each|next|total": "taken", "total|next|output": "taken"}
    assert not shown.states.follow("r1", entries)


def test_edges_that_are_not_taken_are_dead():
    shown = Shown()
    failed = node_ended("total", status="failed", port=None)
    entries = trace_of(started(workflow=SUMMING), node_started("total"), failed)
    shown.states.follow("r1", entries)
    assert (shown.nodes["total"][0], shown.edges) == ("failed", {"total|next|output": "dead"})


def test_a_node_that_asks_a_person_waits():
    shown = Shown()
    asked = PauseRequested(pause_id="p1", reason="approval", call_id="total")
    shown.states.follow("r1", trace_of(started(workflow=SUMMING), node_started("total"), asked))
    assert shown.nodes["total"] == ("waiting", "Waits for a person")


def test_a_moment_before_takes_back_what_came_later():
    shown, entries = Shown(), a_workflow_run()
    shown.states.follow("r1", entries)
    shown.states.show("r1", nodes(entries[:4]))
    assert {id_ for id_, (state, _) in shown.nodes.items() if state} == {"input"}
    assert {edge for edge, state in shown.edges.items() if state} == {"input|next|each"}
    shown.states.clear()
    assert not any(state for state, _ in shown.nodes.values()) and not any(shown.edges.values())


@pytest.mark.parametrize("seed", range(30))
def test_a_run_that_was_followed_looks_as_one_that_was_opened(seed):
    entries = RandomRun(Random(seed)).entries
    followed, opened = Shown(), Shown()
    for length in range(1, len(entries) + 1):
        followed.states.follow("r1", entries[:length])
    opened.states.show("r1", nodes(entries))
    assert {id_: told for id_, told in followed.nodes.items() if told[0]} == opened.nodes
    assert {edge: told for edge, told in followed.edges.items() if told} == opened.edges


def test_a_run_that_was_opened_is_followed_from_where_it_was_shown():
    entries, shown, opened = a_workflow_run(), Shown(), Shown()
    opened.states.follow("r1", entries)
    shown.states.show("r1", nodes(entries), len(entries))
    assert not shown.states.follow("r1", entries)
    shown.states.show("r1", nodes(entries[:12]), 12)
    assert shown.states.follow("r1", entries)
    assert (shown.nodes, shown.edges) == (opened.nodes, opened.edges)


def test_a_long_run_is_taken_in_pieces():
    rounds = [change(f"each[{place}].double") for place in range(PIECE) for change in (node_started, node_ended)]
    entries = trace_of(started(workflow=SUMMING), node_started("each", of=PIECE), *rounds, finished())
    whole, shown, pieces = Shown(), Shown(), 0
    whole.states.show("r1", nodes(entries))
    while shown.states.follow("r1", entries):
        pieces += 1
        assert shown.states.taken == min(pieces * PIECE, len(entries))
    assert (pieces, shown.nodes, shown.edges) == (3, whole.nodes, whole.edges)
