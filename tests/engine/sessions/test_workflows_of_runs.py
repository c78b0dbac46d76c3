"""Runs made into agents that are workflows, also where something they need has gone."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.agents import WorkflowBehaviour
from app.domain.errors import NotFound
from app.domain.workflows.document import ToolNode
from app.domain.workflows.from_run import BLANK
from app.workbench import Workbench


@pytest.fixture
async def workbench(tmp_path: Path) -> AsyncIterator[Workbench]:
    workbench = Workbench.open(tmp_path / "data")
    await workbench.start()
    yield workbench
    await workbench.close()


async def ran(workbench: Workbench) -> str:
    session = await workbench.chat.new_session(workbench.agents.by_slug("math-tutor").id)
    live = await workbench.chat.send(session.id, "What is 5 + 10, then multiply by 3?")
    assert live is not None
    await asyncio.wait_for(live.ended(), 30)
    return live.run_id


async def test_a_sound_one_is_the_first_variant_under_a_name_of_its_own(workbench: Workbench) -> None:
    run_id = await ran(workbench)
    first, second = [await workbench.workflows_of_runs.make(run_id) for _ in range(2)]
    assert (first.name, second.name) == ("Math tutor as nodes", "Math tutor as nodes 2")
    assert first.description == "Made from a run: What is 5 + 10, then multiply by 3?"
    behaviour = workbench.agents.get(first.id).active_variant.behaviour
    assert isinstance(behaviour, WorkflowBehaviour)
    assert [node.tool for node in behaviour.workflow.nodes if isinstance(node, ToolNode)] == ["calculator"] * 2
    assert workbench.working_copies.get(first.id) is None


async def test_one_with_errors_waits_in_the_editor_and_the_variant_answers_with_the_message(
    workbench: Workbench,
) -> None:
    run_id = await ran(workbench)
    await workbench.agents.delete(workbench.agents.by_slug("math-tutor").id)
    made = await workbench.workflows_of_runs.make(run_id)
    assert made.active_variant.behaviour == WorkflowBehaviour(workflow=BLANK)
    assert await workbench.workflow_checks.faults(BLANK) == ()
    copy = workbench.working_copies.get(made.id)
    assert copy is not None and isinstance(copy.behaviour, WorkflowBehaviour)
    assert len(copy.behaviour.workflow.nodes) == 7
    with pytest.raises(NotFound):
        await workbench.workflows_of_runs.make("nothing")
