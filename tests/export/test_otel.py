import base64
import json

from google.protobuf import json_format
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status, TracesData

from app.domain.errors import ErrorInfo
from app.domain.events import ContextTrimmed, Forked, LeftOut, ModelFailed, RunFinished
from app.domain.messages import ToolCall
from app.domain.provenance import Parent, Trigger
from app.domain.trace import Edited, Edits
from app.export.otel import otlp_json
from app.export.otel_messages import LONGEST_INPUT
from tests.export.runs import forked_run, rich_run
from tests.processor import at_work, slowness
from tests.traces import (
    ADD,
    SUMMING,
    a_workflow_run,
    asked,
    called,
    finished,
    node_ended,
    node_started,
    ran,
    returned,
    said,
    started,
    the_sum,
    trace_of,
)

IDS = ("traceId", "spanId", "parentSpanId")


def in_base64(value):
    """OTLP's JSON has ids as hexadecimal digits, where protobuf's own has bytes as base64."""
    if isinstance(value, dict):
        return {
            key: base64.b64encode(bytes.fromhex(inner)).decode() if key in IDS else in_base64(inner)
            for key, inner in value.items()
        }
    return [in_base64(inner) for inner in value] if isinstance(value, list) else value


def spans_of(entries, **kwargs) -> list[Span]:
    written = json.loads(otlp_json(entries, app="1", **kwargs))
    data = json_format.ParseDict(in_base64(written), TracesData())  # refuses what the protocol has no field for
    return list(data.resource_spans[0].scope_spans[0].spans)


def values(span) -> dict[str, object]:
    found = {}
    for pair in span.attributes:
        kind = pair.value.WhichOneof("value")
        value = getattr(pair.value, kind)
        found[pair.key] = [one.string_value for one in value.values] if kind == "array_value" else value
    return found


def test_a_run_is_one_trace_with_a_span_for_each_call():
    spans = spans_of(the_sum())
    assert [span.name for span in spans] == [
        "invoke_agent Assistant",
        *["chat agent", "execute_tool calculator"] * 2,
        "chat agent",
    ]
    root, *others = spans
    assert not root.parent_span_id and {span.parent_span_id for span in others} == {root.span_id}
    assert {len(span.trace_id) for span in spans} == {16} and len({span.span_id for span in spans}) == 6
    assert len({span.trace_id for span in spans}) == 1
    assert all(root.start_time_unix_nano <= span.start_time_unix_nano < span.end_time_unix_nano for span in others)


def test_the_agents_span_says_who_ran_and_what_it_used():
    found = values(spans_of(the_sum())[0])
    assert (
        found
        | {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": "demo",
            "gen_ai.agent.name": "Assistant",
            "gen_ai.agent.version": "1",
            "gen_ai.conversation.id": "s1",
            "gen_ai.usage.input_tokens": 30,
            "gen_ai.usage.output_tokens": 60,
            "agent_playground.usage.cost_usd": 1.5,
        }
        == found
    )
    [answer] = json.loads(found["gen_ai.output.messages"])
    assert answer["parts"] == [{"type": "text", "content": "The answer is 45."}] and answer["finish_reason"] == "stop"


def test_a_chat_span_has_what_was_sent_and_what_came_back():
    second = values(spans_of(the_sum())[3])
    sent = json.loads(second["gen_ai.input.messages"])
    assert [message["role"] for message in sent] == ["user", "assistant", "tool"]
    assert sent[1]["parts"][1] == {
        "type": "tool_call",
        "id": "c1",
        "name": "calculator",
        "arguments": {"operation": "add", "x": 5, "y": 10},
    }
    assert sent[2]["parts"][0]["type"] == "tool_call_response"
    answer = json.loads(second["gen_ai.output.messages"])[0]
    assert (answer["role"], answer["finish_reason"]) == ("assistant", "stop")
    assert second["gen_ai.response.finish_reasons"] == ["stop"]
    assert second["gen_ai.response.time_to_first_chunk"] == 0.02


