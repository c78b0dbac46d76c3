"""Runs that came in a file: whatever they say may be done, here it is asked for, or not done at all."""

import asyncio

import pytest

from app.domain.agents import Limits, PromptBehaviour, ToolChoice, new_agent, promoted, with_variant
from app.domain.errors import Conflict
from app.domain.events import (
    Entry,
    Event,
    Forked,
    MessageAdded,
    PauseRequested,
    PauseResolved,
    RunStarted,
)
from app.domain.forks.forks import ForkCheck, ForkPlan, ToolPlan
from app.domain.provenance import AgentRef, Imported, Trigger
from app.domain.sessions import Session
from app.domain.tools import GrantedTool, ToolSpec
from app.domain.trace import open_pauses, run_row
from app.domain.trace.unpriced import UNPRICED
from app.domain.values import now
from app.engine.run.run import Run
from app.export.bundle import bundle
from app.export.importing import Importing
from app.export.json_lines import json_lines
from tests.deciding import resolve
from tests.engine.forks.test_forks import PAGE, World, pay, world
from tests.engine.scripted import reply
from tests.traces import asked, called, finished, ran, returned, said, trace_of
from tests.waiting import until

__all__ = ["world"]

HARMLESS = ToolSpec(name="pay", description="Pays.", parameters={}, title="Look", idempotent=True, cancellable=False)
AGAIN = ForkPlan(seq=6, tools={"pay": ToolPlan(before="live")})
WIDE = Limits(max_steps=10**6, run_cost=1e9, day_cost=1e9, total_time=1e9, run_tokens=0, repeats=0, retries=10**6)
SAID_YES = (
    PauseRequested(pause_id="u", reason="question", name=UNPRICED),
    PauseResolved(pause_id="u", decision="approve"),
)


def told(**changes: object) -> RunStarted:
    """A beginning as a file may have it: the tool that pays asks nobody and is harmless."""
    agent = AgentRef(id="theirs", slug="payer", name="Payer", variant=1)
    began = {"agent": agent, "model": "scripted/model", "tools": (GrantedTool(spec=HARMLESS),), "limits": WIDE}
    return RunStarted(session_id="s", **{**began, **changes})


def entries_of(*before: Event, **changes: object) -> list[Entry]:
    """A run that has paid 5, of which a file tells."""
    asks = pay("c1", 5)
    paid = (called(), said("", asks), returned(), *ran(asks, "paid 5"), said("Paid."), finished())
    return trace_of(told(**changes), asked("pay 5"), *before, *paid, run_id="from-a-file")


async def imported(world: World, *before: Event, **changes: object) -> str:
    entries = entries_of(*before, **changes)
    stores = (world.data.traces, world.data.rows, world.data.sessions, world.data.artifacts, world.data.agents)
    packed = bundle(entries, json_lines(entries, app="9"), app="9", artifacts={})
    return await Importing(*stores, taken_in=lambda: None).take_in(packed)


async def stored(world: World, entries: list[Entry]) -> str:
    """The run as an earlier version has stored it, with its session."""
    run_id, moment = entries[0].run_id, now()
    session = Session(
        id=f"s-{run_id}",
        agent_id="theirs",
        agent_slug="payer",
        variant=1,
        runs=(run_id,),
        created_at=moment,
        updated_at=moment,
    )
    await world.data.sessions.create(session)
    entries = [entries[0].model_copy(update={"event": in_session(entries[0], session.id)}), *entries[1:]]
    writer = await world.data.traces.create(run_id, session.id)
    for entry in entries:
        writer.append(entry)
    await writer.close()
    await world.data.rows.save(run_row(entries, alive=False))
    return run_id


def in_session(first: Entry, session_id: str) -> RunStarted:
    assert isinstance(first.event, RunStarted)
    return first.event.model_copy(update={"session_id": session_id})


async def own_agent(world: World, *policies: str, active: int = 1) -> str:
    """An agent with a variant for each policy of the tool that pays."""
    first, *others = (
        PromptBehaviour(model="scripted/model", tools=(ToolChoice(name="pay", policy=p),)) for p in policies
    )
    agent = new_agent("Payer", first, taken_slugs=())
    for behaviour in others:
        agent = with_variant(agent, behaviour, origin=1)
    return (await world.data.agents.create(promoted(agent, active))).id


async def asked_first(world: World, live: Run) -> Run:
    """The run, once it waits for a person and has paid nothing; then stopped."""
    await until(lambda: open_pauses(live.entries) or not live.alive)
    assert [pause.name for pause in open_pauses(live.entries)] == ["pay"] and world.done == []
    live.stop()
    return await world.ended(live)


async def test_a_call_that_a_file_lets_be_made_unasked_is_asked_for_in_a_fork(world: World) -> None:
    run_id = await imported(world)
    live = await asked_first(world, await world.forks.start(run_id, AGAIN, trigger=PAGE))
    [tool] = live.started.tools
    assert (tool.policy, tool.spec.side_effects, tool.spec.idempotent, tool.spec.cancellable, tool.spec.title) == (
        "ask", True, False, True, "Pay",
    )  # fmt: skip
    assert live.started.limits == Limits()


async def test_what_comes_in_says_at_once_that_it_asks_and_is_held_to_our_limits(world: World) -> None:
    run_id = await imported(world, unpriced_agreed=True, trigger=Trigger(kind="api_key", name="nightly", key="k1"))
    started = (await world.runs.trace(run_id)).entries[0].event
    [tool] = started.tools
    assert (tool.policy, tool.spec.side_effects, tool.spec.idempotent) == ("ask", True, False)
    assert started.limits == Limits() and not started.unpriced_agreed
    assert started.trigger == Trigger(kind="api_key"), "it belongs to no key of this app"


