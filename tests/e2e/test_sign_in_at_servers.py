"""A server that asks to sign in: from its page, in the middle of a run, after a restart; by keyboard, on a phone."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on
from tests.e2e.complaints import LOST, Complaints
from tests.e2e.conftest import WINDOW
from tests.e2e.playground import finished, send, start_session
from tests.e2e.test_accessible import PHONE
from tests.e2e.test_keyboard import press
from tests.e2e.test_mcp import has_status, opened
from tests.oauth_servers import PERSON, Manners, Servers, beside

pytestmark = [pytest.mark.blank, pytest.mark.long]


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with beside(Manners(shows_a_page=True)) as servers:
        yield servers


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with app_on(tmp_path_factory.mktemp("guarded"), module="tests.e2e.guarded_app") as app:
        yield app


@pytest.fixture(autouse=True)
def may_leave(complaints: Complaints, servers: Servers) -> None:
    """Here a person goes where the link leads; pages still load nothing from there."""
    complaints.expect(rf"request off this origin: {servers.issuer}/(authorize|consent)\?")


def paste(page: Page, servers: Servers) -> None:
    page.goto("/tools")
    page.get_by_test_id("add-mcp-button").click()
    page.get_by_test_id("mcp-json").fill(json.dumps({"mcpServers": {"guarded": {"url": servers.url}}}))
    page.get_by_test_id("mcp-add").click()
    page.get_by_test_id("consent-button").click()
    has_status(page, "sign-in")


def decide(page: Page, link: Locator, choice: str) -> str:
    """Follow the link by keyboard, choose there, and give where the browser ends up."""
    link.focus()
    with page.context.expect_page() as opening:
        page.keyboard.press("Enter")
    tab = opening.value
    tab.locator(f"#{choice}").click()
    tab.wait_for_load_state()
    said = tab.locator("h1").inner_text()
    tab.wait_for_url(lambda url: "/oauth/callback" not in url)
    assert "code=" not in tab.url and tab.evaluate("window.opener") is None
    tab.close()
    return said


def call(page: Page, name: str) -> Locator:
    return send(page, json.dumps({"name": name, "arguments": {}}))


def looked_at(page: Page, screenshot: Callable[[str], Path], name: str) -> None:
    """Nothing is wrong for anybody, wide and light, narrow and dark."""
    assert violations(page) == []
    screenshot(name)
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(PHONE)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    screenshot(f"{name}-phone")
    page.set_viewport_size(WINDOW)
    page.emulate_media(color_scheme="light")


def test_one_signs_in_on_the_servers_page_and_in_the_middle_of_a_run(
    page: Page, servers: Servers, app_process: AppProcess, screenshot: Callable[[str], Path]
) -> None:
    paste(page, servers)
    section = page.get_by_test_id("mcp-sign-in")
    press(page, section.get_by_role("button", name="Use a client of your own"))
    expect(section).to_contain_text(f"{app_process.url}/oauth/callback")
    looked_at(page, screenshot, "sign-in-own-client")
    servers.manners.metadata["code_challenge_methods_supported"] = ["plain"]
    press(page, page.get_by_test_id("sign-in-button"), back=True)
    expect(section.get_by_role("alert")).to_contain_text("does not say that it takes S256")
    del servers.manners.metadata["code_challenge_methods_supported"]
    page.get_by_test_id("sign-in-button").click()
    expect(section.get_by_test_id("sign-in-host")).to_have_text(f"127.0.0.1:{servers.authority}")
    expect(section.get_by_test_id("sign-in-scopes")).to_have_text("read")
    expect(section.get_by_test_id("sign-in-link")).to_be_focused()
    looked_at(page, screenshot, "sign-in-server")
    assert decide(page, section.get_by_test_id("sign-in-link"), "allow") == "Thank you"
    has_status(page, "ready")
    expect(section.get_by_test_id("signed-in")).to_contain_text(PERSON)
    looked_at(page, screenshot, "signed-in-server")

    page.goto("/playground")
    start_session(page, "Obedient")
    answer = call(page, "guarded__change")
    card = answer.get_by_test_id("sign-in-card")
    expect(card.get_by_test_id("sign-in-scopes")).to_contain_text("write")
    looked_at(page, screenshot, "sign-in-card")
    assert decide(page, card.get_by_test_id("sign-in-link"), "allow") == "Thank you"
    finished(page)
    expect(answer).to_contain_text("Signed in at")
    expect(answer.get_by_test_id("tool-result").first).to_contain_text("changed by read write")
    assert servers.calls["change"] == 1


def test_one_signs_in_on_the_overview(page: Page) -> None:
    page.goto("/tools/server/guarded")
    page.get_by_test_id("sign-out-button").click()
    has_status(page, "sign-in")
    page.get_by_test_id("nav-overview").click()
    waits = page.locator("[data-testid=matter][data-kind=server]")
    expect(waits).to_contain_text("Waits for you to sign in")
    press(page, waits.get_by_test_id("matter-sign-in"))
    link = waits.get_by_role("link", name=re.compile(r"^Sign in at 127\.0\.0\.1:\d+"))
    expect(waits).to_contain_text("It asks for read.")
    assert decide(page, link, "allow") == "Thank you"
    expect(waits).to_have_count(0)


def test_who_says_no_is_told_to_the_model_and_signs_out_by_the_page(page: Page, servers: Servers) -> None:
    page.goto("/tools/server/guarded")
    page.get_by_test_id("sign-out-button").click()
    has_status(page, "sign-in")
    assert servers.asked["revoke"] == 4
    page.goto("/playground")
    start_session(page, "Obedient")
    answer = call(page, "guarded__whoami")
    card = answer.get_by_test_id("sign-in-card")
    assert decide(page, card.get_by_test_id("sign-in-link"), "deny") == "Not signed in"
    finished(page)
    expect(answer).to_contain_text("Not signed in at")
    expect(answer.get_by_test_id("tool-result").first).to_contain_text("access_denied")

    refused = call(page, "guarded__whoami")
    press(page, refused.get_by_test_id("sign-in-card").get_by_test_id("deny-button"), back=True)
    finished(page)
    expect(refused.get_by_test_id("tool-result").first).to_contain_text("Nobody signed in")


def test_a_run_that_was_left_goes_on_once_somebody_signs_in(
    page: Page, app_process: AppProcess, complaints: Complaints
) -> None:
    complaints.expect(LOST)
    page.goto("/playground")
    start_session(page, "Obedient")
    call(page, "guarded__whoami")
    expect(page.get_by_test_id("sign-in-card")).to_be_visible()
    address = page.url
    app_process.kill()
    page.goto("about:blank")
    app_process.start()
    page.goto(app_process.address)
    page.wait_for_url(lambda url: "token=" not in url)
    page.goto(address)
    card = page.get_by_test_id("sign-in-card")
    expect(card.get_by_test_id("pause-left")).to_contain_text("goes on with the same call")
    decide(page, card.get_by_test_id("sign-in-link"), "allow")
    finished(page)
    expect(page.get_by_test_id("tool-result").first).to_contain_text("read")

    page.goto("/tools/server/guarded")
    page.get_by_test_id("sign-out-button").click()
    has_status(page, "sign-in")
    opened(page, "guarded__whoami")
    page.get_by_test_id("tool-run-button").click()
    decide(page, page.get_by_test_id("call-question").get_by_test_id("sign-in-link"), "allow")
    expect(page.get_by_test_id("tool-call-by-hand-result")).to_contain_text("read")
