"""Forks that a kill cut off while they acted out recorded steps: they go on as what they were."""

import asyncio

import pytest

from app.domain.agents import ToolChoice
from app.domain.edits import EditedArguments, EditedResult
from app.domain.errors import Conflict
from app.domain.events import Entry, Forked, MessageAdded, ModelReturned, RunFinished, ToolReturned, ToolSource
from app.domain.forks import ToolPlan
from app.domain.messages import user_message
from app.domain.models import Price
from app.domain.trace import conversation
from app.engine.live_run import LiveRun
from app.engine.runs import Runs
from tests.engine.conftest import QuickClock
from tests.engine.scripted import reply
from tests.engine.test_forks import World, pay, result_of, seq_of, world
from tests.waiting import until

__all__ = ["world"]

PAID_AGAIN = {"pay": ToolPlan(before="live")}


def restarted(world: World) -> Runs:
    return Runs(world.data.traces, world.data.rows, world.models, world.registry, world.data.artifacts, QuickClock())


async def killed_after(world: World, live: LiveRun, length: int) -> str:
    """The run as it stands on disk when a kill came behind that many of its entries."""
    run_id = f"{length:04}{live.run_id[4:]}"
    writer = await world.data.traces.create(run_id, live.started.session_id)
    await writer.prepare(live.started)
    for entry in live.entries[:length]:
        writer.append(entry.model_copy(update={"run_id": run_id}))
    await writer.close()
    return run_id


async def ended(runs: Runs, run_id: str) -> LiveRun:
    """The run at its end, with each call that had begun made once more."""
    live = await runs.resume(run_id)
    while live.waits or live.status in ("running", "paused"):
        await until(lambda: live.waits or live.status not in ("running", "paused"))
        if live.waits:
            live.resolve(live.run.control.awaited or "", "approve")
    await asyncio.wait_for(live.ended(), 10)
    return live


def own_lengths(fork: LiveRun) -> range:
    begun = next(entry.seq for entry in fork.entries if isinstance(entry.event, Forked)) + 1
    return range(begun, len(fork.entries))


def said(entries: list[Entry]) -> list[str]:
    return [message.text for message in conversation(entries) if message.role == "assistant" and not message.partial]


async def test_wherever_the_kill_came_the_recorded_answers_are_given_for_the_rest(world: World) -> None:
    world.models.priced = Price(input=0.00001, output=0.00001)
    origin = await world.run()
    world.models.say("an end")
    fork = await world.fork(origin, seq_of(origin, ToolReturned, 2), tools=PAID_AGAIN)
    for length in own_lengths(fork):
        left, again, asked = await killed_after(world, fork, length), restarted(world), len(world.models.requests)
        world.done.clear()
        world.models.say("an end")
        resumed = await ended(again, left)
        assert said(resumed.entries) == ["first", "then", "an end"]
        assert len(world.models.requests) - asked <= 1, "only the end is asked for"
        assert set(world.done) <= {"pay 5", "pay 7"}, "the notes are not taken again"
        assert world.done == sorted(set(world.done)), "and nothing is paid twice"
        costs = [one.event.cost for one in resumed.entries if isinstance(one.event, ModelReturned)]
        assert costs[1:-1] == [0] * (len(costs) - 2), "what is recorded is paid already"
        assert costs[-1] > 0
        world.models.scripts.clear()
        await again.close()


async def test_each_tool_answers_after_the_restart_as_it_was_chosen(world: World) -> None:
    origin, calls = await world.run("pay", "note", "look"), [("x1", 7), ("x2", 9), ("x3", 5)]
    chosen = {
        "pay": ToolPlan(before="live", after=ToolSource(mode="recorded")),
        "look": ToolPlan(after=ToolSource(mode="edited", text="nothing there")),
    }
    world.models.say(reply("more", *(pay(*call) for call in calls)))
    world.models.say("an end")
    fork = await world.fork(origin, seq_of(origin, ToolReturned, 1), tools=chosen)
    before = [result_of(fork, call_id) for call_id, _ in calls]
    assert before[0] == result_of(origin, "c2")
    for length in own_lengths(fork):
        left, again = await killed_after(world, fork, length), restarted(world)
        world.done.clear()
        world.models.say(reply("more", *(pay(*call) for call in calls)))
        world.models.say("an end")
        if any(entry.event for entry in fork.entries[:length] if is_answer(entry, "more")):
            world.models.scripts.pop(0)
        resumed = await ended(again, left)
        assert set(world.done) <= {"pay 5"}
        assert [result_of(resumed, call_id) for call_id, _ in calls] == before
        world.models.scripts.clear()
        await again.close()