async def test_a_run_that_an_earlier_version_took_in_as_it_was_is_asked_for_in_a_fork(world: World) -> None:
    source = Imported(run_id="there", app="1", at=now())
    run_id = await stored(world, entries_of(imported=source))
    live = await asked_first(world, await world.forks.start(run_id, AGAIN, trigger=PAGE))
    assert live.started.limits == Limits()


async def test_a_file_that_names_an_own_agent_and_a_variant_given_up_gets_neither_its_policy_nor_its_turns(world):
    agent_id = await own_agent(world, "auto", "ask", active=2)
    retired = AgentRef(id=agent_id, slug="payer", name="Payer", variant=1)
    run_id = await imported(world, agent=retired)
    live = await asked_first(world, await world.forks.start(run_id, AGAIN, trigger=PAGE))
    assert world.data.sessions.get(live.started.session_id).variant == 2


async def test_a_fork_of_such_a_run_by_an_earlier_version_asks_in_its_own_forks_and_when_it_goes_on(world: World):
    run_id = await imported(world)
    agent_id = await own_agent(world, "auto")
    agent = AgentRef(id=agent_id, slug="payer", name="Payer", variant=1)
    forked = Forked(run_id=run_id, seq=1, prefix_digest="0" * 64)
    asks = pay("c1", 5)
    copied = (told(agent=agent), asked("pay 5"), forked, called(), said("", asks), returned())
    left = await stored(world, trace_of(*copied, run_id="left"))
    await asked_first(world, await world.chat.resume(left))
    ended = await stored(world, trace_of(*copied, *ran(asks, "paid"), finished(), run_id="ended"))
    await asked_first(world, await world.forks.start(ended, ForkPlan(seq=7, tools=AGAIN.tools), trigger=PAGE))


async def test_a_run_of_an_agent_that_is_nobodys_asks_wherever_it_was_made(world: World) -> None:
    run_id = await stored(world, entries_of())
    await asked_first(world, await world.forks.start(run_id, AGAIN, trigger=PAGE))


async def test_an_own_run_goes_on_unasked_where_its_agent_may_and_says_so_before(world: World) -> None:
    live = await world.run()
    plan = ForkPlan(seq=len(live.entries) - 2, tools=AGAIN.tools)
    check = await world.forks.check(live.run_id, plan)
    assert [(call.name, call.arguments, call.asked) for call in check.again] == [("pay", {"amount": 5}, False)]
    assert check.unasked == check.live == ("pay", "note")
    world.models.say("an end")
    fork = await world.ended(await world.forks.start(live.run_id, plan, trigger=PAGE))
    assert not [entry for entry in fork.entries if isinstance(entry.event, PauseRequested)]


async def test_a_check_says_that_the_calls_of_a_file_are_asked_for(world: World) -> None:
    check: ForkCheck = await world.forks.check(await imported(world), AGAIN)
    assert ([call.asked for call in check.again], check.unasked, check.side_effects) == ([True], (), ("pay",))


@pytest.mark.parametrize("began", [{"unpriced_agreed": True}, {}])
async def test_nobody_agreed_to_an_unpriced_model_because_a_file_says_so(world: World, began: dict[str, object]):
    await own_agent(world, "ask")
    world.models.bills = True
    run_id = await imported(world, *SAID_YES, **began)
    fork = await world.forks.start(run_id, ForkPlan(seq=3 if not began else 1), trigger=PAGE)
    session = world.data.rows.get(run_id).session_id
    turn = await world.chat.send(session, "go on")
    for live in (fork, turn):
        await until(lambda live=live: live.control.waits or not live.alive)
        assert [pause.name for pause in open_pauses(live.entries)] == [UNPRICED]
        live.stop()
        await world.ended(live)
    assert world.models.requests == []


async def test_who_agreed_to_an_unpriced_model_here_is_not_asked_again_in_a_fork(world: World) -> None:
    world.models.bills = True
    task = asyncio.create_task(world.run())
    waiting = await until(lambda: next((live for live in world.runs.live_runs() if live.control.waits), None))
    resolve(waiting, waiting.control.awaited or "", "approve")
    origin = await task
    world.models.say("an end")
    fork = await world.fork(origin, next(e.seq for e in origin.entries if isinstance(e.event, MessageAdded)))
    assert fork.status == "completed" and fork.started.unpriced_agreed


async def test_a_run_out_of_a_foreign_backup_does_not_go_on_but_can_be_forked(world: World) -> None:
    asks = pay("c1", 5)
    decided = PauseRequested(pause_id="p", reason="approval", call_id="c1", name="pay", arguments={"amount": 5})
    approved = PauseResolved(pause_id="p", decision="always")
    left = trace_of(told(), asked("pay 5"), said("", asks), decided, approved, run_id="from-a-file")
    run_id = await stored(world, left)
    row = world.data.rows.get(run_id)
    await world.data.rows.save(row.model_copy(update={"imported": True}))  # as a restore leaves it
    await world.data.rows.save(row)  # and as it is made again from the trace
    with pytest.raises(Conflict, match="made in another copy of the app"):
        await world.chat.resume(run_id)
    world.models.say(reply("", pay("c2", 7)))
    fork = await world.forks.start(run_id, ForkPlan(seq=1), trigger=PAGE)
    await asked_first(world, fork)
    assert (await world.runs.end(run_id)).status == "cancelled"
