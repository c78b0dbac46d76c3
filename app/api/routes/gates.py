"""REST for the gates of agents: what holds their variants back, set, looked at, and tried."""

import asyncio
from typing import Annotated, Self

from fastapi import Query
from pydantic import ConfigDict, Field, JsonValue

from app.api.door.access import agent_for, managers_only
from app.api.door.dependencies import Asking, Here, resource
from app.api.door.envelopes import Envelope, Reply
from app.api.routes.agent_config import Several
from app.api.routes.experiment_bodies import ExperimentReply
from app.domain.agents import Agent
from app.domain.errors import NotFound
from app.domain.evals.cases import Dataset
from app.domain.evals.gate_rules import needs_words, stops_words
from app.domain.evals.gates import Gate, GateLine, GateOutcome, GateRules, GateState
from app.domain.evals.scorers import span_of
from app.engine.experiments.gating import NO_GATE
from app.workbench import Workbench

_GATE: dict[str, JsonValue] = {"dataset": "sums", "repeats": 3, "margin": 0.1, "most_cost": 0.2}
_SHOWN: dict[str, JsonValue] = {
    **_GATE,
    "notices": "20 cases notice a loss of about 46 points or more.",
    "needs": "To show 10 points takes 22 cases of which none changed, 37 where one got worse.",
    "outcome": None,
}


class GateBody(GateRules):
    """What an agent's variants have to show before one of them is the active one."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_GATE]})

    dataset: str = Field(max_length=200, description="The slug or id of the dataset that guards.")


class OutcomeReply(Reply):
    """What a gate says of a variant."""

    variant: int
    against: int
    """The active variant."""
    state: GateState
    """Amber: nobody can tell yet. Red and amber both hold the variant back."""
    lines: tuple[GateLine, ...]
    """What each rule says."""
    experiment_id: str
    """What it is told from; empty where there is no such experiment."""
    running: bool

    @classmethod
    def of(cls, outcome: GateOutcome) -> Self:
        return cls.model_validate(outcome.model_dump() | {"state": outcome.state})


class GateReply(GateRules):
    """A gate, and what it can notice."""

    model_config = ConfigDict(use_attribute_docstrings=True, json_schema_extra={"examples": [_SHOWN]})

    dataset: str
    """The slug of the dataset that guards; empty for one that is gone."""
    notices: str
    """Which loss so many cases notice, in words."""
    needs: str
    """How many cases its margin takes, in words; empty without a margin."""
    outcome: OutcomeReply | None
    """Of the variant that was asked for; null where nothing holds it back."""


router = resource("/agents/{agent}/gate", "Gates")
of_variant = resource("/agents/{agent}/variants/{number}/gate", "Gates")


@router.get("")
async def get_gate(
    agent: str,
    workbench: Here,
    caller: Asking,
    variant: Annotated[int | None, Query(ge=1, description="The variant to be told of.")] = None,
) -> Envelope[GateReply]:
    """The agent's gate, and with `variant` what it says of that one."""
    found = agent_for(workbench, caller, agent)
    managers_only(caller, "see the gates of agents")
    return Envelope(data=await _reply(workbench, found, variant))


@router.put("")
async def set_gate(agent: str, body: GateBody, workbench: Here, caller: Asking) -> Envelope[GateReply]:
    """Let a dataset guard which of the agent's variants is active.

    Whatever would activate a variant then saves it, and answers 409 `gate` with its number and the reasons as long as
    the gate holds it back; `override` with a reason goes past. A variant that was active before is never held back.
    """
    found = agent_for(workbench, caller, agent)
    managers_only(caller, "change agents")
    dataset = _dataset(workbench, body.dataset)
    rules = body.model_dump(exclude={"dataset"})
    stored = await workbench.gating.set(found.id, Gate(**rules, dataset_id=dataset.id))
    return Envelope(data=await _reply(workbench, stored))


@router.delete("")
async def take_gate_away(agent: str, workbench: Here, caller: Asking) -> Envelope[None]:
    """Let every variant of the agent be activated again."""
    found = agent_for(workbench, caller, agent)
    managers_only(caller, "change agents")
    await workbench.gating.set(found.id, None)
    return Envelope(data=None)


@of_variant.post("", status_code=202)
async def run_gate(agent: str, number: Several, workbench: Here, caller: Asking) -> Envelope[ExperimentReply]:
    """Start the experiment that the gate asks for: that variant beside the active one."""
    found = agent_for(workbench, caller, agent)
    managers_only(caller, "work with experiments, which run all that a dataset holds")
    experiment = await workbench.gating.run(found.id, number, caller.trigger)
    return Envelope(data=await ExperimentReply.seen(workbench, experiment))


async def _reply(workbench: Workbench, agent: Agent, variant: int | None = None) -> GateReply:
    gate = agent.gate
    if gate is None:
        raise NotFound(NO_GATE.format(name=agent.name))
    outcome = None if variant is None else await workbench.gating.outcome(agent, variant)
    dataset = _there(workbench, gate)
    span = 1.0 if dataset is None else span_of(dataset.decided_by(gate.primary))
    return GateReply(
        **gate.model_dump(exclude={"dataset_id"}),
        dataset="" if dataset is None else dataset.slug,
        notices=await asyncio.to_thread(stops_words, workbench.cases.count(gate.dataset_id), span=span),
        needs="" if gate.margin is None else needs_words(gate.margin, span=span),
        outcome=None if outcome is None else OutcomeReply.of(outcome),
    )


def _there(workbench: Workbench, gate: Gate) -> Dataset | None:
    try:
        return workbench.collecting.dataset(gate.dataset_id)
    except NotFound:
        return None


def _dataset(workbench: Workbench, named: str) -> Dataset:
    try:
        return workbench.collecting.dataset(named)
    except NotFound:
        return workbench.datasets.by_slug(named)
