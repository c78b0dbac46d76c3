"""Streams in, events out."""

import asyncio

import pytest

from app.domain.agents import Parameters, ToolChoice
from app.domain.errors import ModelFailure
from app.domain.events import RunFinished
from app.domain.messages import ToolCall
from app.domain.models import Price
from app.domain.trace import conversation, files_after, open_pauses, status
from tests.deciding import resolve
from tests.engine.scripted import ReasoningDelta, TextDelta, forever, reply
from tests.waiting import until


def types(live):
    return [entry.event.type for entry in live.entries]


def results(live):
    return [entry.event.result for entry in live.entries if entry.event.type == "tool_returned"]


def add(call_id="c1", **arguments):
    return ToolCall(call_id=call_id, name="add", arguments=arguments or {"x": 1, "y": 2})


async def test_a_tool_call_is_answered_and_the_model_goes_on(bench):
    bench.models.say(reply("", add()))
    bench.models.say("3 it is")
    live = await bench.ask("add", "add")
    assert types(live) == [
        "run_started", "message_added",
        "model_called", "message_added", "model_returned",
        "tool_called", "tool_returned",
        "model_called", "message_added", "model_returned",
        "run_finished",
    ]  # fmt: skip
    assert [message.role for message in bench.models.requests[1].messages] == ["user", "assistant", "tool"]
    assert live.status == "completed" and results(live)[0].text == "3"


async def test_the_prompt_is_sent_with_its_variables(bench):
    bench.models.say("hello")
    await bench.ask()
    assert bench.models.requests[0].system.text == "Be {{mood}}."


async def test_parallel_calls_run_side_by_side_and_answer_in_call_order(bench):
    bench.models.say(reply("", ToolCall(call_id="slow", name="hang"), add("fast")))
    bench.models.say("done")
    live = await bench.ask("x", "add", "hang", tool_timeout=0.2)
    assert [result.call_id for result in results(live)] == ["fast", "slow"]
    told = [m.parts[0].call_id for m in bench.models.requests[1].messages if m.role == "tool"]
    assert told == ["slow", "fast"]


@pytest.mark.parametrize(
    ("name", "arguments", "result_status", "told"),
    [
        ("refuse", {}, "error", "Not today."),
        ("crash", {}, "error", "KeyError: 'missing'"),
        ("hang", {}, "timeout", "longer than 0.1 seconds"),
        ("nonsense", {}, "unknown", "no tool named 'nonsense'"),
        ("add", {"x": "many"}, "invalid", "x"),
    ],
)
async def test_what_goes_wrong_in_a_tool_is_told_to_the_model(bench, name, arguments, result_status, told):
    bench.models.say(reply("", ToolCall(call_id="c1", name=name, arguments=arguments)))
    bench.models.say("I see")
    live = await bench.ask("x", "add", "refuse", "crash", "hang", tool_timeout=0.1)
    [result] = results(live)
    assert result.status == result_status and told in result.text
    assert told in bench.models.requests[1].messages[-1].parts[0].text
    assert live.status == "completed"


async def test_malformed_arguments_are_told_to_the_model(bench):
    bench.models.say(reply("", ToolCall(call_id="c1", name="add", malformed='{"x": 1,')))
    bench.models.say("I see")
    live = await bench.ask("x", "add")
    assert results(live)[0].status == "invalid"


async def test_a_crash_keeps_its_traceback_for_the_developer(bench):
    bench.models.say(reply("", ToolCall(call_id="c1", name="crash")))
    bench.models.say("I see")
    live = await bench.ask("x", "crash")
    [returned] = [entry.event for entry in live.entries if entry.event.type == "tool_returned"]
    assert "Traceback" in returned.traceback


async def test_call_ids_used_before_in_the_run_are_made_new(bench):
    bench.models.say(reply("", add("call_0")))
    bench.models.say(reply("", add("call_0", x=2, y=2)))
    bench.models.say("done")
    live = await bench.ask("x", "add")
    first, second = results(live)
    assert first.call_id == "call_0" and second.call_id.startswith("call_0-")
    assert (first.text, second.text) == ("3", "4")


