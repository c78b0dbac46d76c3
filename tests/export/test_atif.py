"""ATIF: a run leaves as a trajectory that Harbor reads, comes in again as it was, and says what was left out."""

import json
import zipfile
from io import BytesIO

import pytest

from app.domain.errors import TooLarge, WorkbenchError
from app.domain.events import ContextTrimmed, Entry, LeftOut, LimitReached, ModelReturned, RunStarted
from app.domain.messages import TextPart, ToolCall, Usage
from app.domain.tools import GrantedTool, ToolSpec
from app.domain.trace import call_views, conversation, run_row, steps, totals, trajectory
from app.export.atif import TRAJECTORY, VERSION, atif
from app.export.atif_reading import MOST_VALUES, Trajectory, read_atif
from app.export.otel import spans_of
from app.export.received import received
from tests.export.runs import NOTES, PNG, digest, forked_run, rich_run
from tests.traces import (
    ADD,
    MULTIPLY,
    a_workflow_run,
    asked,
    call,
    called,
    finished,
    ran,
    returned,
    said,
    started,
    the_sum,
    trace_of,
)

HELD = {digest(PNG): PNG, digest(NOTES): NOTES}


def document(entries: list[Entry]) -> dict:
    written = atif(entries, app="1", artifacts=HELD)
    if written.startswith(b"PK"):
        written = zipfile.ZipFile(BytesIO(written)).read(TRAJECTORY)
    told: dict = json.loads(written)
    return told


def trajectory_of(*steps: dict) -> Trajectory:
    """What is read of these steps of another program."""
    numbered = [{"step_id": number, "source": "agent", **step} for number, step in enumerate(steps, start=1)]
    told = {"schema_version": "ATIF-v1.7", "agent": {"name": "A"}, "steps": numbered}
    return read_atif(json.dumps(told).encode())


def asking(*call_ids: str) -> list[dict]:
    return [{"tool_call_id": call_id, "function_name": "f", "arguments": {}} for call_id in call_ids]


def test_a_run_is_a_trajectory_of_its_messages_calls_and_figures():
    told = document(the_sum())
    assert (told["schema_version"], told["trajectory_id"], told["session_id"]) == (VERSION, "r1", "s1")
    assert told["agent"]["name"] == "Assistant" and told["agent"]["model_name"] == "demo/agent"
    assert [(step["step_id"], step["source"]) for step in told["steps"]] == [
        (1, "user"), (2, "agent"), (3, "agent"), (4, "agent"),
    ]  # fmt: skip
    first, last = told["steps"][1], told["steps"][3]
    assert first["reasoning_content"] == "First the sum."
    assert first["tool_calls"][0]["function_name"] == "calculator"
    result = first["observation"]["results"][0]
    assert (result["source_call_id"], result["content"]) == (first["tool_calls"][0]["tool_call_id"], "5 + 10 = 15")
    assert (first["metrics"]["prompt_tokens"], first["metrics"]["cost_usd"]) == (10, 0.5)
    assert last["message"] == "The answer is 45." and "tool_calls" not in last
    assert told["final_metrics"]["total_cost_usd"] == 1.5 and "notes" not in told


def test_what_comes_in_again_is_what_left():
    system = asked("Be brief.").message.model_copy(update={"role": "system"})
    spec = ToolSpec(name="calculator", description="Sums", parameters={"type": "object"})
    begun = started(system=system, tools=(GrantedTool(spec=spec),), history=(asked("Before").message,))
    before = trace_of(begun, *(entry.event for entry in the_sum()[1:]))
    read = read_atif(atif(before, app="1", artifacts={}))
    after = read.entries
    assert read.notes == () and read.artifacts == {}
    assert [message.text for message in conversation(after)] == [message.text for message in conversation(before)]
    assert [(one.type, one.text) for one in steps(after)] == [(one.type, one.text) for one in steps(before)]
    views = [
        [(one.name, one.arguments, one.result, one.ms) for one in call_views(run).values()] for run in (after, before)
    ]
    assert views[0] == views[1]
    same = (
        "request",
        "answer",
        "model",
        "status",
        "cost",
        "model_calls",
        "tool_calls",
        "input_tokens",
        "output_tokens",
    )
    rows = [run_row(run, alive=False).model_dump(include=set(same)) for run in (after, before)]
    assert rows[0] == rows[1]
    first = after[0].event
    assert isinstance(first, RunStarted) and first.system is not None and first.system.text == "Be brief."
    assert first.tools[0].spec.name == "calculator" and first.agent.name == "Assistant"
    assert [entry.at for entry in after] == sorted(entry.at for entry in after)


def test_a_whole_number_of_any_length_comes_in_as_it_left():
    exact = call("c1", "measure", x=10**30)
    entries = trace_of(started(), asked("?"), called(), said("", exact), returned(), *ran(exact, "ok"), finished())
    (back,) = call_views(received(atif(entries, app="1", artifacts={})).entries).values()
    assert back.arguments == {"x": 10**30}


