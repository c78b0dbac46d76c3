"""Branches of a session: answered again, edited, queued and forked beside what was said, and nothing is lost."""

import asyncio
from pathlib import Path

import pytest

from app.domain.errors import Conflict, NotFound, StorageError
from app.domain.forks.forks import ForkPlan
from app.domain.messages import ToolCall
from app.domain.trace import files_after
from app.engine.forks.forks import Forks
from app.engine.runs.runs import Runs
from app.engine.sessions.chat import FROM_PAGE, Chat
from app.engine.sessions.queue import Queue
from app.store.folder.folder import DataFolder
from app.tools.registry import Registry
from tests.engine.conftest import Bench, QuickClock
from tests.engine.scripted import ScriptedModels, forever, reply
from tests.store.disks import TroubledDisk, full
from tests.waiting import until


async def say(bench, session, text, *answers):
    for answer in answers:
        bench.models.say(answer)
    live = await bench.chat.send(session.id, text)
    await asyncio.wait_for(live.ended(), 30)
    return live.run_id


async def again(bench, session, run_id, answer):
    bench.models.say(answer)
    live = await bench.chat.regenerate(session.id, run_id)
    await asyncio.wait_for(live.ended(), 30)
    return live.run_id


def path(bench, session):
    return bench.data.sessions.get(session.id).runs


def heard(bench):
    return [message.text for message in bench.models.requests[-1].messages]


def branches(bench, session):
    return bench.runs.branches(bench.data.sessions.get(session.id))


@pytest.fixture
async def talk(bench):
    """A session in which three things were said, and the first two answers given twice."""
    session = await bench.session()
    one = await say(bench, session, "one", "1")
    two = await say(bench, session, "two", "2")
    three = await say(bench, session, "three", "3")
    beside = await again(bench, session, two, "2b")
    return session, one, two, three, beside


async def test_an_answer_given_again_stands_beside_the_first_and_what_followed_it_stays(bench, talk):
    session, one, two, three, beside = talk
    assert path(bench, session) == (one, beside) and branches(bench, session).beside(beside) == [two, beside]

    await bench.chat.stand_on(session.id, two)
    assert path(bench, session) == (one, two, three)
    await say(bench, session, "four", "4")
    assert heard(bench) == ["one", "1", "two", "2", "three", "3", "four"]

    await bench.chat.stand_on(session.id, beside)
    await say(bench, session, "other", "o")
    assert heard(bench) == ["one", "1", "two", "2b", "other"]
    assert len(path(bench, session)) == 3


async def test_a_message_sent_in_other_words_is_a_branch_too_also_the_first(bench):
    session = await bench.session()
    one = await say(bench, session, "one", "1")
    bench.models.say("1b")
    edited = await bench.chat.edit(session.id, one, "one b")
    await edited.ended()

    assert branches(bench, session).beside(one) == [one, edited.run_id] and edited.started.follows == ""


async def test_where_one_stands_is_kept_over_a_restart(bench, talk):
    session, one, two, three, _ = talk
    await bench.chat.stand_on(session.id, two)
    stored = bench.data.sessions.get(session.id)
    assert type(stored).model_validate_json(stored.model_dump_json()).runs == (one, two, three)


async def test_files_are_those_of_the_branch(bench):
    session = await bench.session("talk")
    one = await say(bench, session, "one", "1")
    written = await say(bench, session, "write", reply("", ToolCall(call_id="c1", name="talk")), "done")
    bench.models.say("not this time")
    unwritten = await bench.chat.regenerate(session.id, written)
    await unwritten.ended()
    for stands, files in ((written, ["/made.txt"]), (unwritten.run_id, [])):
        await bench.chat.stand_on(session.id, stands)
        last = await bench.runs.trace(await say(bench, session, "next", "ok"))
        assert list(files_after(last.entries)) == files
    assert branches(bench, session).beside(written) == [written, unwritten.run_id] and one in path(bench, session)


async def test_a_message_goes_on_behind_a_run_elsewhere_and_one_stands_there_then(bench, talk):
    session, one, two, _, _ = talk
    bench.models.say("after two")
    live = await bench.chat.send(session.id, "again", after=two)
    await live.ended()

    assert path(bench, session) == (one, two, live.run_id)
    with pytest.raises(NotFound):
        await bench.chat.send(session.id, "again", after="nowhere")


async def test_a_session_has_one_live_run_whatever_its_branches(bench, talk):
    session, one, two, _, _ = talk
    bench.models.say(forever)
    live = await bench.chat.send(session.id, "go on")
    await bench.chat.stand_on(session.id, two)
    for attempt in (bench.chat.send(session.id, "x"), bench.chat.regenerate(session.id, one)):
        with pytest.raises(Conflict):
            await attempt
    live.stop()
    await live.ended()