async def test_the_step_limit_ends_the_run_with_what_it_has(bench):
    for number in range(2):
        bench.models.say(reply("", add(f"c{number}")))
    live = await bench.ask("x", "add", max_steps=2)
    assert types(live)[-2:] == ["limit_reached", "run_finished"]
    assert live.status == "limited" and len(bench.models.requests) == 2
    assert "2 steps" in live.entries[-1].event.error.text


async def test_the_total_time_ends_the_run_and_keeps_its_text(bench):
    bench.models.say(TextDelta("so far"), forever)
    live = await bench.ask("x", total_time=0.2)
    assert live.status == "limited" and conversation(live.entries)[-1].text == "so far"
    assert [e.event.limit for e in live.entries if e.event.type == "limit_reached"] == ["time"]
    assert bench.models.closed == 1


async def test_waiting_for_a_retry_does_not_count_as_time(bench):
    bench.models.say(ModelFailure("rate_limit", "slow down", retry_after=100))
    bench.models.say("there")
    live = await bench.ask("x", total_time=5)
    assert live.status == "completed" and bench.clock.waits == [100]


async def test_the_money_ceiling_is_checked_before_the_call(bench):
    bench.models.priced = Price(input=0.01, output=0.01)
    session = await bench.session(parameters=Parameters(max_tokens=50), run_cost=0.4)
    live = await bench.chat.send(session.id, "x")
    await live.ended()
    assert live.status == "limited" and bench.models.requests == []
    [limit] = [e.event for e in live.entries if e.event.type == "limit_reached"]
    assert (limit.limit, limit.allowed, limit.reached) == ("run_cost", 0.4, 0.51)


async def test_the_day_ceiling_counts_other_runs(bench):
    bench.models.priced = Price(input=0.01, output=0.01)
    session = await bench.session(parameters=Parameters(max_tokens=10), day_cost=0.25, run_cost=1)
    bench.models.say(reply("first", tokens=10))
    first = await bench.chat.send(session.id, "x")
    await first.ended()
    second = await bench.chat.send(session.id, "y")
    await second.ended()
    assert (first.status, second.status) == ("completed", "limited")
    assert [e.event.limit for e in second.entries if e.event.type == "limit_reached"] == ["day_cost"]


async def test_a_cut_answer_is_never_shown_as_finished(bench):
    bench.models.say(reply("half a sent", add(), finish="length"))
    live = await bench.ask("x", "add")
    assert live.status == "limited"
    assert [result.status for result in results(live)] == ["cancelled"]


async def test_a_failed_call_is_tried_again_and_each_attempt_is_in_the_trace(bench):
    bench.models.say(ModelFailure("provider_error", "oops"))
    bench.models.say(ModelFailure("network", "gone"))
    bench.models.say("finally")
    live = await bench.ask()
    failed = [e.event for e in live.entries if e.event.type == "model_failed"]
    assert [(f.failure, f.attempt, f.retry_at is not None) for f in failed] == [
        ("provider_error", 1, True),
        ("network", 2, True),
    ]
    assert live.status == "completed"


async def test_an_invalid_key_is_not_tried_again(bench):
    bench.models.say(ModelFailure("invalid_key", "Set OPENAI_API_KEY."))
    live = await bench.ask()
    assert live.status == "failed" and len(bench.models.requests) == 1
    assert live.entries[-1].event.error.text == "Set OPENAI_API_KEY."


async def test_nothing_is_tried_again_after_text_was_shown(bench):
    bench.models.say(TextDelta("part"), ModelFailure("network", "gone"))
    live = await bench.ask()
    assert live.status == "failed" and len(bench.models.requests) == 1
    shown = conversation(live.entries)[-1]
    assert (shown.text, shown.partial) == ("part", True)


async def test_a_bug_fails_the_run_with_its_traceback(bench):
    bench.models.say(ZeroDivisionError("bug"))
    live = await bench.ask()
    error = live.entries[-1].event.error
    assert error.failure == "internal" and "ZeroDivisionError" in error.traceback


