"""Running on from a step in a real browser: what is edited, what is said before, and the run that comes of it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from app.domain.events import ToolCalled, ToolReturned
from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on, workbench_on

pytestmark = pytest.mark.blank

SUM = "What is 5 + 10, then multiply by 3?"
TASK = "Spawn a task that calculates 12 * 7"
SEEN: dict[str, int | str] = {}
"""The run that was made before the app started, and the places of its first call and that one's result."""


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with app_on(tmp_path_factory.mktemp("forks"), seed) as app:
        yield app


async def seed(folder: Path) -> None:
    async with workbench_on(folder) as workbench:
        session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
        live = await workbench.chat.send(session.id, SUM)
        await live.ended()
        SEEN["run"] = live.run_id
        SEEN["call"] = next(entry.seq for entry in live.entries if isinstance(entry.event, ToolCalled))
        tools = tuple(ToolChoice(name=name) for name in ("spawn_task", "join_task", "calculator"))
        behaviour = PromptBehaviour(model="demo/agent", tools=tools)
        leader = await workbench.agents.create(new_agent("Leader", behaviour, taken_slugs=workbench.agents.slugs()))
        handing_over = await workbench.chat.new_session(leader.id)
        asking = await workbench.chat.send(handing_over.id, TASK)
        await asking.ended()
        SEEN["parent"] = asking.run_id
        SEEN["handed"] = next(entry.seq for entry in asking.entries if isinstance(entry.event, ToolCalled))
        SEEN["result"] = next(entry.seq for entry in live.entries if isinstance(entry.event, ToolReturned))


def open_dialog(page: Page, seq: int | str, run: str = "run") -> None:
    page.goto(f"/runs/{SEEN[run]}?step={seq}")
    step = page.locator(f"[data-testid=run-step][data-seq='{seq}']")
    step.hover()
    step.get_by_test_id("fork-button").click()
    expect(page.get_by_test_id("fork-dialog")).to_be_visible()
    expect(page.get_by_test_id("fork-check")).to_contain_text("reused")


def test_a_result_is_edited_and_the_run_goes_on_from_it(page: Page):
    open_dialog(page, SEEN["result"])
    expect(page.get_by_test_id("fork-edit")).to_be_focused()
    page.get_by_test_id("fork-edit").fill("5 + 10 = 20")
    expect(page.get_by_test_id("fork-check")).to_contain_text("1 step reused with 1 result")
    page.get_by_test_id("fork-start").click()
    expect(page).not_to_have_url(re.compile(str(SEEN["run"])))
    expect(page).to_have_url(re.compile(r"/runs/[a-z0-9]{16}"))
    results = page.locator("[data-testid=run-step][data-step-type=tool-result]")  # the answer says it, too
    expect(results.filter(has_text="5 + 10 = 20")).to_have_count(1)
    expect(page.get_by_test_id("forked-from")).to_be_visible()
    expect(page.locator("[data-testid=run-step][data-step-type=agent-response]")).to_be_visible()
    expect(page.get_by_test_id("status-pill")).to_have_text("Completed")
    page.get_by_test_id("fork-compare").click()
    comparison = page.get_by_test_id("fork-comparison")
    expect(comparison).to_contain_text("1 step reused, 2 new")
    expect(comparison.get_by_role("row")).to_have_count(4)


@pytest.mark.long
def test_a_fork_is_a_branch_of_its_conversation_unless_it_is_to_stand_apart(page: Page):
    open_dialog(page, SEEN["result"])
    expect(page.get_by_test_id("fork-join")).to_be_checked()
    page.get_by_test_id("fork-start").click()
    expect(page).not_to_have_url(re.compile(str(SEEN["run"])))
    page.get_by_role("link", name="Open its session").or_(page.get_by_test_id("open-session")).first.click()
    expect(page.get_by_test_id("branches").first).to_contain_text("/")


