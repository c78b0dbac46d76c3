"""What stays of a new session whose first message is refused, or whose sender is gone before its run has begun."""

import asyncio

import pytest

from app.domain.errors import NotFound, WorkbenchError
from app.domain.sessions import Session
from app.engine.run.run import Run
from app.engine.sessions.first_messages import begun_or_gone
from tests.cancelling import AtAwait
from tests.engine.conftest import Bench
from tests.waiting import until


async def say_first(bench: Bench, session: Session, text: str = "hi") -> Run:
    async with begun_or_gone(bench.chat, session) as made:
        return await bench.chat.send(made.id, text)


async def test_a_session_whose_first_message_is_refused_is_gone_for_good(bench: Bench):
    session = await bench.session()
    changes = bench.data.sessions.changes
    with pytest.raises(WorkbenchError, match="empty"):
        await say_first(bench, session, " ")
    with pytest.raises(NotFound):
        bench.data.sessions.get(session.id)
    assert bench.data.sessions.changes > changes


async def test_a_session_with_a_run_stays_whatever_comes_after(bench: Bench):
    session = await bench.session()
    bench.models.say("hello")
    with pytest.raises(WorkbenchError, match="too late"):
        async with begun_or_gone(bench.chat, session):
            live = await bench.chat.send(session.id, "hi")
            raise WorkbenchError("It is too late for that.")
    await live.ended()
    assert bench.data.sessions.get(session.id).runs == (live.run_id,)


async def test_whoever_is_cancelled_meanwhile_leaves_a_run_in_its_session_or_neither(bench: Bench):
    outcomes = set()
    for nth in range(200):
        session, asked = await bench.session(), list[asyncio.Task[Run]]()
        bench.models.scripts.clear()
        bench.models.say("hello")
        at_await = AtAwait("Chat._begun", nth, lambda asked=asked: asked[0].cancel())
        asked.append(asyncio.create_task(say_first(bench, session)))
        asyncio.get_running_loop().set_task_factory(at_await)
        try:
            await asyncio.wait(asked)
        finally:
            asyncio.get_running_loop().set_task_factory(None)
        await until(lambda: not bench.runs.live_runs())
        outcomes.add(left_of(bench, session))
        if nth and not at_await.reached:
            break
    assert outcomes == {"neither", "both"}


def left_of(bench: Bench, session: Session) -> str:
    begun = tuple(turn.run_id for turn in bench.data.rows.turns(session.id))
    try:
        known = bench.data.sessions.get(session.id).runs
    except NotFound:
        return "a run alone" if begun else "neither"
    return "both" if begun and known == begun else "a session alone"
