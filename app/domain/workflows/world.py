"""What a workflow is checked against: the agents and tools there are, and how expressions are read."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.domain.reading.expressions import Expressions
from app.domain.tools import JsonSchema, ToolSpec
from app.domain.workflows.document import Workflow


@dataclass(frozen=True, slots=True)
class KnownVariant:
    variables: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    """Tools and kits that are not off."""
    output_schema: JsonSchema | None = None
    workflow: Workflow | None = None


@dataclass(frozen=True, slots=True)
class KnownAgent:
    name: str
    active: int
    variants: Mapping[int, KnownVariant]


@dataclass(frozen=True, slots=True)
class World:
    expressions: Expressions
    agents: Mapping[str, KnownAgent] = field(default_factory=dict)
    """By slug."""
    tools: Mapping[str, ToolSpec] = field(default_factory=dict)
    """By name."""
    slug: str = ""
    """Of the agent that the workflow is; empty for a new one."""

    def variant(self, slug: str, number: int | None) -> KnownVariant | None:
        """The variant, the active one without a number."""
        agent = self.agents.get(slug)
        return agent.variants.get(agent.active if number is None else number) if agent else None