def test_a_tool_span_has_arguments_and_result():
    found = values(spans_of(the_sum())[2])
    assert json.loads(found["gen_ai.tool.call.arguments"]) == {"operation": "add", "x": 5, "y": 10}
    assert (found["gen_ai.tool.call.id"], found["gen_ai.tool.call.result"]) == ("c1", "5 + 10 = 15")


def test_a_tool_span_has_arguments_that_cannot_be_read_as_they_were_written():
    broken = ToolCall(call_id="c1", name="add", malformed='{"x": 1,')
    ended = ran(broken, "No JSON.", status="invalid")
    entries = trace_of(started(), asked("x"), called(), said("", broken), returned(), *ended, finished())
    assert values(spans_of(entries)[2])["gen_ai.tool.call.arguments"] == '{"x": 1,'


def test_failures_are_errors_of_their_own_class():
    failed = ModelFailed(call_id="m1", failure="rate_limit", text="Slow down", attempt=1)
    entries = trace_of(
        started(),
        asked("x"),
        called("m1"),
        failed,
        called("m1").model_copy(update={"attempt": 2}),
        said("", ADD),
        returned("m1"),
        *ran(ADD, "no such number", status="error"),
        RunFinished(status="failed", error=ErrorInfo(failure="network", text="Gone")),
    )
    root, first, second, tool = spans_of(entries)
    assert [span.status.code for span in (root, first, second, tool)] == [
        *(Status.STATUS_CODE_ERROR, Status.STATUS_CODE_ERROR, Status.STATUS_CODE_OK, Status.STATUS_CODE_ERROR)
    ]
    assert [values(span).get("error.type") for span in (root, first, second, tool)] == [
        *("network", "rate_limit", None, "error")
    ]
    assert first.span_id != second.span_id and first.status.message == "Slow down"


def test_a_run_that_goes_on_has_unfinished_spans():
    spans = spans_of(the_sum()[:3], alive=True)
    assert values(spans[0])["agent_playground.run.status"] == "running"
    assert values(spans[1])["agent_playground.unfinished"] is True


def test_what_was_cut_off_did_not_go_well():
    begun = (started(), asked("x"), called("m1"))
    for end in ((), (finished("cancelled"),), (finished("limited"),)):
        assert [span.status.code for span in spans_of(trace_of(*begun, *end))] == [Status.STATUS_CODE_UNSET] * 2
    node = node_ended("total", status="cancelled", port=None)
    _, cut_off = spans_of(trace_of(started(workflow=SUMMING, model=""), node_started("total"), node))
    assert cut_off.status.code == Status.STATUS_CODE_UNSET


def test_a_completed_workflow_that_asks_no_model_stopped_by_itself():
    root = spans_of(a_workflow_run())[0]
    assert root.status.code == Status.STATUS_CODE_OK
    assert json.loads(values(root)["gen_ai.output.messages"])[0]["finish_reason"] == "stop"


def test_what_took_no_time_is_an_event_of_the_run():
    trimmed = ContextTrimmed(left_out=(LeftOut(message=0, how="stub"),), tokens_before=10, tokens_after=5)
    root = spans_of(trace_of(started(), asked("x"), trimmed, finished()))[0]
    assert [event.name for event in root.events] == ["agent_playground.context_trimmed"]
    assert values(root.events[0])["agent_playground.tokens_before"] == 10


def test_a_child_is_below_the_call_that_started_it_at_any_depth():
    parent = trace_of(
        started(), asked("x"), called(), said("", ADD), returned(), *ran(ADD, "1"), finished(), run_id="p"
    )
    above = Parent.of("p", "c1", above=None)
    child = trace_of(started(parent=above), asked("x"), called("m1"), finished(), run_id="child")
    deep = trace_of(started(parent=Parent.of("child", "c9", above=above)), asked("x"), finished(), run_id="deep")
    tool, [root, chat], [deepest] = spans_of(parent)[2], spans_of(child), spans_of(deep)
    assert (root.trace_id, root.parent_span_id) == (tool.trace_id, tool.span_id)
    assert (chat.trace_id, chat.parent_span_id) == (tool.trace_id, root.span_id)
    assert deepest.trace_id == tool.trace_id and deepest.parent_span_id and not root.links


