"""What a person can do while a failed model call waits for its next attempt, and what is sent then."""

import asyncio
from datetime import datetime, timedelta

import pytest

from app.domain.errors import Conflict, ModelFailure
from app.domain.trace import error_of
from app.domain.values import now
from tests.engine.scripted import TextDelta, reply
from tests.waiting import until


class Endless:
    """A clock on which nothing that is waited for ever comes."""

    def now(self) -> datetime:
        return now()

    async def sleep(self, seconds: float) -> None:
        await asyncio.Event().wait()


async def waiting(bench):
    """A run whose model call has failed and waits a minute for its next attempt."""
    bench.runs.starting.clock = Endless()
    bench.models.say(ModelFailure("rate_limit", "slow down", retry_after=60))
    session = await bench.session()
    live = await bench.chat.send(session.id, "hi")
    await until(lambda: kinds(live)[-1] == "model_failed")
    return live


def kinds(live) -> list[str]:
    return [entry.event.type for entry in live.entries]


async def test_retry_now_makes_the_next_attempt_at_once(bench):
    live = await waiting(bench)
    bench.models.say("here I am")
    live.control.retrying.decide(again=True)
    await asyncio.wait_for(live.ended(), 30)

    assert live.status == "completed"
    assert [entry.event.attempt for entry in live.entries if entry.event.type == "model_called"] == [1, 2]


async def test_giving_up_fails_the_run_by_what_went_wrong(bench):
    live = await waiting(bench)
    live.control.retrying.decide(again=False)
    await asyncio.wait_for(live.ended(), 30)

    assert (live.status, error_of(live.entries).failure) == ("failed", "rate_limit")
    assert len(bench.models.requests) == 1


async def test_stop_ends_the_wait(bench):
    live = await waiting(bench)
    live.stop()
    await asyncio.wait_for(live.ended(), 30)

    assert live.status == "cancelled"


async def test_when_the_attempt_is_due_is_in_the_trace(bench):
    live = await waiting(bench)
    failed = live.entries[-1]

    assert timedelta(seconds=59) < failed.event.retry_at - failed.at <= timedelta(seconds=60)


async def test_nothing_can_be_decided_where_nothing_waits(bench):
    bench.models.say("done")
    live = await bench.ask()

    with pytest.raises(Conflict):
        live.control.retrying.decide(again=True)


async def test_a_wait_is_decided_once(bench):
    live = await waiting(bench)
    live.control.retrying.decide(again=False)
    with pytest.raises(Conflict):
        live.control.retrying.decide(again=True)
    await asyncio.wait_for(live.ended(), 30)


async def test_blank_text_is_nothing_that_was_shown(bench):
    bench.models.say(TextDelta("\n"), ModelFailure("network", "reset"))
    bench.models.say("fine")
    live = await bench.ask()

    assert live.status == "completed"
    assert kinds(live).count("message_added") == 2


async def overflowing(bench, *failures: ModelFailure):
    """The second turn of a session whose model finds its prompt too long as often as there are failures."""
    bench.models.say(reply("an answer " * 200))
    session = await bench.session()
    first = await bench.chat.send(session.id, "a question " * 200)
    await first.ended()
    for failure in failures:
        bench.models.say(failure)
    bench.models.say("short")
    live = await bench.chat.send(session.id, "and now?")
    await asyncio.wait_for(live.ended(), 30)
    return live


async def test_a_prompt_that_was_too_long_is_shortened_once_and_sent_again(bench):
    live = await overflowing(bench, ModelFailure("context_overflow", "too long", status=400))

    assert live.status == "completed"
    assert {"context_trimmed", "model_failed"} < set(kinds(live))
    before, after = bench.models.requests[-2:]
    assert len(after.messages) < len(before.messages)
    assert after.messages[-1].text == "and now?"
    assert bench.clock.waits == []


async def test_a_prompt_that_is_still_too_long_fails(bench):
    live = await overflowing(bench, *(ModelFailure("context_overflow", "too long", status=400) for _ in range(2)))

    assert (live.status, error_of(live.entries).failure) == ("failed", "context_overflow")
    assert kinds(live).count("context_trimmed") == 1


async def test_a_failed_message_is_sent_once_when_it_is_retried(bench):
    bench.models.say("hello")
    session = await bench.session()
    await (await bench.chat.send(session.id, "one")).ended()
    bench.models.say(TextDelta("half an ans"), ModelFailure("network", "reset"))
    failed = await bench.chat.send(session.id, "two")
    await failed.ended()
    bench.models.say("whole")
    again = await bench.chat.regenerate(session.id, failed.run_id)
    await again.ended()

    assert [message.text for message in bench.models.requests[-1].messages] == ["one", "hello", "two"]
    assert bench.data.sessions.get(session.id).runs[-1] == again.run_id
