"""What a workflow's run may do with agents and tools: its nodes' own, and what the agents they ask may use."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from app.domain.agents import Agent, Behaviour, WorkflowBehaviour
from app.domain.tools import GrantedTool, Policy
from app.domain.workflows.document import AgentNode, Node, ToolNode, Workflow
from app.engine.loop.granting import allowed
from app.engine.ports import Toolbox


@dataclass(frozen=True)
class Nodes:
    agents: Sequence[Agent]
    toolbox: Toolbox
    tools_off: Collection[str] = ()
    unasked: Collection[str] = ()
    """Tools that its session lets be called without asking."""

    def pinned(self, workflow: Workflow) -> Workflow:
        """The workflow with the variants that are active now, which stay the ones of the run."""
        return workflow.model_copy(update={"nodes": tuple(map(self._pinned, workflow.nodes))})

    def granted(self, workflow: Workflow, own: Iterable[GrantedTool]) -> tuple[GrantedTool, ...]:
        """Its nodes' `own` tools and those of all agents below it.

        Under the laxest policy that one of them has: each node and agent keeps to its own besides.
        """
        found = {tool.spec.name: tool for tool in own}
        for behaviour in self._asked(workflow, set()):
            for tool in allowed(self.toolbox, behaviour, self.tools_off):
                known = found.get(tool.spec.name)
                if known is None or known.policy == "ask":
                    found[tool.spec.name] = tool
        return tuple(found.values())

    def _asked(self, workflow: Workflow, seen: set[tuple[str, int]]) -> Iterable[Behaviour]:
        """How the agents answer that its nodes ask, and those that these ask."""
        for node in workflow.nodes:
            if isinstance(node, AgentNode) and (agent := self._agent(node.agent)) is not None:
                number = node.variant or agent.active
                behaviour = next((one.behaviour for one in agent.variants if one.number == number), None)
                if behaviour is None or (agent.id, number) in seen:
                    continue
                seen.add((agent.id, number))
                yield behaviour
                if isinstance(behaviour, WorkflowBehaviour):
                    yield from self._asked(behaviour.workflow, seen)

    def _pinned(self, node: Node) -> Node:
        match node:
            case AgentNode(agent=slug, variant=None) if (agent := self._agent(slug)) is not None:
                return node.model_copy(update={"variant": agent.active})
            case ToolNode(tool=name, policy="ask") if name in self.unasked:
                auto: Policy = "auto"
                return node.model_copy(update={"policy": auto})
            case _:
                return node

    def _agent(self, slug: str) -> Agent | None:
        return next((agent for agent in self.agents if agent.slug == slug), None)
