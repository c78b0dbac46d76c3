"""What comes with the app: agents and datasets of the first start, and what a new agent may begin as."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from app import paths
from app.domain.agents import Agent, Behaviour, PromptBehaviour, WorkflowBehaviour, new_agent, slug_of
from app.domain.values import Value
from app.domain.workflows.document import AgentNode
from app.late import late
from app.store.records.tables import Agents

with late():
    from app.domain.evals import cases as evals_cases
    from app.export.datasets import json_lines

if TYPE_CHECKING:
    from app.engine.experiments.collecting import Collecting
    from app.export.datasets.received import ReceivedCase
    from app.store.records.evals import Datasets


class SampleAgent(Value):
    """An agent as `assets/agents` and `assets/templates` describe it."""

    name: str
    description: str
    icon: str
    examples: tuple[str, ...]
    behaviour: Behaviour
    brings: tuple[str, ...] = ()
    """The agents that its nodes ask, as names of files among the assets."""

    def agent(self, taken_slugs: Collection[str], name: str = "") -> Agent:
        """A new agent like this, under that name or its own."""
        return new_agent(
            name.strip() or self.name,
            self.behaviour,
            taken_slugs=taken_slugs,
            description=self.description,
            icon=self.icon,
            examples=self.examples,
        )

    def asking(self, model: str) -> Self:
        """The same with another model, where it has one of its own."""
        if not model or not isinstance(self.behaviour, PromptBehaviour):
            return self
        return self.model_copy(update={"behaviour": self.behaviour.model_copy(update={"model": model})})

    def asking_agents(self, slugs: Mapping[str, str]) -> Self:
        """The same, with nodes that ask other agents: slugs by those that they ask now."""
        match self.behaviour:
            case WorkflowBehaviour(workflow=workflow):
                nodes = tuple(
                    node.model_copy(update={"agent": slugs.get(node.agent, node.agent)})
                    if isinstance(node, AgentNode)
                    else node
                    for node in workflow.nodes
                )
                changed = {"workflow": workflow.model_copy(update={"nodes": nodes})}
                return self.model_copy(update={"behaviour": self.behaviour.model_copy(update=changed)})
            case _:
                return self


@cache
def samples(folder: Literal["agents", "templates", "workflows"]) -> tuple[SampleAgent, ...]:
    """The agents in that folder of the assets, by file name."""
    return tuple(_sample(path) for path in sorted((paths.assets() / folder).glob("*.json")))


@cache
def _sample(path: Path) -> SampleAgent:
    return SampleAgent.model_validate_json(path.read_bytes())


async def bring(sample: SampleAgent, agents: Agents, model: str = "") -> SampleAgent:
    """Store those of the agents that it brings that are not there, with that model where one is named.

    Returns it asking them: one whose slug is taken, by an agent in the Trash, gets another.
    """
    slugs = {agent.slug: agent.slug for agent in agents.all()}
    for name in sample.brings:
        brought = _sample(paths.assets() / f"{name}.json").asking(model)
        if (wanted := slug_of(brought.name)) not in slugs:
            slugs[wanted] = (await agents.create(brought.agent(agents.slugs()))).slug
    return sample.asking_agents(slugs)


async def plant(agents: Agents) -> None:
    """Store the agents that come with the app as made by it, but for those that are there or were deleted."""
    for sample in samples("agents"):
        if slug_of(sample.name) not in (taken := agents.slugs()):
            await agents.create(sample.agent(taken).model_copy(update={"created_by": "app"}))


async def plant_datasets(datasets: "Datasets", collecting: "Collecting") -> None:
    """Keep the datasets in that folder of the assets: cases for the sample agents, with recorded results of tools.

    What was kept before is made whole, and what was deleted stays so.
    """
    for path in sorted((paths.assets() / "datasets").glob("*.jsonl")):
        received = await asyncio.to_thread(json_lines.read_cases, path.read_bytes(), path.name)
        slug = slug_of(received.name)
        kept = next((dataset for dataset in datasets.all() if dataset.slug == slug), None)
        if kept is None and slug not in datasets.slugs():
            kept = await collecting.new_dataset(
                received.name, received.description, scorers=received.scorers, primary=received.primary
            )
        if kept is not None:
            await _plant_cases(kept.id, received.cases, collecting)


async def _plant_cases(dataset_id: str, received: "Sequence[ReceivedCase]", collecting: "Collecting") -> None:
    """Keep those of the cases that the dataset does not have."""
    asked = {case.input for case in collecting.cases.of(dataset_id)}
    lacking = [case for case in received if case.content.input not in asked]
    if lacking:
        records = await asyncio.gather(*(collecting.keep_record(case.record) for case in lacking))
        cases = evals_cases.new_cases(dataset_id, (case.content for case in lacking))
        kept = (case.model_copy(update={"record": record}) for case, record in zip(cases, records, strict=True))
        await collecting.add_all(dataset_id, list(kept))