@pytest.mark.long
def test_where_the_results_of_a_tool_come_from_is_chosen_for_each(page: Page):
    open_dialog(page, SEEN["result"])
    check = page.get_by_test_id("fork-check")
    page.get_by_test_id("fork-tools").get_by_text("Tools (").click()
    tool = page.locator("[data-testid=fork-tool][data-tool=calculator]")
    choose(page, tool, "From here on", "Give it the recorded results, never call it")
    expect(check).not_to_contain_text("run: calculator")
    choose(page, tool, "Up to here", "Call it again for real")
    expect(check).to_contain_text("calculator is called again at once, and nobody is asked")
    choose(page, tool, "Up to here", "Keep the results it gave")
    expect(check).not_to_contain_text("called again")
    choose(page, tool, "From here on", "Always answer with the text below")
    tool.get_by_label("Result of every call").fill("It is 99")
    page.get_by_test_id("fork-start").click()
    expect(page).not_to_have_url(re.compile(str(SEEN["run"])))
    expect(page.get_by_test_id("run-step").filter(has_text="It is 99").first).to_be_visible()


@pytest.mark.long
def test_a_child_run_is_nested_where_it_was_started_and_its_money_counts(page: Page):
    page.goto(f"/runs/{SEEN['parent']}")
    child = page.get_by_test_id("child-steps").first
    expect(child.get_by_test_id("run-step")).to_have_count(0)
    child.locator("summary").first.focus()
    page.keyboard.press("Enter")
    expect(child.get_by_test_id("run-step").last).to_contain_text("84")
    expect(child.get_by_test_id("fork-button")).to_have_count(0)
    expect(page.get_by_test_id("cost-chip")).to_contain_text("with 1 run below")
    assert violations(page) == []
    page.get_by_test_id("tab-waterfall").click()
    inner = page.locator("[data-testid=waterfall-row][data-depth='1']")
    expect(inner.first).to_be_visible()
    inner.first.click()
    expect(page).not_to_have_url(re.compile(str(SEEN["parent"])))
    expect(page.get_by_test_id("run-step").first).to_be_visible()
    page.get_by_test_id("back-to-runs").click()
    expect(page.get_by_test_id("run-row").first).to_be_visible()


def test_a_run_opens_its_conversation_on_its_branch(page: Page):
    page.goto(f"/runs/{SEEN['run']}")
    page.get_by_role("link", name="Open its session").click()
    expect(page.get_by_test_id("user-message").filter(has_text=SUM).first).to_be_visible()


def choose(page: Page, tool: Locator, label: str, option: str) -> None:
    tool.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option, exact=True).click()
    expect(page.get_by_role("listbox")).to_have_count(0)
    expect(tool).to_contain_text(option)


def test_arguments_that_are_none_are_told_before_anything_runs(page: Page):
    open_dialog(page, SEEN["call"])
    expect(page.get_by_test_id("fork-check")).to_contain_text("calculator is called again at once, and nobody is asked")
    page.get_by_test_id("fork-edit").fill("five")
    expect(page.get_by_test_id("fork-check")).to_contain_text("JSON object")
    expect(page.get_by_test_id("fork-start")).to_be_disabled()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_test_id("fork-dialog")).to_have_count(0)
    expect(page).to_have_url(re.compile(str(SEEN["run"])))


def test_tasks_are_not_begun_again_unless_that_is_chosen(page: Page):
    open_dialog(page, SEEN["handed"], "parent")
    check = page.get_by_test_id("fork-check")
    expect(check).to_contain_text("not begun again")
    expect(check).not_to_contain_text(re.compile(r"really run: [^.]*spawn_task"))
    page.get_by_test_id("fork-tools").get_by_text("Tools (").click()
    tool = page.locator("[data-testid=fork-tool][data-tool=spawn_task]")
    expect(tool).to_contain_text("Give it the recorded results, never call it")
    choose(page, tool, "From here on", "Call it for real")
    expect(check).to_contain_text(re.compile(r"really run: [^.]*spawn_task"))
    joining = page.locator("[data-testid=fork-tool][data-tool=join_task]")
    expect(joining).to_contain_text("Recorded result where there is one, else call it")
    expect(check).not_to_contain_text("not begun again")
