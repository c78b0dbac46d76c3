"""What a kill leaves: money that was spent, runs without a row, turns that their session does not know of."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from app.domain.events import Entry, Forked, MessageAdded, RunFinished, RunStarted
from app.domain.messages import ToolCall, user_message
from app.domain.models import Price
from app.domain.provenance import Imported
from app.domain.sessions import QueuedMessage, Session
from app.domain.trace import RunFilter
from app.domain.values import now
from app.engine.run.run import Run
from app.engine.sessions.lost_runs import LostRuns
from app.engine.sessions.turns import history_after
from tests.engine.households import Family, Household, ended
from tests.engine.scripted import reply
from tests.waiting import until

LOOK = ToolCall(call_id="c1", name="look", arguments={})


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Household]:
    house = Household.opened(tmp_path / "data", Family(priced=Price(input=0.01, output=0.01)))
    yield house
    await house.closed()


@pytest.fixture
async def session(house: Household) -> Session:
    return await house.chat.new_session(await house.agent())


async def find(house: Household) -> None:
    await LostRuns(house.chat, house.data.traces.ids, house.data.rows.knows).find()


async def begun(house: Household, session: Session) -> RunStarted:
    """How a run of the session begins; there is one more in it then."""
    live = await house.chat.send(session.id, "before")
    await ended(live)
    return live.started


async def traced(house: Household, run_id: str, *events: object, at=None) -> None:
    """A run of which there is no more than its trace."""
    started = next(event for event in events if isinstance(event, RunStarted))
    writer = await house.data.traces.create(run_id, started.session_id)
    for seq, event in enumerate(events):
        writer.append(Entry(run_id=run_id, seq=seq, at=at or now(), event=event))
    await writer.flush()
    await writer.close()


def said(text: str, origin: str = "user") -> MessageAdded:
    return MessageAdded(message=user_message(text), origin=origin)


async def killed(house: Household, session: Session, folder: Path) -> tuple[Run, Household]:
    """A run that called a model and waits for it again, as it ended; and what a kill at that moment left of it."""
    house.models.plans["waits"] = [reply("", LOOK)]
    house.models.gate.set()
    live = await house.chat.send(session.id, "waits")
    await until(lambda: house.models.calls and not house.models.gate.clear())
    await until(lambda: len(house.models.calls) == 2)
    await live.recorder.flush()
    shutil.copytree(house.data.path, folder, ignore=shutil.ignore_patterns("lock", "cache"))
    house.models.gate.set()
    await ended(live)
    return live, Household.opened(folder, house.models)


async def test_what_a_killed_run_has_cost_counts_once_its_row_is_met(house, session, tmp_path):
    live, after = await killed(house, session, tmp_path / "killed")
    spent = live.entries[next(e.seq for e in live.entries if e.event.type == "model_returned")].event.cost
    assert spent > 0 and after.runs.ledger.day_cost() == after.runs.ledger.session_cost(session.id) == 0

    [row] = await after.runs.left()
    assert (row.status, row.cost) == ("interrupted", spent)
    assert after.data.rows.get(live.run_id).status == "running"
    assert after.runs.ledger.day_cost() == after.runs.ledger.session_cost(session.id) == pytest.approx(spent)
    again = await after.chat.resume(live.run_id)
    await ended(again)
    assert after.runs.ledger.day_cost() == pytest.approx(after.data.rows.get(live.run_id).cost) == 2 * spent
    await after.closed()


@pytest.mark.parametrize("store", ["traces.read", "rows.warm"])
async def test_what_was_left_is_found_also_where_whoever_looked_for_it_first_went_away(
    house, session, tmp_path, monkeypatch, store
):
    _, after = await killed(house, session, tmp_path / "killed")
    part, method = store.split(".")
    own = getattr(after.data, part)
    waits, go_on, real = asyncio.Event(), asyncio.Event(), getattr(own, method)

    async def slow(*args: object, **given: object) -> object:
        waits.set()
        await go_on.wait()
        return await real(*args, **given)

    monkeypatch.setattr(own, method, slow)
    looking = asyncio.create_task(after.runs.left())
    await asyncio.wait_for(waits.wait(), 30)
    looking.cancel()
    await asyncio.wait([looking])
    go_on.set()
    [row] = await after.runs.left()
    assert (row.status, after.runs.ledger.day_cost()) == ("interrupted", pytest.approx(row.cost)) and row.cost > 0
    await after.closed()


async def test_a_run_whose_row_was_never_written_is_listed_again_and_goes_on(house, session):
    started = await begun(house, session)
    await traced(house, "lost", started.model_copy(update={"background": True}), said("one"))
    await traced(house, "done", started, said("two"), RunFinished(status="completed"))
    await find(house)

    rows = {row.run_id: row for row in (await house.runs.lists.page(RunFilter(session_id=session.id))).rows}
    assert (rows["lost"].status, rows["done"].status, rows["lost"].request) == ("interrupted", "completed", "one")
    assert [row.run_id for row in await house.runs.left()] == ["lost"]
    live = await house.chat.resume("lost")
    await ended(live)
    assert live.status == "completed" and house.data.rows.get("lost").status == "completed"


async def test_a_deleted_run_and_one_that_goes_on_are_not_lost(house, session):
    live = await house.chat.send(session.id, "waits")
    gone = await begun(house, await house.chat.new_session(session.agent_id))
    [row] = house.data.rows.find(RunFilter(session_id=gone.session_id)).rows
    await house.data.rows.delete([row.run_id])
    await find(house)

    assert house.data.rows.get(row.run_id) is None and live.status == "running" and await house.runs.left() == []
    house.models.gate.set()


async def test_what_was_being_copied_has_not_begun_and_what_cannot_be_read_hides_nothing(house, session):
    started = await begun(house, session)
    old = session.created_at - timedelta(hours=1)
    imported = started.model_copy(update={"imported": Imported(run_id="x", app="9", at=now())})
    await traced(house, "fork", started, said("one"), at=old)
    await traced(house, "bundle", imported, said("one"), RunFinished(status="completed"), at=old)
    await traced(house, "nowhere", started.model_copy(update={"session_id": "gone"}), said("one"))
    (house.data.path / "runs" / "broken.tdb").write_bytes(b"nothing that anybody wrote\n" * 20)
    await traced(house, "lost", started, said("two"))
    await find(house)

    assert [row.run_id for row in await house.runs.left()] == ["lost"]
    assert house.data.rows.find(RunFilter()).total == 2


async def test_a_fork_that_was_copied_whole_has_its_place_though_it_knows_much(house, session):
    started = await begun(house, session)
    own = await house.chat.new_session(session.agent_id)
    old = session.created_at - timedelta(hours=1)
    started = started.model_copy(update={"session_id": own.id, "history": (user_message("before"),)})
    writer = await house.data.traces.create("fork", own.id)
    forked = Forked(run_id="x", seq=1, prefix_digest="")
    for seq, (at, event) in enumerate(((old, started), (old, said("one")), (now(), forked))):
        writer.append(Entry(run_id="fork", seq=seq, at=at, event=event))
    await writer.close()
    await find(house)

    assert house.data.sessions.get(own.id).runs == ("fork",)


async def untold(house: Household, session: Session, text: str, *, place: int, origin: str = "user") -> str:
    """A run that began as the session's turn there and was left before that was told of it; its id."""
    runs = house.data.sessions.get(session.id).runs
    first = (await house.runs.trace(runs[0])).entries[0].event
    history = history_after(await house.runs.trace(runs[place - 1])) if place else ()
    changes = {"history": history, "follows": runs[place - 1] if place else ""}
    live = await house.runs.start(first.model_copy(update=changes), user_message(text), origin=origin)
    return live.run_id


