"""An agent that is a workflow, on the pages that show what an agent's prompt and model are."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.domain.agents import NODES_MODELS, WorkflowBehaviour, new_agent
from app.domain.workflows.document import InputNode, OutputNode, ToolNode, Workflow
from app.workbench import Workbench
from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on

pytestmark = pytest.mark.blank

NODES = Workflow(nodes=(InputNode(id="question"), ToolNode(id="sum", tool="calculator"), OutputNode(id="answer")))


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with app_on(tmp_path_factory.mktemp("workflow_agents"), prepare) as app:
        yield app


async def prepare(folder: Path) -> None:
    workbench = Workbench.open(folder)
    behaviour = WorkflowBehaviour(workflow=NODES)
    await workbench.agents.create(new_agent("Summer", behaviour, taken_slugs=workbench.agents.slugs()))
    await workbench.close()


def test_its_page_leads_to_its_nodes_and_shows_its_variants(page: Page):
    page.goto("/agents/summer")
    link = page.get_by_test_id("open-build")
    expect(link).to_have_attribute("href", "/build/summer")
    expect(page.get_by_text("A workflow of 3 nodes answers")).to_be_visible()
    expect(page.get_by_test_id("agent-suggest")).to_be_hidden()
    expect(page.get_by_test_id("prompt-editor")).to_have_count(0)
    page.get_by_test_id("side-variants").click()
    expect(page.get_by_text("v1", exact=True).first).to_be_visible()
    assert violations(page) == []


def test_a_session_says_that_its_nodes_models_answer_and_what_cannot_be_run(page: Page):
    page.goto("/playground")
    card = page.get_by_test_id("agent-card").filter(has_text="Summer")
    expect(card).to_contain_text(NODES_MODELS)
    card.click()
    expect(page.get_by_test_id("model-select")).to_contain_text(NODES_MODELS)
    expect(page.get_by_test_id("model-select")).to_be_disabled()
    expect(page.get_by_test_id("open-build")).to_be_visible()
    expect(page.get_by_test_id("tool-switch")).to_have_count(0)
    expect(page.get_by_role("heading", name="Variables")).to_have_count(0)
    assert violations(page) == []


def test_comparisons_suggestions_and_the_list_name_no_model_of_it(page: Page):
    page.goto("/agents")
    expect(page.get_by_test_id("agent-card").filter(has_text="Summer")).to_contain_text(NODES_MODELS)
    page.goto("/compare?agent=summer")
    expect(page.get_by_test_id("model-select").first).to_contain_text(NODES_MODELS)
    page.goto("/agents/summer/suggest")
    expect(page.get_by_text("This agent has no prompt of its own")).to_be_visible()