async def test_a_stopped_run_keeps_its_text_and_closes_the_stream(bench):
    bench.models.say(ReasoningDelta("hm"), TextDelta("so far"), forever)
    session = await bench.session()
    live = await bench.chat.send(session.id, "x")
    await until(lambda: live.draft.text)
    live.stop()
    await asyncio.wait_for(live.ended(), 30)
    assert live.status == "cancelled" and bench.models.closed == 1
    assert types(live)[-3:] == ["message_added", "model_returned", "run_finished"]
    partial = conversation(live.entries)[-1]
    assert (partial.text, partial.reasoning, partial.partial) == ("so far", "hm", True)


async def test_stop_during_tools_gives_every_call_a_result(bench):
    bench.models.say(reply("", add("quick"), ToolCall(call_id="stuck", name="hang")))
    session = await bench.session("add", "hang")
    live = await bench.chat.send(session.id, "x")
    await asyncio.wait_for(bench.events["hanging"].wait(), 30)
    await until(lambda: results(live))
    live.stop()
    await asyncio.wait_for(live.ended(), 30)
    assert [(r.call_id, r.status) for r in results(live)] == [("quick", "ok"), ("stuck", "cancelled")]
    assert live.status == "cancelled"


async def test_a_closing_process_leaves_the_run_to_be_gone_on_with(bench):
    bench.models.say(TextDelta("so far"), forever)
    session = await bench.session()
    live = await bench.chat.send(session.id, "x")
    await until(lambda: live.draft.text)
    await bench.runs.close()
    stored = await bench.data.traces.read(live.run_id)
    assert not isinstance(stored.entries[-1].event, RunFinished)
    assert status(stored.entries, alive=False) == "interrupted" and stored.draft.text == "so far"


async def test_live_text_is_on_disk_within_a_second_or_so(bench):
    bench.models.say(TextDelta("first words"), forever)
    session = await bench.session()
    live = await bench.chat.send(session.id, "x")

    async def on_disk():
        return (await bench.data.traces.read(live.run_id)).draft.text == "first words"

    async with asyncio.timeout(10):
        while not await on_disk():  # noqa: ASYNC110  another process would see it on the disk only
            await asyncio.sleep(0.05)
    live.stop()


async def test_an_approved_call_runs_with_the_arguments_as_decided(bench):
    bench.models.say(reply("", add()))
    bench.models.say("done")
    session = await bench.session(ToolChoice(name="add", policy="ask"))
    live = await bench.chat.send(session.id, "x")
    pause = await pause_of(live)
    assert live.status == "paused" and pause.arguments == {"x": 1, "y": 2}
    resolve(live, pause.pause_id, "edit", arguments={"x": 20, "y": 22})
    await asyncio.wait_for(live.ended(), 30)
    assert results(live)[0].text == "42" and live.status == "completed"


async def test_a_denied_call_never_runs_and_the_model_reads_why(bench):
    bench.models.say(reply("", add()))
    bench.models.say("understood")
    session = await bench.session(ToolChoice(name="add", policy="ask"))
    live = await bench.chat.send(session.id, "x")
    resolve(live, (await pause_of(live)).pause_id, "deny", note="too risky")
    await asyncio.wait_for(live.ended(), 30)
    assert "tool_called" not in types(live)
    assert "too risky" in bench.models.requests[1].messages[-1].parts[0].text


async def pause_of(live):
    return (await until(lambda: open_pauses(live.entries)))[0]


async def test_what_a_tool_prints_and_writes_is_in_the_trace(bench):
    bench.models.say(reply("", ToolCall(call_id="c1", name="talk")))
    bench.models.say("done")
    live = await bench.ask("x", "talk")
    [returned] = [e.event for e in live.entries if e.event.type == "tool_returned"]
    assert returned.printed == "working\n"
    [path] = files_after(live.entries)
    assert path == "/made.txt"


async def test_following_a_run_sees_every_entry_once(bench):
    bench.models.say(reply("", add()))
    bench.models.say("done")
    session = await bench.session("add")
    live = await bench.chat.send(session.id, "x")
    followed = [entry async for entry in live.follow()]
    assert followed == live.entries and [entry.seq for entry in followed] == list(range(len(followed)))


async def test_what_was_written_is_what_is_read(bench):
    bench.models.say(reply("", add()))
    bench.models.say("done")
    live = await bench.ask("x", "add")
    stored = await bench.data.traces.read(live.run_id)
    assert stored.entries == live.entries and stored.damaged == () and stored.draft.empty