async def test_a_queued_message_follows_the_branch_on_which_it_was_queued(bench, talk):
    session, one, two, three, beside = talk
    queue = Queue(bench.chat)
    gate = asyncio.Event()
    bench.models.say(gate.wait, "held")
    live = await bench.chat.send(session.id, "go on")
    await queue.add(session.id, "queued")
    await bench.chat.stand_on(session.id, two)
    bench.models.say("to the queued one")
    gate.set()
    await live.ended()
    await until(lambda: bench.runs.of_session(session.id) is None and not bench.data.sessions.get(session.id).queue)

    assert heard(bench) == ["one", "1", "two", "2b", "go on", "held", "queued"]
    assert path(bench, session) == (one, two, three), "nobody is taken off the branch that they look at"
    found = branches(bench, session)
    assert len(found.through(beside)) == 4
    await queue.close()


async def test_a_run_that_was_left_goes_on_as_the_last_of_its_branch(bench, talk):
    _, _, two, three, _ = talk
    with pytest.raises(Conflict, match="went on after"):
        await bench.chat.resume(two)
    with pytest.raises(Conflict, match="has ended"):
        await bench.chat.resume(three)


async def test_a_fork_joins_the_session_of_its_run_where_that_is_asked_for(bench, talk):
    session, one, two, _, beside = talk
    forks = Forks(bench.data.agents, bench.data.sessions, bench.runs, bench.chat.toolbox)
    bench.models.say("2c")
    joined = await forks.start(two, ForkPlan(seq=1, join=True), trigger=FROM_PAGE)
    await joined.ended()

    assert joined.started.session_id == session.id and path(bench, session) == (one, joined.run_id)
    assert branches(bench, session).beside(two) == [two, beside, joined.run_id]
    bench.models.say("apart")
    apart = await forks.start(two, ForkPlan(seq=1), trigger=FROM_PAGE)
    await apart.ended()
    own = bench.data.sessions.get(apart.started.session_id)
    assert own.id != session.id and own.runs == (one, apart.run_id) and own.trunk == (one,)


async def test_a_fork_from_elsewhere_than_a_listed_session_has_one_of_its_own(bench):
    session = await bench.session()
    one = await say(bench, session, "one", "1")
    await bench.data.sessions.change(session.id, lambda it: it.model_copy(update={"comparison": "c"}))
    forks = Forks(bench.data.agents, bench.data.sessions, bench.runs, bench.chat.toolbox)
    bench.models.say("1b")
    fork = await forks.start(one, ForkPlan(seq=1, join=True), trigger=FROM_PAGE)
    await fork.ended()

    assert fork.started.session_id != session.id


async def test_a_fork_joins_no_session_that_is_answering(bench):
    session = await bench.session()
    one = await say(bench, session, "one", "1")
    bench.models.say(forever)
    live = await bench.chat.send(session.id, "two")
    forks = Forks(bench.data.agents, bench.data.sessions, bench.runs, bench.chat.toolbox)
    with pytest.raises(Conflict, match="still answering"):
        await forks.start(one, ForkPlan(seq=1, join=True), trigger=FROM_PAGE)
    live.stop()
    await live.ended()
    assert path(bench, session) == (one, live.run_id)


@pytest.mark.parametrize("failing", range(1, 5), ids="write {}".format)
@pytest.mark.parametrize("way", ["sent", "forked"])
async def test_on_a_full_disk_a_turn_begins_as_a_whole_or_not_at_all(way: str, failing: int, tmp_path: Path):
    disk = TroubledDisk("write", times=0, error=full)
    data, models = DataFolder.open(tmp_path, disk=disk), ScriptedModels()
    runs = Runs(data.traces, data.rows, models, Registry(()), data.artifacts, QuickClock())
    bench = Bench(data, models, QuickClock(), runs, Chat(data.agents, data.sessions, runs, Registry(())))
    forks = Forks(data.agents, data.sessions, runs, Registry(()))
    session = await bench.session()
    one = await say(bench, session, "one", "1")
    models.say("next")
    plan = ForkPlan(seq=1, join=True)
    disk.first, disk.times = disk.calls + failing, 1
    begins = bench.chat.send(session.id, "two") if way == "sent" else forks.start(one, plan, trigger=FROM_PAGE)
    try:
        live = await begins
    except StorageError:
        assert (runs.live_runs(), path(bench, session), await data.traces.ids()) == ([], (one,), [one])
        await say(bench, session, "two")
    else:
        await until(lambda: not runs.live_runs())
        assert path(bench, session)[-1] == live.run_id
        assert (row := data.rows.get(live.run_id)) is not None and row.status == "completed"
    await runs.close()
    await data.close()
