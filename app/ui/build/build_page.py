"""All workflows as cards: found, made, duplicated, exported, imported, deleted and brought back."""

import asyncio
from collections.abc import Sequence

from nicegui import ui

from app.domain.agents import Agent, WorkflowBehaviour, new_agent
from app.export.workflows.workflow_file import FORMAT, read_workflow_file
from app.ui.agents.agents_page import AgentsPage
from app.ui.build.tour import tour_offer
from app.ui.elements.addresses import BUILD
from app.ui.elements.notices import problems_shown
from app.workbench.samples import SampleAgent, bring, samples


class BuildPage(AgentsPage):
    """The agents that are workflows, with the same ways as on the page of all agents."""

    title = "Build"
    lead = "Workflows are agents made of nodes: you say what comes after what, and each node does one thing."
    noun = "workflow"
    base = BUILD
    symbol = "account_tree"

    def _build_head(self) -> None:
        super()._build_head()
        tour_offer(self._workbench.preferences, self._begin_tour)

    async def _begin_tour(self) -> None:
        await self._add(self._templates()[0].agent(self._workbench.agents.slugs(), "First steps"))

    def _shown_here(self, agents: Sequence[Agent]) -> Sequence[Agent]:
        return [agent for agent in agents if agent.kind == "workflow"]

    async def _import(self, content: bytes) -> None:
        """A workflow's own file, else an agent's."""
        if FORMAT.encode() not in content:
            await super()._import(content)
            return
        with problems_shown():
            read = await asyncio.to_thread(read_workflow_file, content)
            behaviour, taken = WorkflowBehaviour(workflow=read.workflow), self._workbench.agents.slugs()
            await self._add(
                new_agent(read.name, behaviour, taken_slugs=taken, description=read.description, icon=self.symbol)
            )

    def _templates(self) -> Sequence[SampleAgent]:
        return samples("workflows")

    async def _complete(self, template: SampleAgent) -> SampleAgent:
        """With the agents that its nodes ask, of which new ones are named."""
        workbench = self._workbench
        before = workbench.agents.slugs()
        complete = await bring(template, workbench.agents, workbench.preferences.get().default_model)
        if new := [agent.name for agent in workbench.agents.all() if agent.slug not in before]:
            ui.notify(f"Added with it: {', '.join(new)}.", timeout=6000)
        return complete
