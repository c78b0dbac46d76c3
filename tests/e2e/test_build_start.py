"""How somebody begins in Build: with a template, by the tour, from a run; in a real browser."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from app.paths import assets
from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.playground import SUM, ask, start_session

pytestmark = pytest.mark.blank

PHONE = {"width": 390, "height": 844}
ANSWER = 60_000
TEMPLATES = [
    pytest.param("Sort a request", "update it first", marks=pytest.mark.long),
    pytest.param("Summarise files", "There are no files to summarise", marks=pytest.mark.long),
    pytest.param(
        "Write, review, revise", "the release moves to Friday. Anna writes the notes.", marks=pytest.mark.long
    ),
    pytest.param("Three tools side by side", "is a Friday in week 2027-W17", marks=pytest.mark.long),
    ("Ask before sending", ""),
]


def example(template: str) -> str:
    told = [json.loads(path.read_text("utf-8")) for path in sorted(Path(assets() / "workflows").glob("*.json"))]
    return next(one["examples"][-1 if template == "Sort a request" else 0] for one in told if one["name"] == template)


def created(page: Page, template: str, named: str = "My") -> None:
    page.goto("/build?new=1")
    page.get_by_test_id("agent-name-input").fill(f"{named} {template}")
    page.get_by_test_id("template-option").filter(has_text=template).click()
    page.get_by_test_id("create-agent-button").click()
    expect(page.get_by_test_id("agent-name")).to_have_text(f"{named} {template}")


def tried(page: Page, text: str) -> None:
    page.get_by_test_id("workflow-run-button").click()
    box = page.get_by_test_id("try-chat").locator("textarea")
    expect(box).to_be_focused()
    page.keyboard.type(text)
    page.keyboard.press("Enter")


@pytest.mark.parametrize(("template", "words"), TEMPLATES)
def test_a_template_opens_without_a_fault_with_a_note_and_runs(page: Page, template: str, words: str) -> None:
    created(page, template)
    expect(page.get_by_test_id("node-count")).to_contain_text("no faults")
    expect(page.locator(".wf-node[data-kind=note]")).to_contain_text("How it works")
    expect(page.locator(".q-notification")).to_have_count(0)
    assert violations(page) == []
    tried(page, "The app crashes when I log in" if template == "Sort a request" else example(template))
    if words:
        expect(page.get_by_test_id("assistant-message")).to_contain_text(words, timeout=ANSWER)
        return
    expect(page.get_by_text("Shall this be sent?").first).to_be_visible(timeout=ANSWER)
    box = page.get_by_test_id("try-chat").get_by_role("textbox", name="text")
    expect(box).to_have_value(re.compile("the party is on Friday at six"))
    assert violations(page) == []
    box.fill("Thank you all!")
    page.get_by_test_id("answer-button").click()
    expect(page.get_by_test_id("assistant-message")).to_contain_text("Sent: Thank you all!", timeout=ANSWER)


def test_what_a_template_needs_is_brought_and_named_once(page: Page) -> None:
    for named in ("First", "Second"):
        created(page, "Write, review, revise", named)
    page.goto("/agents")
    expect(page.get_by_test_id("agent-card").filter(has_text="Reviewer")).to_have_count(1)


@pytest.mark.long
def test_the_tour_is_taken_by_keyboard_alone_and_gone_on_with_after_a_reload(page: Page) -> None:
    page.goto("/build")
    expect(page.get_by_test_id("tour-offer")).to_contain_text("A tour takes two minutes")
    assert violations(page) == []
    page.get_by_test_id("tour-start").focus()
    page.keyboard.press("Enter")
    tour = page.get_by_test_id("build-tour")
    expect(tour).to_contain_text("1 of 5 · Choose a node.")
    page.locator(".wf-view").focus()
    page.keyboard.press("ArrowRight")
    expect(tour).to_contain_text("2 of 5 · Add a node.")
    page.keyboard.press("a")
    page.get_by_test_id("add-transform").focus()
    page.keyboard.press("Enter")
    expect(tour).to_contain_text("3 of 5 · Leave no fault.")
    page.reload()
    expect(tour).to_contain_text("3 of 5 · Leave no fault.")
    assert violations(page) == []
    page.get_by_test_id("workflow-fault").first.focus()
    page.keyboard.press("Enter")
    page.get_by_test_id("node-code").focus()
    page.keyboard.type("input.text")
    expect(tour).to_contain_text("4 of 5 · Run it.")
    page.get_by_test_id("workflow-run-button").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("try-chat").locator("textarea")).to_be_focused()
    page.keyboard.type("Hello there")
    page.keyboard.press("Enter")
    expect(tour).to_contain_text("5 of 5 · Save it.", timeout=ANSWER)
    page.get_by_test_id("save-variant-button").focus()
    page.keyboard.press("Enter")
    expect(tour).to_contain_text("That was all.")
    page.get_by_test_id("tour-next").focus()
    page.keyboard.press("Enter")
    expect(tour).to_be_hidden()
    page.goto("/build")
    expect(page.get_by_test_id("agent-card")).not_to_have_count(0)
    expect(page.get_by_test_id("tour-offer")).to_have_count(0)


def test_the_tour_is_skipped_step_by_step_closed_and_opened_again(page: Page) -> None:
    created(page, "Blank workflow")
    tour = page.get_by_test_id("build-tour")
    expect(tour).to_be_hidden()
    page.get_by_test_id("tour-open").click()
    expect(tour).to_contain_text("1 of 5")
    page.get_by_test_id("tour-next").click()
    expect(tour).to_contain_text("2 of 5")
    page.get_by_test_id("tour-close").click()
    expect(tour).to_be_hidden()
    page.get_by_test_id("tour-open").click()
    expect(tour).to_contain_text("2 of 5")


@pytest.mark.long
def test_a_run_becomes_a_workflow_from_its_answer_and_from_its_page(page: Page) -> None:
    page.goto("/playground")
    start_session(page)
    answer = ask(page, SUM)
    run = answer.get_by_test_id("open-run").get_attribute("href") or ""
    answer.hover()
    answer.get_by_test_id("make-workflow-button").click()
    page.wait_for_url("**/build/assistant-as-nodes")
    expect(page.get_by_test_id("node-count")).to_contain_text("7 nodes · no faults")
    assert violations(page) == []
    page.goto(run)
    page.get_by_test_id("make-workflow-button").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/build/assistant-as-nodes-2")
    tried(page, SUM)
    expect(page.get_by_test_id("assistant-message")).to_contain_text("15 * 3 = 45", timeout=ANSWER)


@pytest.fixture
def phone(browser: Browser, app_process: AppProcess) -> Iterator[Page]:
    profile = browser.new_context(base_url=app_process.url, viewport=PHONE, has_touch=True, is_mobile=True)
    profile.request.get(app_process.address, max_redirects=0)
    yield profile.new_page()
    profile.close()


@pytest.mark.long
def test_the_tour_and_a_template_are_used_by_touch(phone: Page) -> None:
    phone.goto("/build?new=1")
    phone.get_by_test_id("agent-name-input").fill("By touch")
    phone.get_by_test_id("template-option").filter(has_text="Three tools").tap()
    phone.get_by_test_id("create-agent-button").tap()
    expect(phone.get_by_test_id("node-count")).to_contain_text("no faults")
    phone.get_by_test_id("tour-open").tap()
    expect(phone.get_by_test_id("build-tour")).to_contain_text(" of 5")
    assert violations(phone) == []
    phone.get_by_test_id("tour-next").tap()
    phone.locator("li[data-node=day]").get_by_test_id("list-open").tap()
    expect(phone.get_by_test_id("node-title")).to_have_value("Which day?")
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
