"""The nodes of a workflow's run, by traces as a run would write them."""

from datetime import timedelta

import pytest

from app.domain.events import ChildStarted, PauseRequested, PauseResolved
from app.domain.messages import TextPart, ToolResult
from app.domain.trace import NodeRuns, inner_call, nodes, value_of
from tests.traces import (
    BEGAN,
    SUMMING,
    a_workflow_run,
    finished,
    node_ended,
    node_started,
    started,
    trace_of,
)

BEGINNING = started(workflow=SUMMING, model="")


def states(entries):
    return {call_id: run.state for call_id, run in nodes(entries).by_call.items()}


def test_each_node_is_told_in_each_of_its_rounds():
    found = nodes(a_workflow_run())
    assert list(found.by_call) == ["input", "each", "each[0].double", "each[1].double", "total", "output"]
    assert {run.state for run in found.by_call.values()} == {"done"}
    double = found.by_call["each[1].double"]
    assert (double.node, double.rounds, double.attempt, double.inputs, double.value) == ("double", (1,), 1, {"x": 2}, 4)
    assert (double.seq, double.end_seq, double.ms) == (7, 10, pytest.approx(300))
    assert (found.title("double"), found.title("gone")) == ("Double it", "gone")
    assert found.counts["double"] == {"done": 2, "running": 0}


def test_what_came_later_is_not_known_at_an_earlier_place():
    entries = a_workflow_run()
    assert states(entries[:4]) == {"input": "done"}
    assert states(entries[:8]) == {
        "input": "done", "each": "running", "each[0].double": "running", "each[1].double": "running",
    }  # fmt: skip
    rounds = [nodes(entries[:place]).by_call["each"].done for place in (8, 11, 13)]
    assert rounds == [0, 1, 2] and nodes(entries).by_call["each"].of == 2


def test_one_entry_after_another_comes_to_the_same():
    entries, live = a_workflow_run(), NodeRuns()
    for place, entry in enumerate(entries):
        live.take(entry)
        assert live.by_call == nodes(entries[: place + 1]).by_call
        assert live.counts == nodes(entries[: place + 1]).counts


def test_a_node_that_is_tried_again_goes_on_until_its_last_try():
    failed = node_ended("total", status="failed", port=None, retry_at=BEGAN + timedelta(seconds=9))
    entries = trace_of(BEGINNING, node_started("total"), failed, node_started("total", attempt=2), node_ended("total"))
    between = nodes(entries[:3]).by_call["total"]
    assert (between.state, between.attempt, between.retry_at) == ("running", 1, failed.retry_at)
    total = nodes(entries).by_call["total"]
    assert (total.state, total.attempt, total.retry_at, total.started_at) == ("done", 2, None, entries[1].at)


def test_a_skipped_node_ends_without_a_beginning():
    entries = trace_of(BEGINNING, node_ended("each[3].double", status="skipped", port=None))
    run = nodes(entries).by_call["each[3].double"]
    assert (run.state, run.rounds, run.attempt, run.ms, run.seq) == ("skipped", (3,), 0, None, 1)


def test_a_node_waits_while_a_person_has_not_decided():
    asked = PauseRequested(pause_id="p1", reason="approval", call_id="total")
    entries = trace_of(BEGINNING, node_started("total"), asked, PauseResolved(pause_id="p1", decision="approve"))
    assert nodes(entries[:3]).by_call["total"].pauses == {"p1"}
    assert nodes(entries).by_call["total"].pauses == set()


def test_a_node_names_the_runs_of_its_tries_and_what_they_cost():
    entries = trace_of(
        BEGINNING,
        node_started("total"),
        ChildStarted(call_id=inner_call("total", 1), child_run_id="r2"),
        ChildStarted(call_id=inner_call("total", 2), child_run_id="r3"),
        ChildStarted(call_id="another", child_run_id="r4"),
    )
    run = nodes(entries).by_call["total"]
    assert run.children == ["r2", "r3"]
    assert run.cost({"r2": 0.5, "r3": 0.25}) == 0.75
    assert run.cost({"r2": 0.5}) is None


def test_what_a_run_left_open_at_its_end_is_cancelled():
    assert states(trace_of(BEGINNING, node_started("total"), finished("cancelled"))) == {"total": "cancelled"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1]}', {"a": [1]}),
        ("45", 45),
        ("forty", "forty"),
        ("", ""),
        ("NaN", "NaN"),
        ("[" * 100_000, "[" * 100_000),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_a_tool_returned_is_read_as_json_where_it_is(text, value):
    assert value_of(ToolResult(call_id="c1", name="f", parts=(TextPart(text=text),))) == value
