"""The run of a workflow, taken along: each node with its title, what it was given and what it gave."""

import json

from app.api.following.run_replies import node_told
from app.domain.errors import ErrorInfo
from app.domain.events import ChildStarted, Forked
from app.domain.messages import FilePart
from app.domain.trace import steps as steps_of
from app.domain.trace import trajectory
from app.domain.trace.trajectory import step_number
from app.export.atif import atif
from app.export.html import html_page
from app.export.json_lines import json_lines
from app.export.markdown import review
from app.export.otel import spans_of
from app.export.otel_values import span_id
from app.export.redacting import Redactor
from app.export.review import artifacts_of
from tests.traces import SUMMING, a_workflow_run, finished, node_ended, node_started, started, trace_of


def test_a_review_tells_each_node():
    told = review(a_workflow_run())
    assert "- Model: its nodes' models" in told.document
    assert "### Step 4: Double it, item 2\n\nTool, done, 300 ms." in told.document
    assert "### Step 5: Total\n\nTransform, done" in told.document
    assert "**Gave**\n\n```json\n6\n```" in told.document and "## Final response\n\n6" in told.document
    assert [file.path for file in told.files] == ["tool_calls/01_calculator.json", "tool_calls/02_calculator.json"]


def test_a_page_has_a_card_for_each_node_skipped_ones_too():
    skipped = node_ended("output", status="skipped", port=None)
    failed = node_ended("total", status="failed", port=None, error=ErrorInfo(failure="internal", text="No <b>sum</b>."))
    entries = trace_of(started(workflow=SUMMING, model=""), node_started("total"), failed, skipped)
    page = html_page(entries, b"", artifacts={}).decode()
    assert "<strong>Total</strong>" in page and "transform, failed, 100 ms" in page
    assert "No &lt;b&gt;sum&lt;/b&gt;." in page and "output, skipped" in page
    whole = html_page(a_workflow_run(), b"", artifacts={}).decode()
    assert "<strong>Double it, item 2</strong>" in whole and "calculator: ok" in whole


def test_spans_of_nodes_lie_within_each_other_and_that_of_the_workflow():
    entries = trace_of(
        started(workflow=SUMMING, model=""),
        node_started("total", attempt=2),
        ChildStarted(call_id="total~2", child_run_id="r2"),
        node_ended("total", 6),
    )
    root, total = spans_of(entries)
    assert root["name"] == "invoke_workflow Assistant"
    assert (total["name"], total["spanId"]) == ("node Total", span_id("r1", "total~2"))
    spans = {str(span["spanId"]): span for span in spans_of(a_workflow_run())}
    call = next(span for span in spans.values() if span["name"] == "execute_tool calculator")
    node = spans[str(call["parentSpanId"])]
    around = spans[str(node["parentSpanId"])]
    assert [span["name"] for span in (node, around)] == ["node Double it, item 2", "node Each number"]
    assert spans[str(around["parentSpanId"])]["name"] == "invoke_workflow Assistant"
    said = {one["key"]: one["value"] for one in around["attributes"]}
    assert said["agent_playground.node.output"] == {"stringValue": "[2, 4]"}


def test_a_trajectory_says_that_nodes_asked_no_model():
    document = json.loads(atif(a_workflow_run(), app="1", artifacts={}))
    steps = [step for step in document["steps"] if step.get("llm_call_count") == 0]
    assert [step["message"] for step in steps][2:] == [
        "Double it, item 1",
        "Double it, item 2",
        "Total: 6",
        "Answer: 6",
        "6",
    ]
    assert steps[3]["observation"]["results"][0]["content"] == "4"


def test_a_value_that_is_pinned_is_marked_wherever_a_run_is_told():
    pinned, fork = node_ended("total", 6, pinned=True), Forked(run_id="r0", seq=1, prefix_digest="", edited=(1,))
    answered = (node_started("output"), node_ended("output", "6", port=None), finished())
    entries = trace_of(started(workflow=SUMMING, model=""), pinned, fork, *answered)
    words = "its value was written by a person"
    assert f"### Step 1: Total\n\nTransform, done, {words}." in review(entries).document
    assert f"transform, done, {words}" in html_page(entries, b"", artifacts={}).decode()
    steps = json.loads(atif(entries, app="1", artifacts={}))["steps"]
    assert [step["message"] for step in steps if step.get("extra") == {"pinned": True}] == ["Total: 6"]
    _, total, _ = spans_of(entries)
    said = {one["key"]: one["value"] for one in total["attributes"]}
    assert (total["name"], said["agent_playground.node.pinned"]) == ("node Total", {"boolValue": True})
    told = [node_told(step) for step in steps_of(entries) if step.node]
    assert [(one["node"], one["pinned"]) for one in told] == [("total", True), ("output", False)]
    assert [step.node.pinned for step in trajectory(entries) if step.node] == [True, False]
    assert step_number(entries, 1) == 1


def test_files_with_what_was_too_large_go_along():
    file = FilePart(artifact="a" * 64, media_type="application/json", filename="output.json", size=9)
    given = FilePart(artifact="b" * 64, media_type="application/json", filename="inputs.json", size=9)
    entries = trace_of(started(workflow=SUMMING), node_started("total", whole=given), node_ended("total", whole=file))
    assert artifacts_of(entries) == ["b" * 64, "a" * 64]


def test_no_key_goes_along_wherever_in_a_workflow_it_stands():
    key, word = "sk-proj-" + "a1B2c3D4" * 6, "hunter22hunter22"
    titled = SUMMING.model_copy(
        update={"nodes": (*SUMMING.nodes[:4], SUMMING.nodes[4].model_copy(update={"id": word}))}
    )
    entries = trace_of(
        started(workflow=titled, model=""), node_started("total", inputs={"a": key}), node_ended(word, key)
    )
    clean = Redactor("r1", [word]).entries(entries)
    written = json_lines(clean, app="1").decode()
    assert key not in written and word not in written and "node_started" in written
    assert review(clean).document.count("### Step 1: total") == 1
