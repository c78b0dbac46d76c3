import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.domain.branches import FIRST
from app.domain.errors import Conflict, ModelFailure, NotFound, TooLarge, WorkbenchError
from app.domain.events import Entry, LimitReached, MessageAdded, RunFinished, ToolCalled
from app.domain.messages import ToolCall
from app.domain.provenance import Trigger
from app.domain.sessions import QueuedMessage, Session, with_queued
from app.domain.values import new_id, now
from app.engine.run.run import Run
from app.engine.runs.runs import Runs
from app.engine.sessions.chat import Chat
from app.engine.sessions.queue import MOST_QUEUED, Queue, may_start_next
from app.store.folder.folder import DataFolder
from app.store.journal.disk import Disk
from app.tools.registry import Registry
from tests.engine.conftest import Bench, QuickClock
from tests.engine.scripted import ScriptedModels, TextDelta, reply
from tests.traces import asked, trace_of
from tests.waiting import until


@pytest.fixture
async def queue(bench: Bench) -> Queue:
    return Queue(bench.chat)


async def answering(bench: Bench, failure: Exception | None = None) -> tuple[Session, Run, asyncio.Event]:
    """A session whose run writes until the event is set."""
    go_on = asyncio.Event()
    bench.models.say(TextDelta("Well"), go_on.wait, *([] if failure is None else [failure]), "Well, yes.")
    session = await bench.session()
    live = await bench.chat.send(session.id, "first")
    await until(lambda: live.draft.text)
    return session, live, go_on


async def ending_at_once(run: Run) -> None:
    run.recorder.record(RunFinished(status="completed"))


async def requests_of(bench: Bench, session: Session, count: int) -> list[str]:
    """What began each run of the session, once it has so many and the last has ended."""
    await until(lambda: len(bench.data.sessions.get(session.id).runs) == count)
    await until(lambda: bench.runs.of_session(session.id) is None)
    runs = bench.data.sessions.get(session.id).runs
    return [(await bench.runs.trace(run_id)).entries[1].event.message.text for run_id in runs]


def waiting(bench: Bench, session: Session) -> list[str]:
    return [message.text for message in bench.data.sessions.get(session.id).queue]


def waits(entries: Sequence[Entry]) -> list[float | None]:
    return [entry.event.waited_ms for entry in entries if isinstance(entry.event, MessageAdded)]


async def test_no_message_waits_in_a_deleted_session(bench, queue):
    session, live, go_on = await answering(bench)
    await queue.add(session.id, "second")
    [message] = bench.data.sessions.get(session.id).queue
    await bench.data.sessions.delete(session.id)
    with pytest.raises(Conflict, match="was deleted"):
        await queue.add(session.id, "third")
    go_on.set()
    await live.ended()
    with pytest.raises(Conflict, match="was deleted"):
        await queue.send_now(session.id, message.id)
    assert waiting(bench, session) == ["second"]


async def test_queued_messages_are_the_next_runs_in_their_order(bench, queue):
    session, _, go_on = await answering(bench)
    await queue.add(session.id, "second")
    await queue.add(session.id, "third")
    assert waiting(bench, session) == ["second", "third"]
    bench.models.say("two")
    bench.models.say("three")
    go_on.set()
    assert await requests_of(bench, session, 3) == ["first", "second", "third"]
    assert waiting(bench, session) == []
    second = await bench.runs.trace(bench.data.sessions.get(session.id).runs[1])
    added = second.entries[1].event
    assert isinstance(added, MessageAdded) and added.origin == "queued" and added.waited_ms
    rows = [bench.data.rows.get(run_id) for run_id in bench.data.sessions.get(session.id).runs]
    assert [(row.queued, sum(row.waits.values())) for row in rows if row] == [(0, 0), (1, 1), (1, 1)]
    assert [message.text for message in bench.models.requests[-1].messages] == [
        *("first", "Well, yes.", "second", "two", "third")
    ]