def test_images_go_along_and_come_in_and_what_has_no_place_is_told():
    trimmed = ContextTrimmed(left_out=(LeftOut(message=0, how="stub"),), tokens_before=9, tokens_after=1)
    limit = LimitReached(limit="steps", allowed=1, reached=1)
    events = [entry.event for entry in rich_run()]
    entries = trace_of(*events[:-1], trimmed, limit, events[-1])
    written = atif(entries, app="1", artifacts=HELD)
    notes = document(entries)["notes"]
    for words in ("1 × file", "1 × change of a file", "1 × limit", "1 × shortening"):
        assert words in notes
    found = received(written)
    assert found.artifacts == {digest(PNG): PNG} and found.app == VERSION
    (picture,) = conversation(found.entries)[0].attachments
    assert picture.artifact == digest(PNG)
    assert "ATIF has no place for" in found.notes[0]


def test_a_trajectory_of_another_program_is_taken_in_and_its_unknown_parts_are_listed():
    told = {
        "schema_version": "ATIF-v1.4",
        "session_id": "abc",
        "agent": {"name": "Mini <b>Agent</b>", "version": "1.0", "mood": "good"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "Fix it", "timestamp": "2026-01-02T03:04:05Z"},
            {"step_id": 2, "source": "agent", "message": "Looking", "extra": {"reward": 1},
             "tool_calls": [{"tool_call_id": "a", "function_name": "bash", "arguments": {"cmd": "ls"}}],
             "observation": {"results": [{"source_call_id": "a", "content": "x.py"}, {"content": "a terminal"}]},
             "metrics": {"prompt_tokens": 9, "logprobs": [0.1]}},
            {"step_id": 3, "source": "system", "message": "Be quick"},
            {"step_id": 4, "source": "agent", "message": [
                {"type": "text", "text": "Done"},
                {"type": "image", "source": {"media_type": "image/png", "path": "../../etc/passwd"}}]},
        ],
        "subagent_trajectories": [{}],
    }  # fmt: skip
    found = received(json.dumps(told).encode())
    listed = " ".join(found.notes)
    for part in ("subagent_trajectories", "agent.mood", "steps[].extra.reward", "steps[].metrics.logprobs"):
        assert part in listed
    assert "belongs to no tool call" in listed and "step of the system" in listed and "of the kind image" in listed
    row = run_row(found.entries, alive=False)
    assert (row.request, row.answer, row.model, row.unpriced) == (
        "Fix it",
        "Done[image: ../../etc/passwd]",
        "unknown/unknown",
        True,
    )
    assert [step.type for step in steps(found.entries)][:4] == [
        "user-request",
        "agent-thought",
        "tool-call",
        "tool-result",
    ]


def test_all_observations_of_a_step_come_in():
    said = [{"source_call_id": "c", "content": "one"}, {"source_call_id": "c", "content": "two"}]
    loose = [{"content": "first"}, {"content": "second"}, {"source_call_id": "nobody", "content": "third"}]
    read = trajectory_of({"tool_calls": asking("c"), "observation": {"results": [*said, *loose]}})
    (view,) = call_views(read.entries).values()
    assert view.result is not None and view.result.text == "one\ntwo"
    assert [message.text for message in conversation(read.entries)[-3:]] == ["first", "second", "third"]


def test_calls_of_one_id_are_told_apart_with_their_results():
    results = [[{"source_call_id": "call_0", "content": f"{step}{n}"} for n in range(2)] for step in "ab"]
    steps = [{"tool_calls": asking("call_0", "call_0"), "observation": {"results": one}} for one in results]
    entries = trajectory_of(*steps).entries
    decisions = trajectory(entries)
    assert [[call.result and call.result.text for call in step.calls] for step in decisions] == [
        ["a0", "a1"],
        ["b0", "b1"],
    ]
    spans = [span["spanId"] for span in spans_of(entries)]
    assert len(spans) == len(set(spans))


@pytest.mark.parametrize("copied", [True, False])
def test_a_system_message_at_the_beginning_is_one_also_where_it_is_copied(copied: bool):
    system = {"source": "system", "message": "Be brief.", "is_copied_context": copied}
    first = trajectory_of(system, {"source": "user", "message": "Hello"}).entries[0].event
    assert isinstance(first, RunStarted) and first.system is not None
    assert (first.system.text, first.history) == ("Be brief.", ())


