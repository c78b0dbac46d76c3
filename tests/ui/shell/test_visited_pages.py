"""A tab that stays open all day: what it has left is gone from memory."""

import asyncio
import gc
from pathlib import Path

from nicegui import ui
from nicegui.testing import User

from app.domain.agents import PromptBehaviour, WorkflowBehaviour, new_agent
from app.domain.comparisons import ColumnChoice
from app.domain.workflows.document import InputNode, OutputNode, ToolNode, Workflow
from app.ui.agents import agents_page as agents
from app.ui.build import build_page as build
from app.ui.build import workflow_page as workflow
from app.ui.compare import comparison_page as comparison
from app.ui.evals import dataset_page as dataset
from app.ui.monitoring import monitoring_page as monitoring
from app.ui.overview import overview_page as overview
from app.ui.playground import session_page as session
from app.ui.resources import resources_page as resources
from app.ui.run import run_page as run
from app.ui.tools import tools_page as tools
from app.workbench import Workbench
from tests.living import living
from tests.seeds import seed_long_run
from tests.ui.runs.test_runs_pages import visitor
from tests.waiting import until

ROUNDS = 2
KINDS = (
    *(session.SessionPage, comparison.ComparisonPage, run.RunPage, agents.AgentsPage, tools.ToolsPage),
    *(overview.OverviewPage, build.BuildPage, workflow.WorkflowPage, monitoring.MonitoringPage, dataset.DatasetPage),
    resources.ResourcesPage,
)
NODES = Workflow(nodes=(InputNode(id="question"), ToolNode(id="sum", tool="calculator"), OutputNode(id="answer")))


async def addresses(workbench: Workbench, run_id: str) -> tuple[str, ...]:
    """Every page there is, and several sessions."""
    agent = await workbench.agents.create(new_agent("Talker", PromptBehaviour(), taken_slugs=()))
    graph = await workbench.agents.create(new_agent("Graph", WorkflowBehaviour(workflow=NODES), taken_slugs=()))
    cases = await workbench.collecting.new_dataset("Sums")
    sessions = [await workbench.chat.new_session(agent.id) for _ in range(3)]
    compared = await workbench.compare.start([ColumnChoice(agent_id=agent.id, variant=1)] * 2)
    return (
        *(f"/playground/{one.id}" for one in sessions),
        *("/playground", "/agents", f"/agents/{agent.slug}", "/tools", "/tools/calculator", "/compare"),
        *(f"/compare/{compared.id}", "/runs", f"/runs/{run_id}", "/jobs", "/integrations", "/settings", "/setup"),
        *("/", "/build", f"/build/{graph.slug}", "/monitoring", "/evals", f"/evals/{cases.slug}", "/matrix", "/review"),
        "/resources",
    )


async def visit(user: User, address: str) -> None:
    with user.current_layout:
        ui.navigate.to(address)
    assert user.client is not None
    router = user.client.sub_pages_router
    await until(lambda: router.current_path == address)
    await asyncio.sleep(0)


def remembered() -> int:
    """The pages in memory."""
    gc.collect()
    return living(*KINDS)


async def test_what_a_tab_has_left_is_forgotten(tmp_path: Path) -> None:
    run_id, others = await seed_long_run(tmp_path, 50), remembered()  # of tabs that other tests left open
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        await user.open("/jobs")
        assert user.client is not None
        handlers = len(user.client.delete_handlers)
        visited = await addresses(workbench, run_id)
        for address in visited * ROUNDS:
            await visit(user, address)
        await visit(user, "/jobs")
        assert len(user.client.delete_handlers) == handlers
        await until(lambda: remembered() == others, seconds=15, pause=0.2)  # one wakes every 10 s