async def test_a_queued_message_can_be_changed_and_taken_away(bench, queue):
    session, _, go_on = await answering(bench)
    first = await queue.add(session.id, "wrong")
    second = await queue.add(session.id, "never")
    await queue.edit(session.id, first.id, "right")
    await queue.drop(session.id, second.id)
    assert waiting(bench, session) == ["right"]
    with pytest.raises(WorkbenchError, match="empty"):
        await queue.edit(session.id, first.id, "  ")
    with pytest.raises(NotFound, match="does not wait"):
        await queue.drop(session.id, second.id)
    bench.models.say("ok")
    go_on.set()
    assert await requests_of(bench, session, 2) == ["first", "right"]


@pytest.mark.parametrize("stopped", [True, False])
async def test_after_a_run_that_did_not_come_to_its_end_the_queue_waits_for_a_person(bench, queue, stopped):
    session, live, go_on = await answering(bench, ModelFailure("network", "Gone."))
    message = await queue.add(session.id, "second")
    if stopped:
        live.stop()
    go_on.set()
    await asyncio.wait_for(live.ended(), 30)
    assert waiting(bench, session) == ["second"]
    bench.models.say("ok")
    await queue.send_now(session.id, message.id)
    assert await requests_of(bench, session, 2) == ["first", "second"]


@pytest.mark.parametrize(("limit", "follows"), [("steps", True), ("day_cost", False), ("session_cost", False)])
def test_a_run_that_met_a_ceiling_of_all_runs_makes_no_way_for_the_next(limit, follows):
    reached = LimitReached(limit=limit, allowed=1, reached=2)
    assert may_start_next(trace_of(asked("go"), reached, RunFinished(status="limited"))) is follows
    assert not may_start_next(trace_of(asked("go"), RunFinished(status="failed")))
    assert not may_start_next(trace_of(asked("go")))
    assert may_start_next(trace_of(asked("go"), RunFinished(status="completed")))


async def test_sent_now_it_breaks_into_the_run_that_goes_on(bench, queue):
    session, live, _ = await answering(bench)
    message = await queue.add(session.id, "now!")
    bench.models.say("Yes?")
    await queue.send_now(session.id, message.id)
    await asyncio.wait_for(live.ended(), 30)
    await until(lambda: waiting(bench, session) == [])
    origins = [entry.event.origin for entry in live.entries if isinstance(entry.event, MessageAdded)]
    assert origins == ["user", "model", "steer", "model"]
    assert waits(live.entries) == [None, None, pytest.approx(1000, abs=999), None]
    assert bench.data.sessions.get(session.id).runs == (live.run_id,)


async def test_a_steer_that_comes_too_late_is_the_next_run(bench, queue):
    session, live, go_on = await answering(bench)
    await queue.add(session.id, "later")
    bench.models.say("two")
    bench.models.say("three")
    go_on.set()
    await until(lambda: live.entries[-1].event.type == "run_finished", pause=0)
    assert bench.runs.of_session(session.id) is live, "it is over, but not yet stored"
    await queue.steer(session.id, "at once")
    assert await requests_of(bench, session, 3) == ["first", "at once", "later"]


async def test_a_message_for_a_session_at_rest_is_sent_at_once(bench, queue):
    session = await bench.session()
    bench.models.say("hello")
    await queue.add(session.id, "hi", trigger=Trigger(kind="api_key"))
    assert await requests_of(bench, session, 1) == ["hi"]
    (run_id,) = bench.data.sessions.get(session.id).runs
    assert waits((await bench.runs.trace(run_id)).entries)[0] == 0
    row = bench.data.rows.get(run_id)
    assert row is not None and (row.queued, row.waits) == (0, {})


