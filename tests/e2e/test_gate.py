"""A gate in the way of a promotion, a reason past it, and a better prompt that becomes a variant, in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app.domain.agents import Agent, Limits, PromptBehaviour, ToolChoice, new_agent, with_variant
from app.domain.evals.cases import CaseContent, DatasetChanges, new_cases
from app.domain.evals.gates import Gate
from app.domain.evals.scorers import Contains
from app.domain.provenance import Trigger
from app.workbench import Workbench
from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on, workbench_on
from tests.waiting import until

pytestmark = pytest.mark.blank
PAGE = Trigger(kind="page")
ADDS = PromptBehaviour(system_prompt="Add.", tools=(ToolChoice(name="calculator"),))


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with app_on(tmp_path_factory.mktemp("gate"), prepare) as app:
        yield app


async def prepare(folder: Path) -> None:
    async with workbench_on(folder) as bench:
        sums = await dataset(bench, "Sums", 8)
        await dataset(bench, "Many sums", 32)
        adder = await adding(bench, "Adder")
        await bench.gating.set(adder.id, Gate(dataset_id=sums, repeats=1, tools="live"))
        for number in (2, 3):
            experiment = await bench.gating.run(adder.id, number, PAGE)
            await until(lambda: not bench.experimenting.is_live(experiment.id), 60)  # noqa: B023  awaited at once
        await adding(bench, "Unguarded")
        hurried = ADDS.model_copy(update={"limits": Limits(max_steps=1)})
        await bench.agents.create(new_agent("Hurried", hurried, taken_slugs=bench.agents.slugs()))


async def adding(bench: Workbench, name: str) -> Agent:
    """One with a second variant without tools, and a third like the first."""
    agent = new_agent(name, ADDS, taken_slugs=bench.agents.slugs())
    agent = with_variant(agent, PromptBehaviour(system_prompt="Add."), origin=1, note="Without tools")
    return await bench.agents.create(with_variant(agent, ADDS, origin=1, note="As it was"))


async def dataset(bench: Workbench, name: str, count: int) -> str:
    made = await bench.collecting.new_dataset(name)
    await bench.collecting.change_dataset(made.id, DatasetChanges(scorers=(Contains(),)))
    cases = [CaseContent(input=f"What is {n} + 10?", reference=f"{n + 10}", must_pass=n == 1) for n in range(count)]
    await bench.collecting.add_all(made.id, new_cases(made.id, cases))
    return made.id


def dialog_faults(page: Page) -> list[str]:
    """Colours apart: axe takes the shade behind an open dialog for the ground of its quiet buttons."""
    return [one for one in violations(page) if not one.startswith("color-contrast")]


def variant(page: Page, number: int) -> Locator:
    return page.locator(f"[data-testid=variant-row][data-variant='{number}']")


def open_variants(page: Page, slug: str) -> None:
    page.goto(f"/agents/{slug}")
    page.get_by_test_id("side-variants").click()
    expect(variant(page, 1)).to_be_visible()


def status(page: Page, number: int) -> Locator:
    return variant(page, number).get_by_test_id("variant-status")


@pytest.mark.long
def test_a_red_gate_is_passed_with_a_reason_only_and_going_back_is_free(page):
    open_variants(page, "adder")
    expect(variant(page, 2).get_by_test_id("gate-state")).to_have_attribute("data-state", "red")
    expect(variant(page, 3).get_by_test_id("gate-state")).to_have_attribute("data-state", "green")
    variant(page, 2).get_by_test_id("promote-button").click()
    dialog = page.get_by_test_id("gate-dialog")
    expect(dialog).to_contain_text("1 of 1 cases that must pass did not: “What is 1 + 10?”.")
    expect(dialog.get_by_test_id("gate-price")).to_contain_text("Running it takes 16 tries")
    expect(dialog.get_by_test_id("gate-override")).to_be_disabled()
    assert not dialog_faults(page)
    dialog.get_by_test_id("gate-reason").fill("The cases are out of date.")
    dialog.get_by_test_id("gate-override").click()
    expect(status(page, 2)).to_have_text("Active")
    expect(variant(page, 2).get_by_test_id("gate-override-note")).to_contain_text("“The cases are out of date.”")
    variant(page, 2).get_by_test_id("diff-button").click()
    expect(page.get_by_test_id("diff-dialog")).to_contain_text("The cases are out of date.")
    page.get_by_test_id("close-diff").click()
    expect(variant(page, 1).get_by_test_id("promote-button")).to_have_text("Roll back")
    variant(page, 1).get_by_test_id("promote-button").click()
    expect(status(page, 1)).to_have_text("Active")


@pytest.mark.long
def test_a_green_gate_asks_nothing_and_can_be_taken_back(page):
    open_variants(page, "adder")
    expect(variant(page, 3).get_by_test_id("gate-state")).to_have_attribute("data-state", "green")
    variant(page, 3).get_by_test_id("promote-button").click()
    expect(status(page, 3)).to_have_text("Active")
    page.get_by_test_id("undo-button").click()
    expect(status(page, 1)).to_have_text("Active")
    expect(variant(page, 3).get_by_test_id("promote-button")).to_have_text("Promote")


def test_a_gate_is_set_says_what_it_notices_and_holds_back_what_was_not_tried(page):
    open_variants(page, "unguarded")
    page.get_by_test_id("agent-gate").click()
    expect(page.get_by_test_id("gate-notices")).to_contain_text("32 cases, of which 1 must pass in every try.")
    page.get_by_test_id("gate-margin").fill("10")
    expect(page.get_by_test_id("gate-notices")).to_contain_text("To show 10 points takes 22 cases")
    assert not dialog_faults(page)
    page.get_by_test_id("gate-save").click()
    expect(variant(page, 2).get_by_test_id("gate-state")).to_have_attribute("data-state", "amber")
    variant(page, 2).get_by_test_id("promote-button").click()
    expect(page.get_by_test_id("gate-dialog")).to_contain_text("was not tried beside variant 1")
    page.get_by_test_id("gate-run").click()
    page.get_by_test_id("open-suggest").click()
    expect(page.get_by_test_id("suggest-variant")).to_have_value("v2 · newer")
    open_variants(page, "unguarded")
    expect(status(page, 1)).to_have_text("Active")
    page.get_by_test_id("agent-gate").click()
    page.get_by_test_id("gate-away").click()
    expect(variant(page, 2).get_by_test_id("gate-state")).to_have_count(0)


@pytest.mark.long
def test_a_better_prompt_is_searched_looked_at_and_saved_as_a_variant_that_is_not_active(page):
    page.goto("/agents/hurried")
    page.get_by_test_id("agent-suggest").click()
    page.get_by_test_id("suggest-dataset").click()
    page.get_by_role("option", name="Many sums").click()
    expect(page.get_by_test_id("suggest-note")).to_contain_text("32 cases. Half are learned from")
    page.get_by_test_id("suggest-tools").click()
    page.get_by_role("option", name="Tools are called for real").click()
    expect(page.get_by_role("listbox")).to_have_count(0)  # it fades away
    assert not violations(page)
    page.get_by_test_id("suggest-start").click()
    expect(page.get_by_test_id("suggest-status")).to_have_attribute("data-status", "done", timeout=90_000)
    expect(page.get_by_test_id("suggest-outcome")).to_contain_text("On 8 cases that no proposal saw: 8 better")
    expect(page.get_by_test_id("suggest-proposal")).to_contain_text("The demo model follows a fixed rule")
    expect(page.get_by_test_id("variant-diff")).to_contain_text("max steps")
    assert not violations(page)
    page.get_by_test_id("suggest-save").click()
    expect(page.get_by_test_id("suggest-saved")).to_contain_text("Variant 2 is saved and not active.")
    page.get_by_test_id("suggest-saved").get_by_role("link").click()
    page.get_by_test_id("side-variants").click()
    expect(status(page, 2)).not_to_have_text("Active")
    expect(variant(page, 2)).to_contain_text("Suggested by demo/agent")


@pytest.mark.parametrize("address", ["/agents/hurried/suggest", "/agents/adder"])
def test_on_a_phone_nothing_is_wider_than_the_screen(page, address):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(address)
    expect(page.locator("h1").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
