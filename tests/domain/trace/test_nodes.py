"""The nodes of a workflow's run, by traces as a run would write them."""

from datetime import timedelta

import pytest

from app.domain.errors import ErrorInfo
from app.domain.events import ChildStarted, PauseRequested, PauseResolved
from app.domain.messages import TextPart, ToolResult
from app.domain.trace import (
    JobProgress,
    NodeRuns,
    align,
    inner_call,
    job_progress,
    nodes,
    said,
    steps,
    trajectory,
    value_of,
)
from app.domain.trace.finding import StepTexts
from app.domain.trace.findings.explain import explain
from app.domain.trace.waterfall import waterfall
from app.domain.workflows.document import LoopNode, Workflow
from tests.processor import at_work, slowness
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
from tests.traces import said as said_words

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
    assert (double.title, double.label, double.kind) == ("Double it", "Double it, item 2", "tool")
    assert found.by_call["each"].label == "Each number"
    assert [call.result.text for call in double.calls.values()] == ["4"]
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


def test_a_node_that_began_many_runs_takes_no_time():
    begun = [ChildStarted(call_id="total", child_run_id=f"a-run-of-number-{number}") for number in range(10_000)]
    entries = trace_of(BEGINNING, node_started("total"), *begun, *begun)
    with at_work() as work:
        assert nodes(entries).by_call["total"].children == [one.child_run_id for one in begun]
    assert work.seconds < slowness()


def test_what_a_run_left_open_at_its_end_is_cancelled():
    assert states(trace_of(BEGINNING, node_started("total"), finished("cancelled"))) == {"total": "cancelled"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1]}', {"a": [1]}),
        ("45", 45),
        ("forty", "forty"),
        ('{"a": ["cut \\ud83d"], "\\uDE00": "\\ud83d\\ude00"}', {"a": ["cut ?"], "?": "😀"}),
        ("", ""),
        ("NaN", "NaN"),
        ("[" * 100_000, "[" * 100_000),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_a_tool_returned_is_read_as_json_where_it_is(text, value):
    assert value_of(ToolResult(call_id="c1", name="f", parts=(TextPart(text=text),))) == value


def test_each_node_is_a_step_and_what_it_called_is_told_in_it():
    found = steps(a_workflow_run())
    assert [(step.type, step.text) for step in found] == [
        ("user-request", "1 and 2"),
        ("node", "Question"),
        ("node", "Each number"),
        ("node", "Double it, item 1"),
        ("node", "Double it, item 2"),
        ("node", "Total"),
        ("node", "Answer"),
        ("agent-response", "6"),
    ]
    assert [[*step.node.calls] for step in found if step.node][2:4] == [["each[0].double"], ["each[1].double"]]


def test_each_node_that_began_is_a_step_of_the_trajectory():
    found = trajectory(a_workflow_run())
    assert [(step.number, step.decision.kind, step.decision.text) for step in found][3:] == [
        (4, "node", "4"), (5, "node", "6"), (6, "node", "6"), (7, "respond", "6"),
    ]  # fmt: skip
    assert [call.name for step in found for call in step.calls] == ["calculator", "calculator"]


def test_what_a_node_did_lies_within_its_span():
    spans = [(span.depth, span.kind, span.name) for span in waterfall(a_workflow_run())]
    assert spans == [
        (0, "node", "Question"),
        (0, "node", "Each number"),
        (1, "node", "Double it, item 1"),
        (2, "tool", "calculator"),
        (1, "node", "Double it, item 2"),
        (2, "tool", "calculator"),
        (0, "node", "Total"),
        (0, "node", "Answer"),
    ]


def test_nodes_of_two_runs_are_compared_whichever_ran_first():
    entries = a_workflow_run()
    first, second = entries[5:7], entries[7:9]
    other = trace_of(*(entry.event for entry in [*entries[:5], *second, *first, *entries[9:]]))
    rows = align([trajectory(entries), trajectory(other)])
    assert {row.verdict for row in rows} == {"same"}
    assert {row.columns[0].node.call_id for row in rows if row.columns[0].node} == set(nodes(entries).by_call)


def test_a_search_finds_what_nodes_were_given_and_gave():
    found = [(passage.place, passage.text) for passage in said(a_workflow_run())]
    assert ("Output of each", "[2, 4]") in found and ("x for double", "1") in found
    assert StepTexts().find(steps(a_workflow_run()), "[2, 4]") == [2, 5]


def test_a_job_says_which_nodes_run_and_how_many_began():
    assert job_progress(a_workflow_run()[:9]) == JobProgress(4, ("Double it, item 1", "Double it, item 2"))


def test_a_failure_that_the_run_went_on_after_is_told():
    error = ErrorInfo(failure="network", text="No network.")
    routed = node_ended("total", status="failed", port="error", error=error)
    entries = trace_of(BEGINNING, node_started("total"), routed, said_words("Done."), finished())
    [finding] = explain(entries)
    assert (finding.rule, finding.seq) == ("node_failed", 1)
    assert finding.sentence == "“Total” (total) failed, and the run went on: No network."


def test_a_loop_that_went_round_as_often_as_it_may_is_told():
    document = Workflow(nodes=(LoopNode(id="again", title="Again", most=3),))
    entries = trace_of(
        started(workflow=document, model=""),
        node_started("again", of=3),
        node_ended("again", {"rounds": 3, "reached_most": True}),
        finished(),
    )
    assert [finding.rule for finding in explain(entries)] == ["most_rounds"]
