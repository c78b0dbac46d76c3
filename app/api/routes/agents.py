"""REST for agents: listed, made, changed, deleted; their variants listed, saved, promoted."""

from typing import Annotated

from fastapi import Body

from app.api.door.access import agent_for, agents_for, managers_only
from app.api.door.dependencies import Asking, Here, resource
from app.api.door.envelopes import Envelope, ListEnvelope
from app.api.following.replies import Deleted
from app.api.following.run_replies import triggered_by
from app.api.routes.agent_bodies import (
    AgentChange,
    AgentReply,
    BehaviourBody,
    NewAgent,
    NewVariant,
    Promotion,
    VariantReply,
)
from app.api.routes.agent_config import Several
from app.domain.agents import (
    Agent,
    Behaviour,
    PromptBehaviour,
    model_of,
    name_problem,
    new_agent,
    tools_of,
    with_variant,
)
from app.domain.errors import Conflict, NotFound, WorkbenchError
from app.workbench import Workbench

router = resource("/agents", "Agents")

variants = resource("/agents/{agent}/variants", "Variants")


@router.get("")
async def list_agents(workbench: Here, caller: Asking) -> ListEnvelope[AgentReply]:
    """All agents, by name; without a key the public ones."""
    agents = [AgentReply.of(agent, to_owner=caller.manages) for agent in agents_for(workbench, caller)]
    return ListEnvelope(data=agents, count=len(agents))


@router.post("", status_code=201)
async def create_agent(body: NewAgent, workbench: Here, caller: Asking) -> Envelope[AgentReply]:
    """Make an agent. Its slug comes from its name."""
    managers_only(caller, "make agents")
    check_name(workbench, body.name)
    behaviour = await changed(workbench, PromptBehaviour(), body)
    made = new_agent(
        body.name,
        behaviour,
        taken_slugs=workbench.agents.slugs(),
        description=body.description or "",
        created_by=triggered_by(caller.trigger),
    )
    agent = await workbench.agents.create(made.model_copy(update={"is_public": bool(body.is_public)}))
    return Envelope(data=AgentReply.of(agent, to_owner=True, warnings=await _warnings(workbench, agent)))


@router.get("/{agent}")
async def get_agent(agent: str, workbench: Here, caller: Asking) -> Envelope[AgentReply]:
    """The agent of that slug or id."""
    return Envelope(data=AgentReply.of(agent_for(workbench, caller, agent), to_owner=caller.manages))


@router.put("/{agent}")
async def change_agent(agent: str, body: AgentChange, workbench: Here, caller: Asking) -> Envelope[AgentReply]:
    """Change what the body names. New behaviour is saved as a further variant and becomes the active one.

    Where the agent's gate holds that variant back, it is saved, not active, and the answer is 409 `gate`.
    """
    found = agent_for(workbench, caller, agent)
    managers_only(caller, "change agents")
    if body.name is not None:
        check_name(workbench, body.name, itself=found.id)
    behaviour = await changed(workbench, found.active_variant.behaviour, body)
    stored = await workbench.gating.keep(
        found.id,
        lambda newest: _with(newest, body, behaviour),
        by=triggered_by(caller.trigger),
        override=body.override,
    )
    return Envelope(data=AgentReply.of(stored, to_owner=True, warnings=await _warnings(workbench, stored)))


@router.delete("/{agent}")
async def delete_agent(agent: str, workbench: Here, caller: Asking) -> Envelope[Deleted]:
    """Take it out of the lists. Its runs stay, and the app's Trash brings it back."""
    found = agent_for(workbench, caller, agent)
    managers_only(caller, "delete agents")
    await workbench.agents.delete(found.id)
    return Envelope(data=Deleted(id=found.id))


def check_name(workbench: Workbench, name: str, *, itself: str = "") -> None:
    """Raises `WorkbenchError` for what is no name, `Conflict` for one that another agent has."""
    if problem := name_problem(name, ()):
        raise WorkbenchError(problem)
    if problem := name_problem(name, (agent for agent in workbench.agents.all() if agent.id != itself)):
        raise Conflict(problem)


async def changed(workbench: Workbench, before: Behaviour, body: BehaviourBody) -> Behaviour:
    """The behaviour with what the body names. Raises `WorkbenchError` for a tool or a provider that does not exist.

    Models come and go without a word to us: one that is not known is warned of in the reply.
    """
    behaviour = body.behaviour(before)
    kept = {choice.name for choice in tools_of(before)}
    names = tuple(choice.name for choice in tools_of(behaviour) if choice.name not in kept)
    if missing := workbench.tools.missing(names):
        raise WorkbenchError(f"There is no tool or kit {', '.join(missing)[:200]!r}. GET /api/v1/tools lists all.")
    model = model_of(behaviour)
    if model is not None and model != model_of(before) and ("/" in model or not model):
        try:
            await workbench.models.check(model)
        except NotFound as error:
            raise WorkbenchError(str(error)) from None
    return behaviour


async def _warnings(workbench: Workbench, agent: Agent, number: int | None = None) -> tuple[str, ...]:
    """What may not be meant of the variant's own model, if it has one; without a number the active one's."""
    model = model_of(agent.variant(number or agent.active).behaviour)
    return () if model is None else await workbench.models.doubts(model)


def _with(agent: Agent, body: AgentChange, behaviour: Behaviour) -> Agent:
    changes = {name: getattr(body, name) for name in ("description", "is_public") if getattr(body, name) is not None}
    if body.name is not None:
        changes["name"] = body.name.strip()
    agent = agent.model_copy(update=changes)
    if behaviour == agent.active_variant.behaviour:
        return agent
    return with_variant(agent, behaviour, origin=agent.active, note="Changed over the API")


@variants.get("")
async def list_variants(agent: str, workbench: Here, caller: Asking) -> ListEnvelope[VariantReply]:
    """The agent's variants, the oldest first."""
    found = agent_for(workbench, caller, agent)
    managers_only(caller, "read their prompts")
    variants = [VariantReply.of(found, variant) for variant in found.variants]
    return ListEnvelope(data=variants, count=len(variants))


@variants.post("", status_code=201)
async def save_variant(agent: str, body: NewVariant, workbench: Here, caller: Asking) -> Envelope[VariantReply]:
    """Save a further variant: another one's behaviour with what the body names. It is a candidate until promoted."""
    found = agent_for(workbench, caller, agent)
    managers_only(caller, "change agents")
    origin = found.variant(body.origin or found.active)
    behaviour = await changed(workbench, origin.behaviour, body)
    stored = await workbench.agents.change(
        found.id, lambda newest: with_variant(newest, behaviour, origin=origin.number, note=body.note)
    )
    warnings = await _warnings(workbench, stored, stored.variants[-1].number)
    return Envelope(data=VariantReply.of(stored, stored.variants[-1], warnings))


@variants.post("/{number}/promote")
async def promote_variant(
    agent: str, number: Several, workbench: Here, caller: Asking, body: Annotated[Promotion | None, Body()] = None
) -> Envelope[AgentReply]:
    """Make that variant the active one. Where the agent's gate holds it back the answer is 409 `gate`."""
    found = agent_for(workbench, caller, agent)
    managers_only(caller, "change agents")
    by, override = triggered_by(caller.trigger), body.override if body else ""
    stored = await workbench.gating.activate(found.id, number, by=by, override=override)
    return Envelope(data=AgentReply.of(stored, to_owner=True))