async def test_a_queued_message_beside_one_whose_run_ends_at_once_is_a_turn_behind_it(bench):
    session = await bench.session()
    message = QueuedMessage(id=new_id(), text="third", created_at=now(), follows=FIRST)
    await bench.data.sessions.change(session.id, lambda newest: with_queued(newest, message))
    bench.models.say("three")
    sent = await asyncio.gather(
        bench.chat.send(session.id, "second", work=ending_at_once), bench.chat.send_queued(session.id, message.id)
    )
    assert await requests_of(bench, session, 2) == ["second", "third"]
    assert bench.data.sessions.get(session.id).runs == tuple(live.run_id for live in sent)
    assert waiting(bench, session) == []


async def test_what_is_typed_meanwhile_stays_when_a_queued_message_is_sent(bench, queue):
    session, _, go_on = await answering(bench)
    await queue.add(session.id, "second")
    await bench.data.sessions.change(session.id, lambda one: one.model_copy(update={"composer": "half a thou"}))
    bench.models.say("ok")
    go_on.set()
    await requests_of(bench, session, 2)
    assert bench.data.sessions.get(session.id).composer == "half a thou"


async def test_a_message_that_cannot_be_sent_says_why_and_waits(bench, queue):
    session, _, go_on = await answering(bench)
    await queue.add(session.id, "second")
    await bench.data.sessions.change(session.id, lambda one: one.model_copy(update={"model": "unknown/model"}))
    go_on.set()
    [message] = await until(lambda: [one for one in bench.data.sessions.get(session.id).queue if one.refusal])
    assert "cannot use the model 'unknown/model'" in message.refusal


async def test_the_queue_has_an_end(bench, queue):
    session, _, _ = await answering(bench)
    for number in range(MOST_QUEUED):
        await queue.add(session.id, f"{number}")
    with pytest.raises(Conflict, match="wait already"):
        await queue.add(session.id, "one more")
    with pytest.raises(WorkbenchError, match="empty"):
        await queue.add(session.id, " ")
    with pytest.raises(TooLarge):
        await queue.add(session.id, "x" * 200_001)


