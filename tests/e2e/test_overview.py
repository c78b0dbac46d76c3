"""The Overview: what waits is settled there, it follows what happens, and leads on."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on
from tests.e2e.conftest import WINDOW
from tests.e2e.playground import finished, send, start_session
from tests.e2e.test_jobs import run_in_background, start_again, until

PHONE = {"width": 390, "height": 844}
BESIDE = """(matter) => {
  const [symbol, title] = [".material-icons", "strong"].map((one) => matter.querySelector(one).getBoundingClientRect());
  return title.top < symbol.bottom;
}"""
"""Both at one moment: the page may still be taking on its new width."""


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with app_on(tmp_path_factory.mktemp("overview"), module="tests.e2e.obeying_app") as app:
        yield app


def call(name: str, **arguments: object) -> str:
    return json.dumps({"name": name, "arguments": arguments})


def overview(page: Page) -> Page:
    page.get_by_test_id("nav-overview").click()
    expect(page.get_by_test_id("overview-disk")).to_be_visible()
    return page


def matter(page: Page, kind: str) -> Locator:
    return page.locator(f"[data-testid=matter][data-kind={kind}]")


def accessible(page: Page) -> None:
    for dark, width in ((False, WINDOW), (True, PHONE)):
        page.evaluate("dark => Quasar.Dark.set(dark)", dark)
        expect(page.locator("body")).to_have_class(re.compile("body--dark" if dark else "body--light"))
        page.set_viewport_size(width)
        page.add_style_tag(content="* { transition: none !important; animation: none !important; }")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    page.set_viewport_size(WINDOW)
    page.evaluate("Quasar.Dark.set(false)")


@pytest.mark.blank
def test_a_newcomer_is_met_by_the_guide_and_agents_and_is_one_key_from_the_playground(
    page: Page, app_process: AppProcess, screenshot: Callable[[str], Path]
) -> None:
    page.goto(app_process.address)
    page.wait_for_url(f"{app_process.url}/")
    expect(page).to_have_title("Overview · Agent Playground")
    expect(page.get_by_test_id("nav-overview")).to_have_attribute("aria-current", "page")
    expect(page.get_by_test_id("setup-offer")).to_be_visible()
    expect(page.get_by_test_id("overview-count")).to_contain_text("Nothing waits for you")
    expect(page.get_by_test_id("overview-week")).to_contain_text("Nothing was run")
    expect(page.get_by_test_id("overview-disk")).to_contain_text("GB free")
    screenshot("overview-first")
    accessible(page)
    page.keyboard.press("p")
    expect(page).to_have_url(f"{app_process.url}/playground")
    page.go_back()
    expect(page.get_by_test_id("overview-disk")).to_be_visible()
    page.get_by_role("button", name="New session with Assistant", exact=True).press("Enter")
    expect(page.get_by_test_id("welcome")).to_contain_text("Assistant")


def test_a_call_is_allowed_and_a_question_answered_on_the_overview(
    page: Page, screenshot: Callable[[str], Path]
) -> None:
    start_session(page, "Obedient")
    answer = send(page, call("add", x=20, y=22))
    expect(answer.get_by_test_id("approve-button")).to_be_visible()
    session = page.url
    overview(page)
    card = page.get_by_test_id("overview-pause")
    expect(card).to_contain_text("Obedient")
    expect(card.get_by_test_id("approval-card")).to_contain_text("Add")
    expect(page.get_by_test_id("nav-overview").get_by_test_id("waiting-badge")).to_have_text("1")
    screenshot("overview-pause")
    accessible(page)
    card.get_by_test_id("approve-button").press("Enter")
    expect(card).to_have_count(0)
    expect(page.get_by_test_id("overview-count")).to_contain_text("Nothing waits")
    expect(page.get_by_test_id("waiting-badge")).to_have_count(0)
    page.goto(session)
    finished(page)
    expect(page.get_by_test_id("tool-result").first).to_contain_text("20 + 22 = 42")

    send(page, call("tailor"))
    overview(page)
    asked = page.get_by_test_id("question-card")
    asked.get_by_label("Size").fill("44")
    asked.get_by_test_id("answer-button").click()
    expect(asked).to_have_count(0)
    page.goto(session)
    finished(page)
    expect(page.get_by_test_id("tool-result").last).to_contain_text('accept {"size": 44}')


@pytest.mark.long
def test_what_begins_to_wait_elsewhere_comes_while_one_looks_and_goes_when_it_is_decided_there(page: Page) -> None:
    elsewhere = page.context.new_page()
    elsewhere.goto("/playground")
    overview(page)
    start_session(elsewhere, "Obedient")
    answer = send(elsewhere, call("add", x=1, y=2))
    card = page.get_by_test_id("overview-pause")
    expect(card).to_be_visible()
    expect(page.get_by_test_id("overview-session").first).to_contain_text("Paused")
    card.get_by_test_id("deny-note").fill("typed here")
    answer.get_by_test_id("deny-button").click()
    expect(card).to_have_count(0)
    finished(elsewhere)
    expect(page.get_by_test_id("overview-runs")).to_contain_text("3")


def test_a_failed_job_is_dismissed_brought_back_and_tried_again(page: Page, screenshot: Callable[[str], Path]) -> None:
    start_session(page, "Obedient")
    run_in_background(page, "this is no call")
    overview(page)
    failed = matter(page, "job")
    expect(failed).to_contain_text("this is no call")
    expect(page.get_by_test_id("overview-failures")).to_contain_text("1")
    screenshot("overview-job")
    accessible(page)
    page.set_viewport_size(PHONE)
    assert failed.evaluate(BESIDE), "what it is stands below its symbol"
    page.set_viewport_size(WINDOW)
    failed.get_by_test_id("matter-dismiss").click()
    expect(failed).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(failed).to_have_count(1)
    failed.get_by_test_id("matter-again").click()
    page.wait_for_url("**/playground/*")
    expect(page.get_by_test_id("message-error").last).to_be_visible()
    overview(page)
    expect(failed).to_have_count(0)


@pytest.mark.long
def test_a_message_that_waits_behind_a_stopped_run_is_counted_and_sent(page: Page, tmp_path: Path) -> None:
    start_session(page, "Obedient")
    send(page, until(tmp_path / "first"))
    expect(page.get_by_test_id("tool-call")).to_be_visible()
    box = page.get_by_test_id("chat-input")
    box.fill(call("add", x=3, y=4))
    box.press("Enter")
    expect(page.get_by_test_id("queued-message")).to_have_count(1)
    page.get_by_test_id("stop-button").click()
    expect(page.get_by_test_id("stream-state")).to_have_text("Idle")
    session = page.url
    page.get_by_test_id("nav-monitoring").click()
    page.get_by_test_id("monitoring-counts").get_by_role("link", name="1 message").click()
    page.wait_for_url(session)
    page.get_by_test_id("nav-monitoring").click()
    expect(page.get_by_test_id("monitoring-counts")).to_contain_text("1 message queued")
    overview(page)
    waits = matter(page, "queue")
    expect(waits).to_contain_text("1 queued message, first: ")
    waits.get_by_test_id("matter-send").press("Enter")
    expect(waits).to_have_count(0)
    page.get_by_test_id("overview-pause").get_by_test_id("approve-button").click()
    expect(page.get_by_test_id("overview-pause")).to_have_count(0)


@pytest.mark.long
def test_a_run_that_a_kill_cut_off_is_resumed_on_the_overview(
    page: Page, app_process: AppProcess, tmp_path: Path
) -> None:
    start_session(page, "Obedient")
    run_in_background(page, until(tmp_path / "there"))
    expect(page.get_by_test_id("jobs-badge")).to_have_text("1")
    start_again(page, app_process)
    left = matter(page, "run")
    expect(left).to_contain_text("was interrupted")
    (tmp_path / "there").touch()
    left.get_by_test_id("matter-resume").click()
    expect(left).to_have_count(0)
    expect(page.get_by_test_id("job-notice")).to_contain_text("finished")


@pytest.mark.long
@pytest.mark.blank
def test_what_is_not_saved_of_an_agent_is_shown_and_discarded_with_undo(page: Page) -> None:
    page.goto("/agents/obedient")
    page.get_by_test_id("prompt-editor").get_by_role("textbox").click()
    page.keyboard.type("Be brief.")
    expect(page.get_by_test_id("editor-tab-prompt")).to_contain_text("not saved")
    overview(page)
    unsaved = matter(page, "copy")
    expect(unsaved).to_contain_text("Obedient")
    expect(unsaved.get_by_test_id("matter-open")).to_have_attribute("href", "/agents/obedient")
    unsaved.get_by_test_id("matter-discard").click()
    expect(unsaved).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(unsaved).to_have_count(1)
    unsaved.get_by_test_id("matter-discard").click()
    expect(unsaved).to_have_count(0)


def test_nothing_is_drawn_twice_while_it_is_filled(page: Page) -> None:
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    overview(page)
    page.get_by_test_id("nav-jobs").click()
    expect(page.get_by_test_id("jobs-count")).to_be_visible()
    assert not [one for one in heard if "Re-rendering" in one]


def test_the_page_is_small_and_its_figures_open_the_runs_behind_them(page: Page) -> None:
    overview(page)
    assert page.get_by_test_id("overview").locator("*").count() < 500
    expect(page.get_by_test_id("chart")).to_contain_text("Runs of 14 days")
    page.get_by_test_id("overview-failures").click()
    expect(page).to_have_url(re.compile(r"/runs\?from=\d{4}-\d\d-\d\d&status=failed"))
    expect(page.get_by_test_id("run-row").first).to_contain_text("this is no call")


def test_a_link_of_the_navigation_keeps_its_click_and_the_focus_as_a_run_begins_to_wait(page: Page) -> None:
    elsewhere = page.context.new_page()
    elsewhere.goto("/playground")
    start_session(elsewhere, "Obedient")
    page.get_by_test_id("nav-agents").hover()
    page.mouse.down()
    answer = send(elsewhere, call("add", x=1, y=2))
    waiting = page.get_by_test_id("waiting-badge")
    expect(waiting).to_have_text("1")
    page.mouse.up()
    page.wait_for_url("**/agents")

    link = page.get_by_test_id("nav-tools")
    link.focus()
    answer.get_by_test_id("deny-button").click()
    expect(waiting).to_have_count(0)
    expect(link).to_be_focused()