def test_a_child_of_an_old_run_that_names_no_first_one_is_below_its_parent():
    child = trace_of(started(parent=Parent(run_id="p", call_id="c1")), asked("x"), finished(), run_id="child")
    parent = trace_of(started(), asked("x"), finished(), run_id="p")
    assert spans_of(child)[0].trace_id == spans_of(parent)[0].trace_id


def test_a_run_is_below_the_span_that_its_caller_named():
    above = f"00-{'ab' * 16}-{'cd' * 8}-01"
    trigger = Trigger(kind="api_key", traceparent=above)
    run = trace_of(started(trigger=trigger), asked("x"), called(), finished(), run_id="p")
    child = trace_of(
        started(trigger=trigger, parent=Parent.of("p", "c1", above=None)), asked("x"), finished(), run_id="child"
    )
    root, chat = spans_of(run)
    assert (root.trace_id.hex(), root.parent_span_id.hex()) == ("ab" * 16, "cd" * 8)
    assert chat.parent_span_id == root.span_id
    below = spans_of(child)[0]
    assert below.trace_id == root.trace_id and below.parent_span_id.hex() not in ("cd" * 8, "")


def test_the_same_run_makes_the_same_bytes_and_files_are_named():
    assert otlp_json(rich_run(), app="1") == otlp_json(rich_run(), app="1")
    assert '"modality\\":\\"image\\"' in otlp_json(rich_run(), app="1").decode()


def test_a_long_conversation_is_not_repeated_in_each_span():
    turns = []
    for number in range(40):
        turns += [called(f"m{number}"), said("x" * 10_000), returned(f"m{number}"), asked("more")]
    spans = spans_of(trace_of(started(), *turns))
    last = values(spans[-1])
    assert last["agent_playground.input.messages_left_out"] > 30
    assert len(last["gen_ai.input.messages"]) < 11_000
    assert max(len(values(span)["gen_ai.input.messages"]) for span in spans[1:]) <= LONGEST_INPUT + 1000


def test_many_edits_take_no_time():
    count = 5_000
    whole = Forked(run_id="gone", seq=count, prefix_digest="0", edited=tuple(range(count, 0, -1)))
    entries = trace_of(started(), *[asked("Hi")] * count, whole, finished())
    edits = Edits(Edited(seq, "message") for seq in range(1, count + 1))
    with at_work() as work:
        assert otlp_json(entries, app="1", edits=edits).count(b'"agent_playground.edited"') == count
    assert work.seconds < slowness()


def test_a_fork_has_spans_of_its_own_steps_and_a_link_to_the_run_with_the_others():
    root, *others = spans_of(forked_run())
    assert [span.name for span in others] == ["chat agent", "execute_tool calculator", "chat agent"]
    assert all(root.start_time_unix_nano <= span.start_time_unix_nano for span in others)
    origin = spans_of(the_sum())[0]
    assert [(link.trace_id, link.span_id) for link in root.links] == [(origin.trace_id, origin.span_id)]
    found = values(root)
    assert (found["agent_playground.fork.steps_reused"], found["agent_playground.fork.steps_new"]) == (1, 2)
    assert found["gen_ai.usage.input_tokens"] == 20
    assert sum(values(span).get("gen_ai.usage.input_tokens", 0) for span in others) == 20
    assert "First the sum." in values(others[0])["gen_ai.input.messages"]  # it was copied, and sent
    [began] = [event for event in root.events if event.name == "agent_playground.child_started"]
    assert began.attributes[1].value.string_value == "child"
