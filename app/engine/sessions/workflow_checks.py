"""Workflows against the agents and tools there are: what is wrong with one, and what no variant may have."""

import asyncio
from dataclasses import dataclass

from app.domain.agents import Agent, Behaviour, WorkflowBehaviour, declared_of, schema_of, template_of, tools_of
from app.domain.errors import FaultyWorkflow
from app.domain.prompts import variables_of
from app.domain.reading.expressions import Expressions
from app.domain.workflows.checking import errors, faults
from app.domain.workflows.document import AgentNode, ToolNode, Workflow
from app.domain.workflows.references import Fault
from app.domain.workflows.world import KnownAgent, KnownVariant, World
from app.engine.ports import AgentStore, Toolbox


@dataclass(frozen=True)
class WorkflowChecks:
    agents: AgentStore
    toolbox: Toolbox
    expressions: Expressions

    async def faults(self, workflow: Workflow, slug: str = "") -> tuple[Fault, ...]:
        """What is wrong with it, errors first; `slug` is that of the agent that it is, empty for a new one."""
        return await asyncio.to_thread(lambda: faults(workflow, self.world(workflow, slug)))

    async def check(self, behaviour: Behaviour, slug: str = "") -> None:
        """Raises `FaultyWorkflow` for a workflow with errors, which no variant may have."""
        if isinstance(behaviour, WorkflowBehaviour):
            found = errors(await self.faults(behaviour.workflow, slug))
            if found:
                more = f" And {len(found) - 1} more." if len(found) > 1 else ""
                raise FaultyWorkflow(f"This workflow cannot be saved: {found[0].text}{more}", found)

    def world(self, workflow: Workflow, slug: str = "") -> World:
        """The agents and tools that it names, and those that the workflows among them name."""
        by_slug, known = {agent.slug: agent for agent in self.agents.all()}, dict[str, KnownAgent]()
        waiting = _asked(workflow)
        while waiting:
            agent = by_slug.get(waiting.pop())
            if agent is not None and agent.slug not in known:
                known[agent.slug] = made = _known(agent)
                waiting |= {name for one in made.variants.values() if one.workflow for name in _asked(one.workflow)}
        named = tuple({node.tool for node in workflow.nodes if isinstance(node, ToolNode)})
        tools = {spec.name: spec for spec in self.toolbox.specs(named)}
        return World(expressions=self.expressions, agents=known, tools=tools, slug=slug)


def _asked(workflow: Workflow) -> set[str]:
    return {node.agent for node in workflow.nodes if isinstance(node, AgentNode)}


def _known(agent: Agent) -> KnownAgent:
    variants = {one.number: _variant(one.behaviour) for one in agent.variants}
    return KnownAgent(name=agent.name, active=agent.active, variants=variants)


def _variant(behaviour: Behaviour) -> KnownVariant:
    declared = (one.name for one in declared_of(behaviour))
    return KnownVariant(
        variables=tuple(dict.fromkeys((*declared, *variables_of(template_of(behaviour))))),
        tools=tuple(choice.name for choice in tools_of(behaviour) if choice.policy != "off"),
        output_schema=schema_of(behaviour),
        workflow=behaviour.workflow if isinstance(behaviour, WorkflowBehaviour) else None,
    )
