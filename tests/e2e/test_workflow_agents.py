"""An agent that is a workflow, on the pages that show what an agent's prompt and model are."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.domain.agents import NODES_MODELS, PromptBehaviour, ToolChoice, WorkflowBehaviour, new_agent, with_variant
from app.domain.evals.cases import CaseContent, DatasetChanges, new_cases
from app.domain.evals.scorers import Contains
from app.domain.workflows.document import AgentNode, FixedValue, InputNode, OutputNode, Template, ToolNode, Workflow
from app.workbench import Workbench
from tests.app_process import AppProcess
from tests.domain.workflows.worlds import chain
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on
from tests.e2e.evals import ENDS
from tests.e2e.playground import SUM

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
    await beside_a_plain_agent(workbench)
    await workbench.close()


async def beside_a_plain_agent(workbench: Workbench) -> None:
    """Variant 1 counts by a tool as well, variant 2 asks an agent that a prompt makes and does nothing else."""
    plain = PromptBehaviour(tools=(ToolChoice(name="calculator"),))
    await workbench.agents.create(new_agent("Plain", plain, taken_slugs=workbench.agents.slugs()))
    ask = AgentNode(id="ask", title="Ask", agent="plain", message=Template(text="{{input.text}}"))
    fixed = {"operation": "multiply", "x": 15, "y": 3}
    count = ToolNode(
        id="count", tool="calculator", arguments={name: FixedValue(value=one) for name, one in fixed.items()}
    )
    both = WorkflowBehaviour(workflow=chain(ask, count, answer="{{ask}} Counted: {{count}}"))
    alone = WorkflowBehaviour(workflow=chain(ask, answer="{{ask}}"))
    agent = new_agent("Beside", both, taken_slugs=workbench.agents.slugs())
    await workbench.agents.create(with_variant(agent, alone, origin=1))
    dataset = await workbench.collecting.new_dataset("Sums for Beside")
    case = CaseContent(input=SUM, reference="Counted: 15 * 3 = 45")
    await workbench.collecting.add_all(dataset.id, new_cases(dataset.id, [case]))
    await workbench.collecting.change_dataset(dataset.id, DatasetChanges(scorers=(Contains(),)))


@pytest.mark.long
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


@pytest.mark.long
def test_comparisons_suggestions_and_the_list_name_no_model_of_it(page: Page):
    page.goto("/agents")
    expect(page.get_by_test_id("agent-card").filter(has_text="Summer")).to_contain_text(NODES_MODELS)
    page.goto("/compare?agent=summer")
    expect(page.get_by_test_id("model-select").first).to_contain_text(NODES_MODELS)
    page.goto("/agents/summer/suggest")
    expect(page.get_by_text("This agent has no prompt of its own")).to_be_visible()


@pytest.mark.long
def test_it_stands_beside_a_plain_agent_in_one_experiment(page: Page):
    page.goto("/evals")
    page.get_by_test_id("dataset-row").filter(has_text="Sums for Beside").get_by_role("link").first.click()
    page.get_by_test_id("try-dataset-button").click()
    expect(page.get_by_test_id("agent-select")).to_contain_text("Beside")
    expect(page.get_by_test_id("try-add-model")).to_be_disabled()
    page.get_by_test_id("experiment-start-button").click()
    page.wait_for_url("**/experiments/*")
    expect(page.locator(".pill-done")).to_be_visible(timeout=ENDS)
    page.get_by_test_id("open-matrix").click()
    cells = page.get_by_test_id("matrix-cell")
    expect(cells).to_have_count(2)
    expect(page.get_by_text("1 of 1 passed")).to_be_visible()
    expect(page.get_by_text("0 of 1 passed")).to_be_visible()
    cells.last.click()
    pair = page.get_by_test_id("matrix-pair")
    expect(pair).to_contain_text("in two columns")
    expect(pair).to_contain_text("Counted: 15 * 3 = 45")
    assert violations(page) == []
