import asyncio
from contextlib import suppress

import pytest

from app.domain.agents import ToolChoice
from app.domain.errors import Conflict
from app.domain.events import MessageAdded, ModelFailed, PauseResolved, ToolCalled, ToolReturned
from app.domain.messages import Attachment, ImagePart, ToolCall, user_message
from app.domain.streaming import CallDelta
from app.domain.trace import conversation, files_after, open_pauses
from app.engine.run.run import Run
from app.engine.sessions.queue import Queue
from tests.engine.scripted import ReasoningDelta, TextDelta, forever, reply
from tests.waiting import until


def kinds(live: Run) -> list[str]:
    return [entry.event.type for entry in live.entries]


def said(live: Run) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in conversation(live.entries)]


def results(live: Run) -> list[tuple[str, str]]:
    returned = [entry.event for entry in live.entries if isinstance(entry.event, ToolReturned)]
    return [(one.result.name, one.result.status) for one in returned]


async def steered(live: Run, text: str, *attachments: Attachment) -> bool:
    landed = await asyncio.wait_for(live.control.steer(user_message(text, *attachments)).landed, 30)
    await asyncio.wait_for(live.ended(), 30)
    return landed


async def test_a_steer_in_mid_answer_keeps_the_text_drops_half_a_call_and_is_a_turn_of_its_own(bench):
    half = CallDelta(call_id="1", name="add", text='{"x": 1')
    bench.models.say(ReasoningDelta("Hm."), TextDelta("Once upon"), half, forever)
    bench.models.say("In short: no.")
    session = await bench.session("add")
    live = await bench.chat.send(session.id, "Tell me a story")
    await until(lambda: live.draft.calls)

    assert await steered(live, "Shorter!")
    assert kinds(live)[1:] == [
        *("message_added", "model_called", "message_added", "model_returned"),
        *("message_added", "model_called", "message_added", "model_returned", "run_finished"),
    ]
    assert said(live) == [
        ("user", "Tell me a story"),
        ("assistant", "Once upon"),
        ("user", "Shorter!"),
        ("assistant", "In short: no."),
    ]
    partial, steer = (entry.event for entry in live.entries if entry.seq in (3, 5))
    assert isinstance(partial, MessageAdded) and partial.message.partial and not partial.message.tool_calls
    assert isinstance(steer, MessageAdded) and steer.origin == "steer"
    assert live.status == "completed" and not live.control.steered


async def test_a_provider_that_cannot_be_interrupted_is_heard_out(bench):
    async def stubborn() -> None:
        with suppress(asyncio.CancelledError):
            await forever()

    bench.models.say(TextDelta("Well"), stubborn, "Well, yes.")
    bench.models.say("Fine.")
    session = await bench.session()
    live = await bench.chat.send(session.id, "hi")
    await until(lambda: live.draft.text)

    assert await steered(live, "wait")
    assert [text for _, text in said(live)] == ["hi", "Well, yes.", "wait", "Fine."]


async def test_a_steer_before_the_first_token_says_that_the_call_was_left(bench):
    bench.models.say(forever)
    bench.models.say("Hello.")
    session = await bench.session()
    live = await bench.chat.send(session.id, "hi")
    await until(lambda: bench.models.requests)

    assert await steered(live, "hello?")
    failed = next(entry.event for entry in live.entries if isinstance(entry.event, ModelFailed))
    assert (failed.failure, failed.text) == ("cancelled", "Steered away before the model answered.")
    assert said(live) == [("user", "hi"), ("user", "hello?"), ("assistant", "Hello.")]


async def test_a_steer_cancels_tools_and_every_call_has_a_result(bench):
    bench.models.say(reply("", ToolCall(call_id="a", name="hang"), ToolCall(call_id="b", name="hang")))
    bench.models.say("Fine.")
    session = await bench.session("hang")
    live = await bench.chat.send(session.id, "go")
    await asyncio.wait_for(bench.events["hanging"].wait(), 30)

    assert await steered(live, "Leave it")
    assert results(live) == [("hang", "cancelled"), ("hang", "cancelled")]
    assert said(live)[-2:] == [("user", "Leave it"), ("assistant", "Fine.")]
    assert live.status == "completed"


async def test_a_tool_that_may_not_be_cancelled_is_waited_for(bench):
    bench.models.say(reply("", ToolCall(call_id="a", name="pay"), ToolCall(call_id="b", name="hang")))
    bench.models.say("Paid.")
    session = await bench.session("pay", "hang")
    live = await bench.chat.send(session.id, "go")
    await until(lambda: sum(isinstance(entry.event, ToolCalled) for entry in live.entries) == 2)

    steer = live.control.steer(user_message("Stop that"))
    await until(lambda: results(live))
    assert results(live) == [("hang", "cancelled")]
    assert live.control.steered and not steer.landed.done()
    bench.events["paying"].set()
    await asyncio.wait_for(live.ended(), 30)
    assert results(live) == [("hang", "cancelled"), ("pay", "ok")]
    assert said(live)[-2:] == [("user", "Stop that"), ("assistant", "Paid.")]


