"""A run waits for its owner: allow, deny with a reason, change the arguments, always allow; also after a restart."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app_process import AppProcess
from tests.e2e.apps import app_on
from tests.e2e.playground import finished, send, start_session
from tests.e2e.test_keyboard import press


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with app_on(tmp_path_factory.mktemp("pauses"), module="tests.e2e.obeying_app") as app:
        yield app


def call(page: Page, name: str, **arguments: object) -> Locator:
    """The answer to a message that makes this call, in the session that is open."""
    return send(page, json.dumps({"name": name, "arguments": arguments}))


@pytest.mark.long
def test_a_call_is_allowed_denied_with_a_reason_changed_and_always_allowed(page: Page) -> None:
    start_session(page, "Obedient")
    allowed = call(page, "add", x=1, y=2)
    expect(page.get_by_test_id("waiting-badge")).to_have_text("1")
    expect(page).to_have_title(re.compile(r"^\(1\) "))
    press(page, allowed.get_by_test_id("approve-button"), back=True)
    expect(page.get_by_test_id("chat-input")).to_be_focused()
    finished(page)
    expect(allowed.get_by_test_id("tool-result").first).to_contain_text("1 + 2 = 3")
    expect(page.get_by_test_id("waiting-badge")).to_have_count(0)
    expect(page).not_to_have_title(re.compile(r"^\(\d+\) "))

    denied = call(page, "add", x=1, y=3)
    denied.get_by_test_id("deny-note").fill("too easy")
    denied.get_by_test_id("deny-button").click()
    finished(page)
    expect(denied).to_contain_text("Denied: Add (too easy)")
    expect(denied.get_by_test_id("tool-result").first).to_contain_text("The user denied this call: too easy")

    changed = call(page, "add", x=1, y=4)
    changed.get_by_test_id("edit-arguments-button").click()
    expect(changed.get_by_test_id("approval-card").get_by_label("x", exact=True)).to_be_focused()
    changed.get_by_test_id("keep-arguments-button").click()
    expect(changed.get_by_test_id("edit-arguments-button")).to_be_focused()
    changed.get_by_test_id("edit-arguments-button").press("Enter")
    changed.get_by_test_id("approval-card").get_by_label("y", exact=True).fill("5")
    changed.get_by_test_id("approve-button").click()
    finished(page)
    expect(changed).to_contain_text("Allowed: Add, with other arguments")
    expect(changed.get_by_test_id("tool-result").first).to_contain_text("1 + 5 = 6")

    always = call(page, "add", x=1, y=6)
    always.get_by_test_id("always-button").click()
    finished(page)
    unasked = call(page, "add", x=1, y=7)
    finished(page)
    expect(unasked.get_by_test_id("tool-result").first).to_contain_text("1 + 7 = 8")
    expect(unasked.get_by_test_id("approval-card")).to_have_count(0)

    expect(page.get_by_test_id("allowed-tool")).to_contain_text("Add")
    page.get_by_test_id("ask-again-button").click()
    expect(page.get_by_test_id("allowed-tool")).to_have_count(0)
    asked = call(page, "add", x=1, y=8)
    asked.get_by_test_id("approve-button").click()
    finished(page)


def test_nothing_is_allowed_before_all_of_it_was_shown(page: Page) -> None:
    start_session(page, "Obedient")
    answer = call(page, "write_down", text="harmless " * 3000 + "\u202eand not \U000e0041 at all" + " " * 500 + "END")
    card = answer.get_by_test_id("approval-card")
    expect(card.get_by_test_id("approve-button")).to_be_disabled()
    expect(card.get_by_test_id("always-button")).to_be_disabled()
    expect(card).to_contain_text("of 27,5")
    card.locator("pre").focus()
    page.keyboard.press("Tab")
    expect(card.get_by_test_id("show-arguments-button")).to_be_focused()
    page.keyboard.press("Enter")
    expect(card.locator("pre")).to_be_focused()
    expect(card.locator("pre")).to_contain_text(r"\u202eand not \udb40\udc41 at all")
    assert card.locator("pre").evaluate(
        "one => [one.scrollHeight - one.clientHeight, one.scrollWidth - one.clientWidth]"
    ) == [0, 0]
    page.keyboard.press("Tab")
    expect(card.get_by_test_id("approve-button")).to_be_focused()
    page.keyboard.press("Enter")
    finished(page)
    expect(answer.get_by_test_id("tool-result").first).to_contain_text("27520 characters")


@pytest.mark.long
def test_a_pause_is_heard_by_those_who_switched_the_sound_on(page: Page) -> None:
    page.evaluate("""() => {
      window.tones = 0;
      const start = OscillatorNode.prototype.start;
      OscillatorNode.prototype.start = function (...moment) { window.tones += 1; return start.apply(this, moment); };
    }""")
    start_session(page, "Obedient")
    call(page, "add", x=1, y=2).get_by_test_id("approve-button").click()
    finished(page)
    assert page.evaluate("tones") == 0
    page.get_by_test_id("pause-sound").click()
    expect(page.get_by_test_id("pause-sound")).to_have_attribute("aria-checked", "true")
    page.wait_for_function("tones === 2")
    page.evaluate("localStorage.removeItem('chimed')")
    card = call(page, "add", x=1, y=3)
    page.wait_for_function("tones === 4")
    card.get_by_test_id("approve-button").click()
    finished(page)
    page.get_by_test_id("pause-sound").click()
    expect(page.get_by_test_id("pause-sound")).to_have_attribute("aria-checked", "false")


def test_a_card_outlives_the_app_and_its_run_goes_on(page: Page, app_process: AppProcess) -> None:
    start_session(page, "Obedient")
    card = call(page, "add", x=20, y=22).get_by_test_id("approval-card")
    expect(card).to_be_visible()
    address = page.url
    page.goto("about:blank")
    app_process.kill()
    app_process.start()
    page.goto(app_process.playground)
    page.wait_for_url(lambda url: "token=" not in url)
    expect(page.get_by_test_id("waiting-badge")).to_have_text("1")
    page.get_by_test_id("session-row").filter(has_text="Paused").get_by_role("link").click()
    expect(page).to_have_url(address)
    expect(page.get_by_test_id("pause-left")).to_be_visible()
    expect(page.get_by_test_id("status-pill")).to_have_text("Paused")
    page.get_by_test_id("approve-button").click()
    expect(page.get_by_test_id("run-resumed")).to_be_visible()
    finished(page)
    answer = page.get_by_test_id("assistant-message").last
    expect(answer.get_by_test_id("tool-result").first).to_contain_text("20 + 22 = 42")
    expect(answer).to_contain_text("That was it.")
    expect(page.get_by_test_id("waiting-badge")).to_have_count(0)