class Watched(Disk):
    """Remembers what was written, in that order."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, descriptor: int, content: memoryview, offset: int) -> int:
        self.written.append(bytes(content))
        return super().write(descriptor, content, offset)


def watched(folder: Path) -> tuple[Bench, Watched]:
    disk, models = Watched(), ScriptedModels()
    data = DataFolder.open(folder, disk=disk)
    runs = Runs(data.traces, data.rows, models, Registry(()), data.artifacts, QuickClock())
    return Bench(data, models, QuickClock(), runs, Chat(data.agents, data.sessions, runs, Registry(()))), disk


async def test_a_message_that_broke_in_is_in_its_run_before_it_is_nowhere_else(tmp_path):
    """On disk: a kill in between would else lose it."""
    bench, disk = watched(tmp_path)
    queue = Queue(bench.chat)
    session, live, _ = await answering(bench)
    bench.models.say("as you wish")
    await queue.send_now(session.id, (await queue.add(session.id, "stop")).id)
    await asyncio.wait_for(live.ended(), 30)
    await until(lambda: not bench.data.sessions.get(session.id).queue)
    await bench.runs.close()
    await queue.close()
    await bench.data.close()
    waited = max(place for place, line in enumerate(disk.written) if b'"queue":[{' in line)
    gone = next(place for place, line in enumerate(disk.written) if place > waited and b'"queue":[]' in line)
    assert any(b'"origin":"steer"' in line for line in disk.written[:gone])


async def test_a_steer_that_comes_too_late_waits_on_disk_before_it_is_no_draft_any_more(tmp_path):
    bench, disk = watched(tmp_path)
    queue = Queue(bench.chat)
    session, live, _ = await answering(bench)
    await bench.data.sessions.change(session.id, lambda one: one.model_copy(update={"composer": "at once"}))
    live.stop()
    await until(lambda: live.entries[-1].event.type == "run_finished", pause=0)
    assert bench.runs.of_session(session.id) is live, "it is over, but not yet stored"
    typed = len(disk.written)
    await queue.steer(session.id, "at once")
    await asyncio.wait_for(live.ended(), 30)
    await bench.runs.close()
    await queue.close()
    await bench.data.close()
    sent = next(line for line in disk.written[typed:] if b'"composer":""' in line)
    assert b'"queue":[{' in sent
    assert waiting(bench, session) == ["at once"]


async def test_a_message_that_waits_is_no_draft_from_the_same_moment_on(tmp_path):
    """On disk: after a kill in between it would wait, and be typed already for the next time."""
    bench, disk = watched(tmp_path)
    queue = Queue(bench.chat)
    session, _, _ = await answering(bench)
    await bench.data.sessions.change(session.id, lambda one: one.model_copy(update={"composer": "next"}))
    await queue.add(session.id, "next")
    await bench.runs.close()
    await queue.close()
    await bench.data.close()
    waits = next(line for line in disk.written if b'"queue":[{' in line)
    assert b'"composer":""' in waits


async def test_a_message_that_is_taken_away_while_it_breaks_in_does_not_wait_again(bench, queue):
    bench.models.say(reply("", ToolCall(call_id="a", name="pay")))
    session = await bench.session("pay")
    live = await bench.chat.send(session.id, "go")
    await until(lambda: any(isinstance(entry.event, ToolCalled) for entry in live.entries))
    message = await queue.add(session.id, "now")
    breaking = asyncio.create_task(queue.send_now(session.id, message.id))
    await until(lambda: queue.breaking_in(message.id))
    await queue.drop(session.id, message.id)
    await breaking
    assert waiting(bench, session) == []


@pytest.mark.parametrize("how", ["edited", "dropped"])
async def test_a_message_that_is_changed_while_it_is_refused_stays_as_it_was_changed(bench, monkeypatch, how):
    queue = Queue(bench.chat)
    session, _, go_on = await answering(bench)
    message = await queue.add(session.id, "second")
    at_check, changed = asyncio.Event(), asyncio.Event()

    async def check(model: str) -> None:  # a provider's list of models is being asked for
        at_check.set()
        await changed.wait()
        raise NotFound(f"There is no model {model!r}.")

    monkeypatch.setattr(bench.runs.models, "check", check, raising=False)
    go_on.set()
    await asyncio.wait_for(at_check.wait(), 10)
    if how == "edited":
        await queue.edit(session.id, message.id, "something else")
    else:
        await queue.drop(session.id, message.id)
    changed.set()
    await queue.close()
    kept = [one.text for one in bench.data.sessions.get(session.id).queue]
    assert kept == (["something else"] if how == "edited" else [])


@pytest.mark.parametrize("how", ["edited", "dropped", "deleted"])
async def test_a_message_that_is_changed_while_its_run_is_made_ready_is_not_sent_as_it_was(bench, monkeypatch, how):
    queue = Queue(bench.chat)
    session, live, go_on = await answering(bench)
    message = await queue.add(session.id, "second")
    at_check, changed = asyncio.Event(), asyncio.Event()

    async def check(_model: str) -> None:
        at_check.set()
        await changed.wait()

    monkeypatch.setattr(bench.runs.models, "check", check, raising=False)
    bench.models.say(reply("yes"))
    go_on.set()
    await asyncio.wait_for(at_check.wait(), 10)
    if how == "edited":
        await queue.edit(session.id, message.id, "something else")
    elif how == "dropped":
        await queue.drop(session.id, message.id)
    else:
        await bench.data.sessions.delete(session.id)
    changed.set()
    await queue.close()
    kept = bench.data.sessions.get(session.id)
    begun = [bench.data.rows.get(run_id).request for run_id in kept.runs if run_id != live.run_id]
    assert begun == (["something else"] if how == "edited" else [])
    assert [one.text for one in kept.queue] == (["second"] if how == "deleted" else [])
    await bench.runs.close()
