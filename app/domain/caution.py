"""What came from elsewhere decides nothing: each of its tools asks, and it is held to what holds for a new agent.

Its harmlessness is not believed either: a file may say of any tool that it changes nothing.
"""

from typing import assert_never

from app.domain.agents import WORKFLOW_LIMITS, Agent, Behaviour, Limits, PromptBehaviour, ToolChoice, WorkflowBehaviour
from app.domain.tools import GrantedTool, Policy, ToolSpec, stricter
from app.domain.workflows.document import ToolNode, Workflow

OURS = Limits()
_NONE_WITHOUT = ("run_tokens", "session_cost", "repeats", "result_size")
"""Limits of which 0 means that there is none."""


def narrowed(limits: Limits, most: Limits = OURS) -> Limits:
    """The limits, none of them wider than in `most`."""
    allowed, own = most.model_dump(), limits.model_dump()
    return Limits.model_validate({name: _narrower(name, own[name], widest) for name, widest in allowed.items()})


def agent_from_elsewhere(agent: Agent) -> Agent:
    """The agent as it may be used here: for nobody else, and with variants that ask."""
    variants = (one.model_copy(update={"behaviour": behaviour_from_elsewhere(one.behaviour)}) for one in agent.variants)
    return agent.model_copy(update={"variants": tuple(variants), "is_public": False})


def behaviour_from_elsewhere(behaviour: Behaviour) -> Behaviour:
    held = with_tools_held(behaviour, "ask")
    match held:
        case PromptBehaviour(attachments=attachments):
            kept = {kind: how for kind, how in attachments.items() if how != "native"}  # nothing leaves by it
            return held.model_copy(update={"attachments": kept})
        case WorkflowBehaviour():
            return held
        case _:
            assert_never(held)


def with_tools_held(behaviour: Behaviour, most: Policy) -> Behaviour:
    """The behaviour with limits as of a new one, whose tools may do at most that; the nodes of a workflow ask."""
    match behaviour:
        case PromptBehaviour(tools=tools, limits=limits):
            held = tuple(ToolChoice(name=tool.name, policy=stricter(tool.policy, most)) for tool in tools)
            return behaviour.model_copy(update={"tools": held, "limits": narrowed(limits)})
        case WorkflowBehaviour(workflow=workflow, limits=limits):
            changes = {"workflow": asking(workflow), "limits": narrowed(limits, WORKFLOW_LIMITS)}
            return behaviour.model_copy(update=changes)
        case _:
            assert_never(behaviour)


def asking(workflow: Workflow) -> Workflow:
    """The workflow, each of whose tools asks before it is called."""
    nodes = (
        node.model_copy(update={"policy": stricter(node.policy, "ask")}) if isinstance(node, ToolNode) else node
        for node in workflow.nodes
    )
    return workflow.model_copy(update={"nodes": tuple(nodes)})


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
