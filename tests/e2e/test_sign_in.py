"""A browser that is signed in: over restarts, by a launch page, and until everyone is signed out."""

import json
import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.app_process import AppProcess
from tests.e2e.apps import app_on
from tests.e2e.complaints import LOST, Complaints
from tests.e2e.playground import finished, send, start_session


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    home = tmp_path_factory.mktemp("home")
    folder = tmp_path_factory.mktemp("signed-in")
    with app_on(folder, module="tests.e2e.obeying_app", environment={"HOME": str(home)}) as app:
        yield app


@pytest.fixture
def other(browser: Browser, app_process: AppProcess) -> Iterator[BrowserContext]:
    """Another browser, which was shown nothing yet."""
    profile = browser.new_context(base_url=app_process.url)
    yield profile
    profile.close()


def launch_page(app: AppProcess) -> str:
    """The address of a file that lets one browser in, as a second start is given it."""
    key = {"Authorization": f"Bearer {app.token}"}
    return f"file://{httpx.post(f'{app.url}/api/v1/launch-pages', headers=key).json()['data']['file']}"


def test_an_open_tab_a_bookmark_and_a_card_that_waits_go_on_after_a_restart(
    page: Page, context: BrowserContext, app_process: AppProcess, complaints: Complaints
) -> None:
    complaints.expect(LOST)
    start_session(page, "Obedient")
    send(page, json.dumps({"name": "add", "arguments": {"x": 20, "y": 22}}))
    expect(page.get_by_test_id("approval-card")).to_be_visible()
    address, before = page.url, app_process.token

    app_process.kill()
    app_process.start()

    assert app_process.token != before
    bookmark = context.new_page()
    bookmark.goto(address)
    expect(bookmark.get_by_test_id("approve-button")).to_be_visible()
    expect(page.locator("#popup")).to_have_attribute("aria-hidden", "true")
    page.get_by_test_id("approve-button").click()
    expect(page.get_by_test_id("run-resumed")).to_be_visible()
    expect(page.get_by_test_id("tool-result").first).to_contain_text("20 + 22 = 42")


def test_a_launch_page_lets_a_browser_in_and_leaves_nothing_behind(
    other: BrowserContext, app_process: AppProcess
) -> None:
    address = launch_page(app_process)
    tab = other.new_page()
    tab.goto(address)
    tab.wait_for_url(f"{app_process.url}/")
    expect(tab.get_by_test_id("overview")).to_be_visible()
    (cookie,) = other.cookies()
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and cookie["value"] not in tab.content()
    with pytest.raises(Exception, match="ERR_FILE_NOT_FOUND"):
        tab.goto(address)

    again = other.new_page()
    again.goto(launch_page(app_process))
    again.wait_for_url(f"{app_process.url}/")
    assert other.cookies()[0]["value"] == cookie["value"], "it was signed in already"


@pytest.mark.long
def test_the_printed_address_of_an_earlier_start_lets_nobody_in(
    other: BrowserContext, page: Page, app_process: AppProcess, complaints: Complaints
) -> None:
    complaints.expect(LOST)
    before = app_process.address
    app_process.restart()
    stranger = other.new_page()
    answer = stranger.goto(before)
    assert answer and answer.status == 401
    page.goto(before)
    expect(page.get_by_test_id("overview")).to_be_visible()


@pytest.mark.long
def test_everyone_is_signed_out_but_who_asks_for_it(
    page: Page, other: BrowserContext, app_process: AppProcess, complaints: Complaints
) -> None:
    complaints.expect(LOST)
    complaints.expect("401")
    theirs = other.new_page()
    theirs.goto(app_process.address)
    expect(theirs.get_by_test_id("overview")).to_be_visible()
    page.goto("/settings?section=browsers")
    expect(page.get_by_test_id("signed-in-browsers")).to_have_text(re.compile(r"^\d+ browsers signed in\."))
    mine = page.context.cookies()[0]["value"]

    page.get_by_test_id("sign-everyone-out").click()
    page.get_by_test_id("question-confirm").click()

    expect(page.get_by_test_id("signed-in-browsers")).to_have_text(re.compile(r"^1 browser signed in\."))
    expect(theirs.get_by_role("heading", name="Agent Playground is locked")).to_be_visible()
    assert page.context.cookies()[0]["value"] != mine
    page.goto("/playground")
    start_session(page, "Obedient")
    send(page, json.dumps({"name": "add", "arguments": {"x": 1, "y": 2}})).get_by_test_id("approve-button").click()
    finished(page)
