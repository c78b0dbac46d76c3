"""Agents, sets of values and comparisons in which every text tries to become more than text."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.agents import (
    Agent,
    Parameters,
    PromptBehaviour,
    ToolChoice,
    Variable,
    VariableSet,
    WorkingCopy,
    new_agent,
    with_variant,
)  # fmt: skip
from app.domain.comparisons import ComparedTurn, Comparison
from app.domain.sessions import Session
from app.domain.values import new_id, now
from app.store.folder.folder import DataFolder


@dataclass(frozen=True)
class Told:
    """A run, and the payload that fills it."""

    run_id: str
    payload: str


async def plant_agent(data: DataFolder, payloads: Sequence[str]) -> Agent:
    """An agent with a variant for each payload, unsaved changes, and values kept under a name."""
    first = payloads[0]
    agent = new_agent(
        first[:80],
        behaviour(first),
        taken_slugs=data.agents.slugs(),
        description=first,
        icon=first[:30],
        examples=(first,),
    )
    for payload in payloads:
        agent = with_variant(agent, behaviour(payload), origin=1, note=payload)
    agent = await data.agents.create(agent)
    copy = WorkingCopy(agent_id=agent.id, origin=1, behaviour=behaviour(payloads[-1]), updated_at=now())
    await data.working_copies.save(copy)
    values = VariableSet(id=new_id(), agent_id=agent.id, name=first[:60], values={first[:40]: first})
    await data.variable_sets.save(values)
    return agent


def behaviour(payload: str) -> PromptBehaviour:
    return PromptBehaviour(
        system_prompt=f"{payload}\n{{{{one}}}} {{{{{payload[:40]}",
        variables=(
            Variable(name="one", default=payload, description=payload),
            Variable(name=payload[:40], default=payload, description=payload),
        ),
        model=f"openai/{payload[:60]}",
        parameters=Parameters(stop=(payload[:60],)),
        tools=(ToolChoice(name=payload[:60]), ToolChoice(name="calculator")),
        output_schema={"type": "object", "properties": {payload: {"description": payload}}},
    )


async def plant_comparison(data: DataFolder, agent: Agent, told: Sequence[Told]) -> Comparison:
    """A comparison of two columns: one holds the runs, the other refused each message."""
    comparison_id = new_id()
    columns = [await data.sessions.create(column(agent, comparison_id, told, place)) for place in range(2)]
    answers, refuses = (session.id for session in columns)
    turns = [
        ComparedTurn(text=one.payload, runs={answers: one.run_id}, refusals={refuses: one.payload}) for one in told
    ]
    return await data.comparisons.create(
        Comparison(
            id=comparison_id,
            title=told[0].payload,
            sessions=(answers, refuses),
            turns=tuple(turns),
            votes={0: answers},
            created_at=now(),
            updated_at=now(),
        )
    )


def column(agent: Agent, comparison_id: str, told: Sequence[Told], place: int) -> Session:
    payload = told[place].payload
    return Session(
        id=new_id(),
        agent_id=agent.id,
        agent_slug=agent.slug,
        variant=1 + place,
        title=payload,
        runs=tuple(one.run_id for one in told) if place == 0 else (),
        model=payload[:60] if place else None,
        comparison=comparison_id,
        composer=payload,
        created_at=now(),
        updated_at=now(),
    )
