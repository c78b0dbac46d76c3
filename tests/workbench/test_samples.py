"""Templates of workflows: sound as they come, with the agents that they ask."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.agents import PromptBehaviour, WorkflowBehaviour, by_prompt, new_agent
from app.domain.workflows.document import AgentNode, NoteNode
from app.domain.workflows.layout import sizes
from app.workbench import Workbench
from app.workbench.samples import SampleAgent, bring, samples

TEMPLATES = {sample.name: sample for sample in samples("workflows")}


@pytest.fixture
async def workbench(tmp_path: Path) -> AsyncIterator[Workbench]:
    workbench = Workbench.open(tmp_path / "data")
    await workbench.start()
    yield workbench
    await workbench.close()


def asked(sample: SampleAgent) -> set[str]:
    assert isinstance(sample.behaviour, WorkflowBehaviour)
    return {node.agent for node in sample.behaviour.workflow.nodes if isinstance(node, AgentNode)}


def test_there_is_a_template_for_each_way_of_going_on() -> None:
    assert list(TEMPLATES) == [
        "Blank workflow", "Sort a request", "Summarise files", "Write, review, revise", "Three tools side by side",
        "Ask before sending",
    ]  # fmt: skip


@pytest.mark.parametrize("name", TEMPLATES)
async def test_a_template_has_no_fault_once_its_agents_are_there(workbench: Workbench, name: str) -> None:
    sample = await bring(TEMPLATES[name], workbench.agents)
    assert isinstance(sample.behaviour, WorkflowBehaviour)
    assert await workbench.workflow_checks.faults(sample.behaviour.workflow) == ()
    assert sample.description and sample.examples
    nodes = sample.behaviour.workflow.nodes
    assert all(node.title for node in nodes)
    assert name == "Blank workflow" or [node.note for node in nodes if isinstance(node, NoteNode)] > [""]
    assert sizes(sample.behaviour.workflow).keys() <= {node.id for node in nodes} | {""}


async def test_agents_that_are_there_are_asked_and_others_come_with_it_once(workbench: Workbench) -> None:
    before = workbench.agents.slugs()
    for _ in range(2):
        sample = await bring(TEMPLATES["Sort a request"], workbench.agents, model="fake/model")
        assert asked(sample) == {"assistant", "sorter"} and workbench.agents.slugs() - before == {"sorter"}
    assert by_prompt(workbench.agents.by_slug("sorter").active_variant.behaviour).model == "fake/model"


async def test_where_the_slug_is_taken_by_a_deleted_agent_the_nodes_ask_the_new_one(workbench: Workbench) -> None:
    gone = await workbench.agents.create(new_agent("Sorter", PromptBehaviour(), taken_slugs=()))
    await workbench.agents.delete(gone.id)
    sample = await bring(TEMPLATES["Sort a request"], workbench.agents)
    assert asked(sample) == {"assistant", "sorter-2"}
    assert workbench.agents.by_slug("sorter-2").name == "Sorter"