async def told(house: Household, session: Session, *texts: str) -> tuple[str, ...]:
    """The session's runs, once these were said in it."""
    for text in texts:
        await ended(await house.chat.send(session.id, text))
    return house.data.sessions.get(session.id).runs


@pytest.mark.parametrize("place", [3, 2, 1, 0])
async def test_a_turn_that_its_session_was_not_told_of_takes_its_place(house, session, tmp_path, place):
    runs = await told(house, session, "one", "two", "three")
    run_id = await untold(house, session, "waits", place=place)
    shutil.copytree(house.data.path, tmp_path / "killed", ignore=shutil.ignore_patterns("lock", "cache"))
    after = Household.opened(tmp_path / "killed", house.models)
    await find(after)

    kept = after.data.sessions.get(session.id)
    assert kept.runs == (*runs[:place], run_id) and kept.title == ("one" if place else "waits")
    await find(after)
    assert after.data.sessions.get(session.id) == kept
    house.models.gate.set()
    await ended(await after.chat.resume(run_id))
    assert [message.text for message in after.models.requests[-1].messages if message.role == "user"][-1] == "waits"
    await after.closed()


async def test_a_run_that_knows_of_other_turns_and_one_that_was_replaced_take_no_place(house, session, tmp_path):
    house.models.gate.set()
    await told(house, session, "waits", "two")
    house.models.gate.clear()
    replaced = await untold(house, session, "three", place=2)
    runs = await told(house, session)
    await house.data.sessions.change(session.id, lambda one: one.model_copy(update={"updated_at": now()}))
    first = (await house.runs.trace(runs[0])).entries[0].event
    other = first.model_copy(update={"follows": "a-run-that-was-never-here"})
    await house.runs.start(other, user_message("four"))
    shutil.copytree(house.data.path, tmp_path / "killed", ignore=shutil.ignore_patterns("lock", "cache"))
    after = Household.opened(tmp_path / "killed", house.models)
    await find(after)

    assert after.data.sessions.get(session.id).runs == runs and replaced not in runs
    assert len(await after.runs.left()) == 2
    await after.closed()
    house.models.gate.set()


@pytest.mark.parametrize(("origin", "typed"), [("user", "waits"), ("user", "other words"), ("queued", "other words")])
async def test_the_words_of_a_turn_wait_no_more_once_it_has_its_place(house, session, tmp_path, origin, typed):
    await told(house, session, "one")
    words = ("first", "waits", "waits") if origin == "queued" else ()
    queue = tuple(QueuedMessage(id=str(place), text=text, created_at=now()) for place, text in enumerate(words))
    changes = {"queue": queue, "composer": typed}

    await house.data.sessions.change(session.id, lambda one: one.model_copy(update=changes))
    run_id = await untold(house, session, "waits", place=1, origin=origin)
    shutil.copytree(house.data.path, tmp_path / "killed", ignore=shutil.ignore_patterns("lock", "cache"))
    after = Household.opened(tmp_path / "killed", house.models)
    await find(after)

    kept = after.data.sessions.get(session.id)
    assert kept.runs[-1] == run_id
    assert [message.id for message in kept.queue] == (["0", "2"] if origin == "queued" else [])
    assert kept.composer == ("" if typed == "waits" else typed)
    await after.closed()
    house.models.gate.set()
