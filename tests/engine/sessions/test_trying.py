"""A working copy that is tried before it is a variant: its runs are kept, paid for, and in no figure of the agent."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.agents import Limits, Parameters, PromptBehaviour, ToolChoice
from app.domain.forks.forks import ForkPlan
from app.domain.models import Price
from app.domain.provenance import WORKING_COPY, Trigger
from app.domain.sessions import Session
from app.engine.forks.forks import Forks
from app.engine.run.run import Run
from tests.engine.households import TOOLS, Family, Household, ended, spawn, started
from tests.engine.scripted import reply

PAGE = Trigger(kind="page")


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Household]:
    house = Household.opened(tmp_path / "data", Family())
    house.models.priced = Price(input=0.0, output=0.01)
    yield house
    await house.closed()


def typed(prompt: str = "Typed", **limits: float) -> PromptBehaviour:
    choices = tuple(ToolChoice(name=name) for name in TOOLS)
    own, held = Parameters(max_tokens=10), Limits(**limits)
    return PromptBehaviour(system_prompt=prompt, model="scripted/model", tools=choices, parameters=own, limits=held)


async def trial(house: Household, behaviour: PromptBehaviour) -> Session:
    agent_id = await house.agent()
    return await house.chat.new_session(agent_id, 1, tried=behaviour)


async def asked(house: Household, session: Session, text: str) -> Run:
    live = await house.chat.send(session.id, text)
    await ended(live)
    return live


async def test_it_answers_as_it_was_typed_and_is_told_apart(house):
    session = await trial(house, typed("Typed"))
    first = await asked(house, session, "one")
    await house.chat.try_out(session.id, typed("Typed on"), origin=1)
    second = await asked(house, session, "two")
    assert [live.started.system.text for live in (first, second)] == ["Typed", "Typed on"]
    assert [live.started.purpose for live in (first, second)] == ["try", "try"]
    assert [live.started.agent.variant_words for live in (first, second)] == ["working copy"] * 2
    assert [message.text for message in second.started.history] == ["one", "one: done"]
    assert house.data.sessions.tried(session.agent_id).runs == (first.run_id, second.run_id)
    assert house.data.sessions.recent() == []
    again = await house.chat.regenerate(session.id, second.run_id)
    await ended(again)
    assert (again.started.purpose, again.started.system.text) == ("try", "Typed on")


async def test_it_is_in_no_figure_of_the_agent_and_in_every_ceiling(house):
    session = await trial(house, typed(day_cost=0.15, run_cost=1))
    first = await asked(house, session, "one")
    week = house.data.rows.week_of(session.agent_id)
    assert (week.runs, week.cost, week.last_run_at) == (0, 0.0, None)
    assert house.data.rows.get(first.run_id).cost == pytest.approx(0.1)
    assert house.runs.ledger.day_cost() == pytest.approx(0.1)
    own = await house.chat.new_session(session.agent_id)
    await asked(house, own, "two")
    assert house.data.rows.week_of(session.agent_id).runs == 1
    refused = await asked(house, session, "three")
    assert refused.status == "limited"


async def test_what_it_spawns_is_a_trial_too(house):
    session = await trial(house, typed())
    house.models.plans["lead"] = [reply("", spawn("c1", "a task"))]
    live = await asked(house, session, "lead")
    child = house.runs.recent(started(live)[0])
    assert child is not None
    await ended(child)
    assert (child.started.purpose, child.started.agent.variant) == ("try", WORKING_COPY)
    assert child.started.system.text == "Typed"
    assert house.data.rows.week_of(session.agent_id).runs == 0
    assert house.data.sessions.tried(session.agent_id).id == session.id, "not the task's session"


async def test_who_may_not_vary_gets_the_saved_variant(house):
    session = await trial(house, typed())
    house.chat.may_vary = lambda trigger: trigger.kind == "page"
    live = await house.chat.send(session.id, "one", trigger=Trigger(kind="api_key", name="n8n"), purpose="api")
    await ended(live)
    assert (live.started.system, live.started.agent.variant, live.started.purpose) == (None, 1, "api")


async def test_a_run_on_from_a_trial_is_one(house):
    session = await trial(house, typed())
    live = await asked(house, session, "one")
    forks = Forks(house.data.agents, house.data.sessions, house.runs, house.chat.toolbox)
    fork = await forks.start(live.run_id, ForkPlan(seq=1, join=True), trigger=PAGE)
    await ended(fork)
    assert (fork.started.purpose, fork.started.agent.variant) == ("try", WORKING_COPY)
    kept = house.data.sessions.get(fork.started.session_id)
    assert (kept.variant, kept.tried, kept.model) == (1, typed(), None)
    assert kept.id != session.id
    as_saved = await forks.start(live.run_id, ForkPlan(seq=1, variant=1), trigger=PAGE)
    await ended(as_saved)
    assert (as_saved.started.purpose, as_saved.started.agent.variant) == ("chat", 1)
    assert [one.id for one in house.data.sessions.recent()] == [as_saved.started.session_id]