async def test_a_steer_instead_of_a_decision_denies_the_call_and_lets_none_run(bench):
    bench.models.say(
        reply("", ToolCall(call_id="a", name="add", arguments={"x": 1, "y": 2}), ToolCall(call_id="b", name="refuse"))
    )
    bench.models.say("As you like.")
    session = await bench.session(ToolChoice(name="add", policy="ask"), ToolChoice(name="refuse", policy="ask"))
    live = await bench.chat.send(session.id, "go")
    await until(lambda: len(open_pauses(live.entries)) == 2)

    assert await steered(live, "Use 3 instead")
    decided = [entry.event for entry in live.entries if isinstance(entry.event, PauseResolved)]
    assert [(one.decision, one.by) for one in decided] == [("deny", "steer")] * 2
    assert sorted(results(live)) == [("add", "cancelled"), ("refuse", "cancelled")]
    assert not any(isinstance(entry.event, ToolCalled) for entry in live.entries)
    assert said(live)[-2:] == [("user", "Use 3 instead"), ("assistant", "As you like.")]


async def test_a_steer_while_a_tool_asks_settles_the_question(bench):
    bench.models.say(reply("", ToolCall(call_id="a", name="wonder")))
    bench.models.say("Never mind.")
    session = await bench.session("wonder")
    live = await bench.chat.send(session.id, "go")
    await until(lambda: open_pauses(live.entries))

    assert await steered(live, "Skip it")
    assert open_pauses(live.entries) == []
    assert results(live) == [("wonder", "cancelled")]


async def test_several_steers_go_in_by_their_order(bench):
    bench.models.say(TextDelta("Well"), forever)
    bench.models.say("Good.")
    session = await bench.session()
    live = await bench.chat.send(session.id, "hi")
    await until(lambda: live.draft.text)

    first, second = live.control.steer(user_message("one")), live.control.steer(user_message("two"))
    await asyncio.wait_for(live.ended(), 30)
    assert await first.landed and await second.landed
    assert said(live)[-3:] == [("user", "one"), ("user", "two"), ("assistant", "Good.")]


async def test_stop_goes_before_a_steer(bench):
    bench.models.say(TextDelta("Well"), forever)
    session = await bench.session()
    live = await bench.chat.send(session.id, "hi")
    await until(lambda: live.draft.text)

    steer = live.control.steer(user_message("wait"))
    live.stop()
    await asyncio.wait_for(live.ended(), 30)
    assert await steer.landed is False
    assert live.status == "cancelled"
    assert not live.control.steer(user_message("too late")).landed.result()


async def test_what_a_steer_brings_along_is_among_the_files(bench):
    bench.models.say(TextDelta("Well"), forever)
    bench.models.say("A cat.")
    session = await bench.session()
    live = await bench.chat.send(session.id, "hi")
    await until(lambda: live.draft.text)

    digest = await bench.data.artifacts.put(b"picture")
    assert await steered(live, "What is this?", ImagePart(artifact=digest, media_type="image/png", alt="cat.png"))
    assert files_after(live.entries) == live.files == {"/cat.png": digest}
    assert bench.models.requests[-1].messages[-1].attachments[0].path == "/cat.png"


async def test_a_steer_over_the_queue_waits_as_a_chip_for_such_a_tool(bench):
    queue = Queue(bench.chat)
    bench.models.say(reply("", ToolCall(call_id="a", name="pay")))
    bench.models.say("Paid.")
    session = await bench.session("pay")
    live = await bench.chat.send(session.id, "go")
    await until(lambda: any(isinstance(entry.event, ToolCalled) for entry in live.entries))

    await asyncio.wait_for(queue.steer(session.id, "Stop that"), 30)
    [waiting] = bench.data.sessions.get(session.id).queue
    assert waiting.text == "Stop that" and queue.breaking_in(waiting.id)
    with pytest.raises(Conflict, match="on its way"):
        await queue.send_now(session.id, waiting.id)
    bench.events["paying"].set()
    await asyncio.wait_for(live.ended(), 30)
    await until(lambda: not bench.data.sessions.get(session.id).queue)
    assert said(live)[-2:] == [("user", "Stop that"), ("assistant", "Paid.")]
    assert bench.data.sessions.get(session.id).runs == (live.run_id,)


async def test_a_steer_that_waits_outlives_the_app(bench):
    queue = Queue(bench.chat)
    bench.models.say(reply("", ToolCall(call_id="a", name="pay")))
    session = await bench.session("pay")
    live = await bench.chat.send(session.id, "go")
    await until(lambda: any(isinstance(entry.event, ToolCalled) for entry in live.entries))

    await asyncio.wait_for(queue.steer(session.id, "Stop that"), 30)
    await bench.runs.close()
    await queue.close()
    [waiting] = bench.data.sessions.get(session.id).queue
    bench.models.say("Stopped.")
    await Queue(bench.chat).send_now(session.id, waiting.id)
    await until(lambda: bench.runs.of_session(session.id) is None)
    assert [(one.role, one.text) for one in bench.models.requests[-1].messages] == [
        ("user", "go"),
        ("assistant", ""),
        ("tool", ""),
        ("user", "Stop that"),
    ]


async def test_nothing_can_be_steered_where_no_run_goes_on(bench):
    session = await bench.session()
    with pytest.raises(Conflict, match="has ended"):
        await Queue(bench.chat).steer(session.id, "hello")
