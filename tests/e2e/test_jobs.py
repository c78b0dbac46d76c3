"""Runs in the background: started in the composer, watched, stopped and resumed on their page, told of everywhere."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.app_process import AppProcess
from tests.e2e.apps import app_on
from tests.e2e.playground import finished, send, start_session


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with app_on(tmp_path_factory.mktemp("jobs"), module="tests.e2e.obeying_app") as app:
        yield app


def until(file: Path) -> str:
    """The message that makes a run last until there is that file."""
    return json.dumps({"name": "wait_for", "arguments": {"path": str(file)}})


def run_in_background(page: Page, text: str) -> None:
    """In the session that is open."""
    box = page.get_by_test_id("chat-input")
    box.fill(text)
    box.press("ControlOrMeta+Shift+Enter")
    expect(box).to_have_value("")


def open_jobs(page: Page) -> Locator:
    """The rows of the list."""
    page.get_by_test_id("nav-jobs").click()
    expect(page.get_by_test_id("jobs-count")).to_have_text(re.compile(r"\d+ run"))
    return page.get_by_test_id("job-row")


def status(row: Locator) -> Locator:
    return row.locator(".pill")


def start_again(page: Page, app: AppProcess) -> None:
    """Kill the app without a chance to say goodbye, then start it on the same data."""
    page.goto("about:blank")
    app.kill()
    app.start()
    page.goto(app.address)
    page.wait_for_url(lambda url: "token=" not in url)


def newest_run(app: AppProcess) -> str:
    return max((app.data / "runs").glob("*.tdb"), key=lambda file: file.stat().st_mtime).stem


def test_without_jobs_the_page_says_how_to_start_one(page: Page) -> None:
    open_jobs(page)
    expect(page.get_by_text("No background runs yet")).to_be_visible()
    expect(page.get_by_text("Run in background")).to_be_visible()


def test_a_message_is_run_in_the_background_and_its_end_is_told_in_every_tab(
    page: Page, context: BrowserContext, tmp_path: Path, screenshot: Callable[[str], Path]
) -> None:
    other = context.new_page()
    other.goto("/agents")
    expect(other.get_by_test_id("agent-card").first).to_be_visible()
    start_session(page, "Obedient")
    run_in_background(page, until(tmp_path / "there"))
    expect(page.get_by_test_id("background-notice")).to_contain_text("Running in the background")
    expect(page.get_by_test_id("assistant-message")).to_have_count(0)
    expect(page.get_by_test_id("jobs-badge")).to_have_text("1")

    row = open_jobs(page).first
    expect(row).to_contain_text("started by you")
    expect(status(row)).to_have_text("Running")
    expect(row.get_by_test_id("job-progress")).to_have_text("Step 1: Calling Wait for…")
    screenshot("jobs")
    (tmp_path / "there").touch()
    expect(status(row)).to_have_text("Completed")
    expect(row.get_by_test_id("job-progress")).to_have_text("2 steps, 1 tool call")
    expect(page.get_by_test_id("jobs-badge")).to_have_count(0)
    for tab in (page, other):
        expect(tab.get_by_test_id("job-notice")).to_contain_text("finished")
    other.get_by_test_id("job-notice").get_by_role("link", name="Open").click()
    expect(other.get_by_test_id("status-pill")).to_have_text("Completed")
    other.close()
    row.get_by_test_id("job-conversation").click()
    expect(page.get_by_test_id("assistant-message")).to_contain_text("That was it.")


@pytest.mark.long
def test_a_job_is_stopped_in_the_list_and_found_by_how_it_stands(page: Page, tmp_path: Path) -> None:
    start_session(page, "Obedient")
    page.get_by_test_id("chat-input").press("ControlOrMeta+Shift+Enter")
    expect(page.get_by_test_id("composer-note")).to_contain_text("The message is empty")
    page.get_by_test_id("chat-input").fill(until(tmp_path / "never"))
    page.get_by_test_id("send-menu").click()
    page.get_by_test_id("background-button").click()
    expect(page.get_by_test_id("background-notice")).to_be_visible()
    rows = open_jobs(page)
    page.get_by_test_id("jobs-running").click()
    expect(rows).to_have_count(1)
    rows.get_by_test_id("job-stop").click()
    expect(page.get_by_text("Nothing is running")).to_be_visible()
    expect(page.get_by_test_id("job-notice")).to_contain_text("stopped")
    page.get_by_test_id("jobs-finished").click()
    expect(status(rows.first)).to_have_text("Stopped")
    expect(page).to_have_url(re.compile(r"/jobs\?show=finished$"))


@pytest.mark.long
def test_jobs_that_the_app_left_are_resumed_or_given_up(page: Page, app_process: AppProcess, tmp_path: Path) -> None:
    start_session(page, "Obedient")
    for file in ("never", "there"):
        run_in_background(page, until(tmp_path / file))
    expect(page.get_by_test_id("jobs-badge")).to_have_text("2")
    rows = open_jobs(page)
    for row in (rows.nth(0), rows.nth(1)):
        expect(row.get_by_test_id("job-progress")).to_contain_text("Calling Wait for")
    start_again(page, app_process)

    rows = open_jobs(page)
    expect(status(rows.nth(0))).to_have_text("Interrupted")
    expect(status(rows.nth(1))).to_have_text("Interrupted")
    (tmp_path / "there").touch()
    rows.nth(0).get_by_test_id("job-resume").click()
    expect(status(rows.nth(0))).to_have_text("Completed")
    rows.nth(1).get_by_test_id("job-open").click()
    expect(page.get_by_test_id("run-resume")).to_be_visible()
    page.get_by_test_id("run-give-up").click()
    expect(page.get_by_test_id("status-pill")).to_have_text("Stopped")
    expect(page.get_by_test_id("run-resume")).to_have_count(0)


@pytest.mark.long
@pytest.mark.parametrize("place", ["session", "run page"])
def test_an_answer_that_a_kill_cut_off_is_resumed(
    page: Page, app_process: AppProcess, tmp_path: Path, place: str, screenshot: Callable[[str], Path]
) -> None:
    start_session(page, "Obedient")
    answer = send(page, until(tmp_path / "there"))
    expect(answer.get_by_role("status")).to_have_text(re.compile("Calling Wait for"))
    session, run = page.url, f"/runs/{newest_run(app_process)}"
    start_again(page, app_process)
    (tmp_path / "there").touch()
    if place == "session":
        page.goto(session)
        page.get_by_test_id("resume-button").click()
    else:
        page.goto(run)
        screenshot("run-left")
        page.get_by_test_id("run-resume").click()
        expect(page.get_by_test_id("status-pill")).to_have_text("Completed")
        page.goto(session)
    expect(page.get_by_test_id("run-resumed")).to_be_visible()
    finished(page)
    expect(page.get_by_test_id("assistant-message")).to_have_count(1)
    expect(answer).to_contain_text("That was it.")
    expect(answer.get_by_test_id("open-run")).to_have_attribute("href", run)


def test_a_run_in_the_background_has_no_tool_that_is_off_in_the_session(page: Page) -> None:
    start_session(page, "Obedient")
    switch = page.get_by_role("switch", name="Recite in this session")
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "false")
    run_in_background(page, json.dumps({"name": "recite", "arguments": {"lines": 2}}))
    row = open_jobs(page).first
    expect(status(row)).to_have_text("Completed")
    expect(row.get_by_test_id("job-progress")).to_have_text("2 steps, 1 tool call")
    row.get_by_test_id("job-conversation").click()
    expect(page.get_by_test_id("tool-call")).to_contain_text("no tool")
