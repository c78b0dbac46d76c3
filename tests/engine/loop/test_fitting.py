"""A conversation that is too long for its model is shortened, visibly, and never refused while it need not be."""

import asyncio

from app.domain.agents import Parameters
from app.domain.errors import ModelFailure
from app.domain.events import ContextTrimmed
from app.domain.messages import ToolCall
from app.engine.loop.fitting import room_in
from tests.engine.scripted import reply


async def said(bench, session, text: str):
    live = await bench.chat.send(session.id, text)
    await asyncio.wait_for(live.ended(), 30)
    return live


def trims(live) -> list[ContextTrimmed]:
    return [entry.event for entry in live.entries if isinstance(entry.event, ContextTrimmed)]


def sent(bench) -> list[str]:
    return [message.text for message in bench.models.requests[-1].messages]


async def test_old_turns_are_left_out_when_the_window_is_full(bench):
    bench.models.holds = 1200
    session = await bench.session(parameters=Parameters(max_tokens=100))
    for number in range(4):
        bench.models.say("a" * 200)
        live = await said(bench, session, f"{number}" + "q" * 99)
    assert trims(live) == [] and len(sent(bench)) == 7
    bench.models.say("short again")
    live = await said(bench, session, "the last question")
    [trim] = trims(live)
    assert [(one.message, one.how) for one in trim.left_out] == [(place, "dropped") for place in range(4)]
    assert (trim.tokens_before, trim.tokens_after) == (1217, 617)
    assert sent(bench)[0].startswith("2q") and sent(bench)[-1] == "the last question"
    assert [entry.event.type for entry in live.entries][2:4] == ["context_trimmed", "model_called"]


async def test_what_was_left_out_stays_so_until_the_window_is_full_again(bench):
    bench.models.holds = 1000
    session = await bench.session("add", parameters=Parameters(max_tokens=100))
    for number in range(4):
        bench.models.say("a" * 200)
        await said(bench, session, f"{number}" + "q" * 99)
    bench.models.say(reply("one", ToolCall(call_id="c1", name="add", arguments={"x": 1, "y": 2})))
    bench.models.say("two")
    live = await said(bench, session, "the last question")
    assert len(trims(live)) == 1 and len(bench.models.requests) == 6
    assert sent(bench)[0].startswith("2q") and sent(bench)[-3:-1] == ["the last question", "one"]


async def test_the_next_run_may_use_what_was_left_out_where_it_fits(bench):
    bench.models.holds = 500
    session = await bench.session(parameters=Parameters(max_tokens=100))
    for number in range(4):
        bench.models.say("a" * 100)
        live = await said(bench, session, f"{number}" + "q" * 99)
    assert trims(live)
    bench.models.holds = None
    bench.models.say("ok")
    live = await said(bench, session, "again")
    assert trims(live) == [] and len(sent(bench)) == 9


async def test_a_message_that_is_too_long_by_itself_is_told_in_words(bench):
    bench.models.holds = 50
    session = await bench.session(parameters=Parameters(max_tokens=10))
    live = await said(bench, session, "x" * 60)
    error = live.entries[-1].event.error
    assert live.status == "failed" and error.failure == "context_overflow"
    assert "about 60 tokens" in error.text and "takes 50" in error.text
    assert bench.models.requests == []


async def test_a_model_of_unknown_window_is_sent_everything(bench):
    session = await bench.session()
    bench.models.say("ok")
    live = await said(bench, session, "x" * 10_000)
    assert live.status == "completed" and trims(live) == []


async def test_a_provider_that_finds_it_too_long_is_asked_once_more_with_less(bench):
    session = await bench.session()
    for number in range(4):
        bench.models.say("a" * 100)
        await said(bench, session, f"{number}" + "q" * 99)
    bench.models.say(ModelFailure("context_overflow", "too long"))
    bench.models.say("there")
    live = await said(bench, session, "now?")
    assert live.status == "completed" and bench.clock.waits == []
    [trim] = trims(live)
    assert trim.tokens_before == 804 and trim.tokens_after <= 0.7 * 804
    assert sent(bench)[-1] == "now?" and len(sent(bench)) < 9


async def test_it_is_asked_once_more_and_not_twice(bench):
    session = await bench.session()
    bench.models.say("a" * 100)
    await said(bench, session, "q" * 99)
    bench.models.say(ModelFailure("context_overflow", "too long"))
    bench.models.say(ModelFailure("context_overflow", "still too long"))
    live = await said(bench, session, "now?")
    assert live.status == "failed" and live.entries[-1].event.error.failure == "context_overflow"
    assert len(trims(live)) == 1


async def test_nothing_is_asked_again_where_nothing_can_be_left_out(bench):
    bench.models.say(ModelFailure("context_overflow", "too long"))
    live = await bench.ask("the only turn")
    assert live.status == "failed" and len(bench.models.requests) == 1


def test_half_of_a_window_is_kept_for_the_answer_at_most():
    assert (room_in(1000, 100), room_in(1000, 4096)) == (900, 500)