def is_answer(entry: Entry, text: str) -> bool:
    return isinstance(entry.event, MessageAdded) and entry.event.message.text == text


async def test_an_edited_result_among_the_steps_that_are_acted_out_stays_edited(world: World) -> None:
    origin = await world.run()
    edits = (EditedResult(call_id="c2", text="bounced"),)
    plan = {"note": ToolPlan(before="live")}
    world.models.say("an end")
    fork = await world.fork(origin, seq_of(origin, ToolReturned, 2), tools=plan, edits=edits)
    assert result_of(fork, "c2") == "bounced"
    cut = next(one.seq for one in fork.entries if is_answer(one, "then"))
    left, again = await killed_after(world, fork, cut), restarted(world)
    world.done.clear()
    world.models.say("an end")
    assert result_of(await ended(again, left), "c2") == "bounced"
    assert world.done == []
    await again.close()


async def test_a_call_with_other_arguments_is_made_among_the_steps_that_are_acted_out(world: World) -> None:
    origin = await world.run()
    world.done.clear()
    edits = (EditedArguments(call_id="c2", arguments={"amount": 70}),)
    world.models.say("an end")
    plan = {"note": ToolPlan(before="live")}
    await world.fork(origin, seq_of(origin, ToolReturned, 2), tools=plan, edits=edits)
    assert world.done == ["note one", "pay 70"]


async def test_a_tool_that_is_called_again_is_so_also_where_only_its_call_is_left(world: World) -> None:
    origin = await world.run()
    world.done.clear()
    world.models.say("an end")
    plan = {"pay": ToolPlan(before="live", after=ToolSource(mode="recorded"))}
    await world.fork(origin, seq_of(origin, ToolReturned, 1), tools=plan)
    assert world.done == ["pay 5"]


async def test_nobody_is_asked_about_a_call_that_the_record_answers(world: World) -> None:
    origin_run = asyncio.create_task(world.run("note", ToolChoice(name="pay", policy="ask")))
    waiting = await until(lambda: next((one for one in world.runs.live_runs() if one.waits), None))
    waiting.resolve("c1", "always")
    origin = await origin_run
    world.models.say("an end")
    fork = await world.fork(origin, seq_of(origin, ToolReturned, 2), tools={"note": ToolPlan(before="live")})
    assert fork.status == "completed"
    assert (await world.forks.replay(fork.run_id)).identical


async def test_without_the_run_it_answers_from_a_fork_does_not_go_on_but_can_be_stopped(world: World) -> None:
    origin = await world.run()
    world.models.say("an end")
    fork = await world.fork(origin, seq_of(origin, ToolReturned, 2), tools=PAID_AGAIN)
    left = await killed_after(world, fork, own_lengths(fork)[0])
    over = await killed_after(world, fork, seq_of(fork, RunFinished))
    path = next((world.data.path / "runs").rglob(f"{origin.run_id}*"))
    path.rename(path.with_name("away"))
    again, asked = restarted(world), len(world.models.requests)
    world.done.clear()
    with pytest.raises(Conflict, match="deleted or cannot be read"):
        await again.resume(left)
    assert (len(world.models.requests), world.done) == (asked, [])
    assert (await again.end(left)).status == "cancelled"
    assert (await ended(again, over)).status == "completed", "it needs the record no more"
    await again.close()


async def test_a_message_that_breaks_in_is_answered_by_the_model_and_not_from_the_record(world: World) -> None:
    origin = await world.run("pay", "note", "look")
    world.models.say("an end")
    fork = await world.fork(origin, seq_of(origin, ToolReturned, 2), tools=PAID_AGAIN)
    left = await killed_after(world, fork, own_lengths(fork)[0])
    again = restarted(world)
    live = await again.resume(left)
    world.done.clear()
    world.models.say("stopped as you wish")
    steer = live.steer(user_message("stop paying"))
    assert await steer.landed
    await asyncio.wait_for(live.ended(), 10)
    assert said(live.entries)[-1] == "stopped as you wish"
    assert "pay 7" not in world.done
    await again.close()
