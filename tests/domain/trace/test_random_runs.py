"""Every view of a run reads every trace that a workflow can leave, to its end and cut off anywhere."""

import itertools
from random import Random

import pytest

from app.domain.trace import (
    align,
    call_views,
    children,
    conversation,
    files_after,
    job_progress,
    left_calls,
    model_tallies,
    nodes,
    run_row,
    said,
    steps,
    tallies,
    totals,
    trajectory,
)
from app.domain.trace.finding import StepTexts
from app.domain.trace.findings.explain import explain
from app.domain.trace.fork_points import fork_points
from app.domain.trace.fork_view import fork_view
from app.domain.trace.recorded import recorded_calls
from app.domain.trace.trajectory import step_number
from app.domain.trace.waterfall import waterfall
from app.export.atif import atif
from app.export.html import html_page
from app.export.json_lines import json_lines, read_json_lines
from app.export.markdown import review
from app.export.otel import spans_of
from tests.domain.trace.random_runs import RandomRun

SEEDS = range(60)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_nodes_stand_as_the_schedule_says_whatever_the_workflow(seed):
    run = RandomRun(Random(seed))
    assert run.wrong == []
    for length, states in run.states.items():
        found = nodes(run.entries[:length]).by_call
        assert {call_id: one.state for call_id, one in found.items()} == states
    last = nodes(run.entries)
    assert all(one.ended for one in last.by_call.values())
    for node, counts in last.counts.items():
        assert sum(counts.values()) == sum(one.node == node for one in last.by_call.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_cut_off_anywhere_is_read_by_every_view(seed):
    random = Random(seed)
    entries = RandomRun(random).entries
    for length in {len(entries), *(random.randint(1, len(entries)) for _ in range(6))}:
        read = entries[:length]
        row = run_row(read, alive=False)
        assert row.tool_calls == totals(read).tool_calls
        walked, shown = trajectory(read), steps(read)
        assert step_number(read, read[-1].seq) == len(walked)
        assert sum(step.type == "node" for step in shown) == len(nodes(read).by_call)
        spans = waterfall(read)
        assert sorted(span.seq for span in spans) == sorted({span.seq for span in spans})
        assert all(after.depth <= before.depth + 1 for before, after in itertools.pairwise(spans))
        assert [row.verdict for row in align([walked, walked])] == ["same"] * len(walked)
        assert list(fork_points(read)) == []
        for view in (conversation, children, call_views, tallies, model_tallies, files_after, left_calls, job_progress,
                     recorded_calls, explain, fork_view):  # fmt: skip
            view(read)
        list(said(read))
        StepTexts().find(shown, "text")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_cut_off_anywhere_is_exported_in_every_format(seed):
    random = Random(seed)
    entries = RandomRun(random).entries
    for length in {len(entries), random.randint(2, len(entries))}:
        read = entries[:length]
        lines = json_lines(read, app="1")
        assert read_json_lines(lines) == read
        page, document = html_page(read, lines, artifacts={}).decode(), review(read).document
        for step in trajectory(read):
            if step.node is not None:
                assert f"### Step {step.number}: {step.node.label}\n" in document
                assert f'id="step-{step.number}"' in page
        assert atif(read, app="1", artifacts={})
        spans = spans_of(read)
        ids = [str(span["spanId"]) for span in spans]
        assert len(ids) == len(set(ids))
        assert {str(span["parentSpanId"]) for span in spans[1:]} <= set(ids)
