"""Keys that count wherever one is: Escape closes what is on top and at last stops the answer, ? lists them all."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.accessible import violations
from tests.e2e.playground import STORY, finished, send, start_session, wait_for_text

pytestmark = pytest.mark.long


def test_escape_closes_what_is_open_on_top_before_it_stops_the_answer(page: Page) -> None:
    start_session(page)
    send(page, STORY)
    wait_for_text(page, 50)
    stop, box = page.get_by_test_id("stop-button"), page.get_by_test_id("chat-input")

    page.get_by_test_id("send-menu").click()
    menu = page.get_by_test_id("background-button")
    expect(menu).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()

    page.keyboard.press("Control+k")
    expect(page.get_by_test_id("palette-input")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("command-palette")).to_be_hidden()

    box.fill("later")
    box.press("Enter")
    page.get_by_test_id("queued-edit").click()
    page.get_by_test_id("queued-edit-input").press("Escape")
    expect(page.get_by_test_id("queued-edit-input")).to_have_count(0)
    page.get_by_test_id("queued-delete").click()
    expect(page.get_by_test_id("queued-message")).to_have_count(0)

    page.get_by_test_id("prompt-editor").get_by_role("textbox").press("Escape")
    page.get_by_test_id("variant-select").click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("option")).to_have_count(0)
    expect(stop).to_be_visible()

    box.press("Escape")
    expect(page.get_by_test_id("message-stopped")).to_be_visible()
    finished(page)
    expect(box).to_be_focused()


def test_escape_closes_the_navigation_of_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    start_session(page)
    page.get_by_label("Show or hide the navigation").click()
    expect(page.get_by_test_id("nav-runs")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("nav-runs")).not_to_be_in_viewport()


def test_a_question_mark_lists_all_shortcuts_but_not_while_one_types(page: Page) -> None:
    start_session(page)
    page.keyboard.type("why?")
    expect(page.get_by_test_id("chat-input")).to_have_value("why?")
    expect(page.get_by_test_id("shortcuts")).to_have_count(0)
    page.locator(".transcript-scroll").focus()
    page.keyboard.press("?")
    shortcuts = page.get_by_test_id("shortcuts")
    for words in ("Stop the answer", "Save the prompt", "break into it", "Show this list"):
        expect(shortcuts).to_contain_text(words)
    expect(page.locator(".q-dialog__inner:not([class*=active])")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(shortcuts).to_have_count(0)