def test_a_fork_is_told_with_what_it_cost_itself():
    fork = forked_run()
    told = document(fork)
    spent = [step["metrics"]["prompt_tokens"] for step in told["steps"] if "metrics" in step]
    assert (spent, told["final_metrics"]["total_prompt_tokens"]) == ([10, 10], 20)
    assert told["steps"][1]["extra"] == {"copied": True}
    read = read_atif(json.dumps(told).encode())
    assert totals(read.entries).cost == totals(fork).cost == 1.0 and not totals(read.entries).unpriced
    assert (read.notes[0].count("Left out"), len(call_views(read.entries))) == (0, len(call_views(fork)))


def test_nodes_that_asked_no_model_come_in_as_steps_without_a_model_call():
    read = read_atif(atif(a_workflow_run(), app="1", artifacts={})).entries
    assert (totals(read).model_calls, totals(read).unpriced, len(trajectory(read))) == (0, False, 7)


def test_a_run_without_a_price_says_no_sum_of_money():
    entries = trace_of(started(), asked("x"), called("m1"), said("done"), returned("m1", cost=None), finished())
    assert "total_cost_usd" not in document(entries)["final_metrics"]


@pytest.mark.parametrize("nothing", ["0001-01-01T00:00:00Z", "1970-01-01T00:00:00", "9999-12-31T23:59:59Z"])
def test_what_programs_write_for_no_time_is_no_time(nothing: str):
    said = ({"message": "1"}, {"message": "2", "timestamp": "2026-01-02T03:04:05"}, {"message": "3"})
    steps = [{"step_id": 1, "source": "user", "timestamp": nothing, **one} for one in said]
    told = {"schema_version": "ATIF-v1.4", "session_id": "abc", "agent": {"name": "A", "version": "1"}, "steps": steps}
    found = received(json.dumps(told).encode())
    assert {entry.at.replace(microsecond=0).isoformat() for entry in found.entries} == {"2026-01-02T03:04:05+00:00"}
    assert [note for note in found.notes if "which is no time of a step" in note]


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (b"{", "it is not JSON"),
        (b"{}", "schema_version"),
        (b'{"schema_version": "ATIF-v2.0", "agent": {"name": "a"}, "steps": []}', "schema_version"),
        (b'{"schema_version": "ATIF-v1.7", "agent": {"name": "a"}, "steps": []}', "steps"),
        (
            b'{"schema_version": "ATIF-v1.7", "agent": {"name": "a"}, "steps": [{"step_id": 1, "source": "cat"}]}',
            "source",
        ),
        (b"hello", "no zip file"),
    ],
)
def test_what_is_no_trajectory_is_refused_in_words(written: bytes, words: str):
    with pytest.raises(WorkbenchError, match=words):
        received(written)


@pytest.mark.parametrize(
    "metrics",
    [{"prompt_tokens": 2**64 - 1}, {"cached_tokens": 10**400}, {"cost_usd": 1e300}, {"cost_usd": 1e10}],
)
def test_figures_that_no_step_has_are_refused_in_words(metrics: dict[str, float]):
    with pytest.raises(WorkbenchError, match=f"steps.0.metrics.{next(iter(metrics))}: Input should be less than"):
        received(measured(metrics))


@pytest.mark.parametrize("amount", [10**400, 1e300, -1, True, "1"])
def test_figures_of_ours_that_no_step_has_are_left_out(amount: object):
    names = ("cache_write_tokens", "reasoning_tokens", "first_token_ms", "total_ms")
    entries = received(measured({"extra": dict.fromkeys(names, amount)})).entries
    (answer,) = [entry.event for entry in entries if isinstance(entry.event, ModelReturned)]
    assert (answer.usage, answer.total_ms, answer.first_token_ms) == (Usage(), 0, None)
    assert run_row(entries, alive=False).status == "completed"


def measured(metrics: object) -> bytes:
    step = {"step_id": 1, "source": "agent", "message": "Hi", "metrics": metrics}
    return json.dumps({"schema_version": "ATIF-v1.7", "agent": {"name": "A"}, "steps": [step]}).encode()


def test_a_trajectory_that_would_fill_the_memory_is_refused():
    with pytest.raises(TooLarge):
        received(b'{"a": [' + b"1," * MOST_VALUES + b"1]}")


def test_calls_keep_how_they_ended():
    wrong = ToolCall(call_id="c9", name="calculator", malformed="{")
    open_call = call("c8", "calculator", x=1)
    entries = trace_of(
        started(), asked("x"), called("m1"), said("", ADD, MULTIPLY, wrong, open_call), returned("m1"),
        *ran(ADD, "boom", status="error"), *ran(MULTIPLY, "45"), finished("failed"),
    )  # fmt: skip
    after = read_atif(atif(entries, app="1", artifacts={})).entries
    views = call_views(after)
    assert [view.result.status if view.result else None for view in views.values()] == ["error", "ok", None, None]
    assert views["c9"].malformed == "{" and run_row(after, alive=False).status == "failed"
    assert isinstance(views["c1"].result.parts[0], TextPart)
