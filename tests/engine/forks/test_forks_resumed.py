"""Forks that a kill cut off while they acted out recorded steps: they go on as what they were."""

import asyncio

import pytest
from pydantic import JsonValue

from app.domain.agents import ToolChoice
from app.domain.edits import EditedArguments, EditedResult, ToolSource
from app.domain.errors import Conflict
from app.domain.events import (
    Entry,
    Event,
    Forked,
    MessageAdded,
    ModelReturned,
    PauseRequested,
    RunFinished,
    ToolCalled,
    ToolReturned,
)
from app.domain.forks.forks import ForkPlan, ToolPlan
from app.domain.messages import ToolCall, user_message
from app.domain.models import Price
from app.domain.trace import conversation
from app.engine.run.run import Run
from app.engine.runs.runs import Runs
from tests.deciding import resolve
from tests.engine.conftest import QuickClock
from tests.engine.forks.test_forks import PAGE, World, pay, result_of, seq_of, world
from tests.engine.scripted import reply
from tests.waiting import until

__all__ = ["world"]

PAID_AGAIN = {"pay": ToolPlan(before="live")}


def restarted(world: World) -> Runs:
    return Runs(world.data.traces, world.data.rows, world.models, world.registry, world.data.artifacts, QuickClock())


async def killed_after(world: World, live: Run, length: int, *further: Event) -> str:
    """The run as it stands on disk when a kill came behind that many of its entries, and these events."""
    run_id = f"{length:04}{live.run_id[4:]}"
    writer = await world.data.traces.create(run_id, live.started.session_id)
    await writer.prepare(live.started)
    others = (live.entries[seq].model_copy(update={"event": event}) for seq, event in enumerate(further, length))
    for entry in (*live.entries[:length], *others):
        writer.append(entry.model_copy(update={"run_id": run_id}))
    await writer.close()
    return run_id


async def ended(runs: Runs, run_id: str) -> Run:
    """The run at its end, with each call that had begun made once more."""
    live = await runs.resume(run_id)
    while live.control.waits or live.status in ("running", "paused"):
        await until(lambda: live.control.waits or live.status not in ("running", "paused"))
        if live.control.waits:
            resolve(live, live.control.awaited or "", "approve")
    await asyncio.wait_for(live.ended(), 30)
    return live


def own_lengths(fork: Run) -> range:
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
    waiting = await until(lambda: next((one for one in world.runs.live_runs() if one.control.waits), None))
    resolve(waiting, "c1", "always")
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
    steer = live.control.steer(user_message("stop paying"))
    assert await steer.landed
    await asyncio.wait_for(live.ended(), 30)
    assert said(live.entries)[-1] == "stopped as you wish"
    assert "pay 7" not in world.done
    await again.close()


async def asked_about(world: World, *decisions: tuple[str, str, dict[str, JsonValue] | None]) -> Run:
    """A run that was asked about each payment, and told this."""
    task = asyncio.create_task(world.run("note", ToolChoice(name="pay", policy="ask")))
    live = await until(lambda: next((one for one in world.runs.live_runs() if one.control.waits), None))
    for call_id, decision, arguments in decisions:
        await until(lambda: live.control.waits)
        resolve(live, call_id, decision, arguments=arguments)
    return await task


def questions(live: Run) -> list[str]:
    return [one.event.call_id for one in live.entries if isinstance(one.event, PauseRequested)]


@pytest.mark.parametrize("source", [ToolSource(mode="recorded"), ToolSource(mode="edited", text="nothing paid")])
async def test_a_tool_that_asks_does_so_also_where_a_fork_calls_it_again(world: World, source: ToolSource) -> None:
    origin = await asked_about(world, ("c1", "approve", None), ("c2", "approve", None))
    world.done.clear()
    world.models.say(reply("once more", pay("x1", 9)))
    world.models.say("an end")
    plan = ForkPlan(seq=seq_of(origin, ToolReturned, 2), tools={"pay": ToolPlan(before="live", after=source)})
    fork = await world.forks.start(origin.run_id, plan, trigger=PAGE)
    for call_id in ("c1", "c2"):
        await until(lambda: fork.control.waits)
        assert questions(fork)[-1] == call_id
        resolve(fork, call_id, "deny")
    await world.ended(fork)
    assert fork.status == "completed"
    assert world.done == []
    assert len(questions(fork)) == 2, "nobody is asked about what is read out of the record"
    report = await world.forks.replay(fork.run_id)
    assert report.identical, report.words


