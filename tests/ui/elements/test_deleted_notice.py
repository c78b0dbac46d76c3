"""A page says that what it is about was deleted in another tab, and brings it back."""

from pathlib import Path

import pytest
from nicegui import ui
from nicegui.testing.user_interaction import UserInteraction

from app.domain.agents import WorkflowBehaviour, new_agent
from app.domain.comparisons import ColumnChoice
from app.domain.evals.cases import Dataset
from app.domain.values import now
from app.workbench import Workbench
from tests.domain.workflows.worlds import chain
from tests.ui.runs.test_runs_pages import marked, the, visitor
from tests.waiting import until


async def agent(workbench: Workbench) -> tuple[str, str]:
    return workbench.agents.by_slug("math-tutor").id, "/agents/math-tutor"


async def workflow(workbench: Workbench) -> tuple[str, str]:
    made = new_agent("Steps", WorkflowBehaviour(workflow=chain()), taken_slugs=())
    return (await workbench.agents.create(made)).id, "/build/steps"


async def dataset(workbench: Workbench) -> tuple[str, str]:
    made = Dataset(id="d1", slug="mine", name="Mine", created_at=now(), updated_at=now())
    return (await workbench.datasets.create(made)).id, "/evals/mine"


async def comparison(workbench: Workbench) -> tuple[str, str]:
    asked, _ = await agent(workbench)
    made = await workbench.compare.start([ColumnChoice(agent_id=asked, variant=1)] * 2)
    return made.id, f"/compare/{made.id}"


@pytest.mark.parametrize(
    ("make", "table"),
    [(agent, "agents"), (workflow, "agents"), (dataset, "datasets"), (comparison, "comparisons")],
)
async def test_a_page_says_that_another_tab_deleted_what_it_shows_and_brings_it_back(tmp_path: Path, make, table):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        key, address = await make(workbench)
        await user.open(address)
        notice, kept = f"{table.removesuffix('s')}-deleted", getattr(workbench, table)
        await kept.delete(key)
        await until(lambda: marked(user, notice))
        [undo] = [one for one in the(user, notice).descendants() if isinstance(one, ui.button)]
        UserInteraction(user, {undo}, None).click()
        await until(lambda: not marked(user, notice))
        assert kept.get(key).deleted_at is None
