"""What came from elsewhere decides nothing: each of its tools asks, and it is held to what holds for a new agent.

Its harmlessness is not believed either: a file may say of any tool that it changes nothing.
"""

from app.domain.agents import Agent, Behaviour, Limits, ToolChoice
from app.domain.tools import GrantedTool, Policy, ToolSpec

OURS = Limits()
_NONE_WITHOUT = ("run_tokens", "session_cost", "repeats", "result_size")
"""Limits of which 0 means that there is none."""


def stricter(one: Policy, other: Policy) -> Policy:
    return max(one, other, key=("auto", "ask", "off").index)


def narrowed(limits: Limits, most: Limits = OURS) -> Limits:
    """The limits, none of them wider than in `most`."""
    allowed, own = most.model_dump(), limits.model_dump()
    return Limits.model_validate({name: _narrower(name, own[name], widest) for name, widest in allowed.items()})


def agent_from_elsewhere(agent: Agent) -> Agent:
    """The agent as it may be used here: for nobody else, and with variants that ask."""
    variants = (one.model_copy(update={"behaviour": behaviour_from_elsewhere(one.behaviour)}) for one in agent.variants)
    return agent.model_copy(update={"variants": tuple(variants), "is_public": False})


def behaviour_from_elsewhere(behaviour: Behaviour) -> Behaviour:
    tools = tuple(ToolChoice(name=tool.name, policy=stricter(tool.policy, "ask")) for tool in behaviour.tools)
    attachments = {kind: how for kind, how in behaviour.attachments.items() if how != "native"}  # nothing leaves by it
    changes = {"tools": tools, "limits": narrowed(behaviour.limits), "attachments": attachments}
    return behaviour.model_copy(update=changes)


def tool_from_elsewhere(tool: GrantedTool) -> GrantedTool:
    return GrantedTool(spec=with_flags(tool.spec), policy=stricter(tool.policy, "ask"))


def with_flags(spec: ToolSpec, tool: ToolSpec | None = None) -> ToolSpec:
    """The face with the flags and the looks of the tool there is; of one there is not, the worst is believed."""
    if tool is None:
        return spec.model_copy(update={"idempotent": False, "side_effects": True, "cancellable": True})
    told = ("title", "icon", "kit", "idempotent", "side_effects", "cancellable")
    return spec.model_copy(update={name: getattr(tool, name) for name in told})


def _narrower(name: str, own: float, widest: float) -> float:
    if name in _NONE_WITHOUT and not (own and widest):
        return own or widest
    return min(own, widest)