async def test_a_call_that_a_person_denied_is_told_so_again_and_one_that_they_changed_gives_what_it_gave(
    world: World,
) -> None:
    origin = await asked_about(world, ("c1", "deny", None), ("c2", "edit", {"amount": 3}))
    assert result_of(origin, "c1") == "The user denied this call."
    world.done.clear()
    world.models.say(reply("", pay("x1", 5)))
    world.models.say(reply("", pay("x2", 7)))
    world.models.say("an end")
    fork = await world.fork(origin, 1, tools={"pay": ToolPlan(after=ToolSource(mode="recorded"))})
    assert (questions(fork), world.done) == ([], [])
    assert [result_of(fork, "x1"), result_of(fork, "x2")] == [result_of(origin, "c1"), result_of(origin, "c2")]
    report = await world.forks.replay(fork.run_id)
    assert report.identical, report.words
    cut = seq_of(fork, ToolReturned) + 1
    left, again = await killed_after(world, fork, cut), restarted(world)
    world.models.say(reply("", pay("x3", 5), pay("x2", 7)))
    world.models.say("an end")
    resumed = await ended(again, left)
    assert "was recorded" in result_of(resumed, "x3"), "it was used up before the restart"
    assert result_of(resumed, "x2") == result_of(origin, "c2")
    await again.close()


async def test_what_a_person_denied_is_called_where_they_allow_it_now(world: World) -> None:
    origin = await asked_about(world, ("c1", "deny", None), ("c2", "deny", None))
    world.models.say(reply("", pay("x1", 5)))
    world.models.say("an end")
    plan = ForkPlan(seq=1, tools={"pay": ToolPlan(after=ToolSource(mode="recorded_or_live"))})
    fork = await world.forks.start(origin.run_id, plan, trigger=PAGE)
    await until(lambda: fork.control.waits)
    resolve(fork, "x1", "approve")
    await world.ended(fork)
    assert world.done == ["note one", "pay 5"]


async def test_an_edited_call_is_made_beside_a_tool_that_is_called_again(world: World) -> None:
    origin = await world.run()
    world.done.clear()
    world.models.say("an end")
    edits = (EditedArguments(call_id="c1", arguments={"amount": 50}),)
    plan = {"note": ToolPlan(before="live")}
    fork = await world.fork(origin, seq_of(origin, ToolCalled), tools=plan, edits=edits)
    assert sorted(world.done) == ["note one", "pay 50"]
    assert result_of(fork, "c1").startswith("paid 50")


async def test_what_needs_no_record_any_more_goes_on_without_the_run_it_comes_from(world: World) -> None:
    origin = await world.run("pay", "note", "look")
    nothing = {"look": ToolPlan(after=ToolSource(mode="edited", text="nothing there"))}
    looks = reply("", ToolCall(call_id="x1", name="look"))
    world.models.say(looks)
    world.models.say("an end")
    edited = await world.fork(origin, 1, tools=nothing)
    world.models.say("an end")
    acted = await world.fork(origin, seq_of(origin, ToolReturned, 2), tools=PAID_AGAIN | nothing)
    lefts = [await killed_after(world, edited, own_lengths(edited)[0]), await broken_into(world, acted)]
    path = next((world.data.path / "runs").rglob(f"{origin.run_id}*"))
    path.rename(path.with_name("away"))
    again = restarted(world)
    for left in lefts:
        world.models.say(looks)
        world.models.say("an end")
        resumed = await ended(again, left)
        assert result_of(resumed, "x1") == "nothing there"
    await again.close()


async def broken_into(world: World, fork: Run) -> str:
    """The run killed when somebody had broken into what it acted out, before the next recorded answer."""
    asked = next(entry.seq for entry in fork.entries if is_answer(entry, "then")) - 1
    return await killed_after(world, fork, asked, MessageAdded(message=user_message("stop"), origin="steer"))
