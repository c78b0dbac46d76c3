"""What comes with the app: agents and datasets of the first start, and what a new agent may begin as."""

import asyncio
from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING, Literal, Self

from app import paths
from app.domain.agents import Agent, Behaviour, new_agent
from app.domain.values import Value
from app.late import late
from app.store.records.tables import Agents

with late():
    from app.domain.evals import cases as evals_cases
    from app.export.datasets import json_lines

if TYPE_CHECKING:
    from app.engine.experiments.collecting import Collecting


class SampleAgent(Value):
    """An agent as `assets/agents` and `assets/templates` describe it."""

    name: str
    description: str
    icon: str
    examples: tuple[str, ...]
    behaviour: Behaviour

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
        """The same with another model."""
        return self.model_copy(update={"behaviour": self.behaviour.model_copy(update={"model": model})})


@cache
def samples(folder: Literal["agents", "templates", "workflows"]) -> tuple[SampleAgent, ...]:
    """The agents in that folder of the assets, by file name."""
    found = sorted((paths.assets() / folder).glob("*.json"))
    return tuple(SampleAgent.model_validate_json(path.read_bytes()) for path in found)


async def plant(agents: Agents) -> None:
    """Store the agents that come with the app as made by it."""
    for sample in samples("agents"):
        await agents.create(sample.agent(agents.slugs()).model_copy(update={"created_by": "app"}))


async def plant_datasets(collecting: "Collecting") -> None:
    """Keep the datasets in that folder of the assets: cases for the sample agents, with recorded results of tools."""
    for path in sorted((paths.assets() / "datasets").glob("*.jsonl")):
        received = await asyncio.to_thread(json_lines.read_cases, path.read_bytes(), path.name)
        dataset = await collecting.new_dataset(
            received.name, received.description, scorers=received.scorers, primary=received.primary
        )
        records = await asyncio.gather(*(collecting.keep_record(case.record) for case in received.cases))
        cases = evals_cases.new_cases(dataset.id, (case.content for case in received.cases))
        kept = (case.model_copy(update={"record": record}) for case, record in zip(cases, records, strict=True))
        await collecting.add_all(dataset.id, list(kept))
