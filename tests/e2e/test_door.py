"""The door as the owner's browser meets it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.app_process import AppProcess
from tests.e2e.complaints import Complaints

OFF_ORIGIN = "https://evil.example/pixel.png"


@pytest.fixture
def context(browser: Browser, app_process: AppProcess) -> Iterator[BrowserContext]:
    """A profile that has never been past the door."""
    profile = browser.new_context(base_url=app_process.url)
    profile.new_page()
    yield profile
    profile.close()


def test_the_token_leaves_the_address_and_stays_out_of_reach_of_scripts(page: Page, app_process: AppProcess) -> None:
    page.goto(app_process.address)
    page.wait_for_url(f"{app_process.url}/")
    assert app_process.token not in page.evaluate("document.cookie + location.href + document.referrer")


def test_the_cookie_opens_the_app_in_another_tab(page: Page, context: BrowserContext, app_process: AppProcess) -> None:
    second = context.new_page()
    answer = second.goto("/")

    assert answer
    assert answer.status == 200


def test_a_stranger_is_told_which_address_to_open(context: BrowserContext) -> None:
    stranger = context.new_page()
    answer = stranger.goto("/")

    assert answer
    assert answer.status == 401
    expect(stranger.get_by_role("heading")).to_have_text("Agent Playground is locked")


def test_localhost_leads_to_the_address_the_app_answers_as(context: BrowserContext, app_process: AppProcess) -> None:
    tab = context.new_page()
    tab.goto(f"http://localhost:{app_process.port}/?token={app_process.token}")
    tab.wait_for_url(f"{app_process.url}/")


def test_the_page_may_load_nothing_from_elsewhere(page: Page, complaints: Complaints) -> None:
    complaints.expect("evil.example")
    loaded = page.evaluate(
        "src => new Promise(done => { const i = new Image(); i.onload = () => done(true); "
        "i.onerror = () => done(false); i.src = src })",
        OFF_ORIGIN,
    )

    assert loaded is False
    assert any("Content Security Policy" in complaint for complaint in complaints.heard)
