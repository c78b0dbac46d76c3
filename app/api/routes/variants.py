"""REST for the variants of an agent: listed, saved, promoted."""

from app.api.door.access import agent_for, managers_only
from app.api.door.dependencies import Asking, Here, resource
from app.api.door.envelopes import Envelope, ListEnvelope
from app.api.routes.agent_bodies import AgentReply, NewVariant, Several, VariantReply
from app.api.routes.agents import changed
from app.domain.agents import promoted, with_variant

router = resource("/agents/{agent}/variants", "Variants")


@router.get("")
async def list_variants(agent: str, workbench: Here, caller: Asking) -> ListEnvelope[VariantReply]:
    """The agent's variants, the oldest first."""
    found = agent_for(workbench, caller, agent)
    managers_only(caller, "read their prompts")
    variants = [VariantReply.of(found, variant) for variant in found.variants]
    return ListEnvelope(data=variants, count=len(variants))


@router.post("", status_code=201)
async def save_variant(agent: str, body: NewVariant, workbench: Here, caller: Asking) -> Envelope[VariantReply]:
    """Save a further variant: another one's behaviour with what the body names. It is a candidate until promoted."""
    found = agent_for(workbench, caller, agent)
    managers_only(caller, "change agents")
    origin = found.variant(body.origin or found.active)
    behaviour = await changed(workbench, origin.behaviour, body)
    stored = await workbench.agents.change(
        found.id, lambda newest: with_variant(newest, behaviour, origin=origin.number, note=body.note)
    )
    return Envelope(data=VariantReply.of(stored, stored.variants[-1]))


@router.post("/{number}/promote")
async def promote_variant(agent: str, number: Several, workbench: Here, caller: Asking) -> Envelope[AgentReply]:
    """Make that variant the active one."""
    found = agent_for(workbench, caller, agent)
    managers_only(caller, "change agents")
    stored = await workbench.agents.change(found.id, lambda newest: promoted(newest, number))
    return Envelope(data=AgentReply.of(stored, to_owner=True))
