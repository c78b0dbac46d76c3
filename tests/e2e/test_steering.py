"""Messages while an answer goes on: they wait for its end, or break into it."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.playground import STORY, THREE_TIMES_ENTER, finished, send, start_session, wait_for_text

ENDLESS = "Run this Python code: while True: pass"
BYE = "bye"


def say(page: Page, text: str, key: str = "Enter") -> None:
    """Send while an answer goes on."""
    expect(page.get_by_test_id("stop-button")).to_be_visible()
    page.get_by_test_id("chat-input").fill(text)
    expect(page.get_by_test_id("queue-button")).to_be_visible()
    page.get_by_test_id("chat-input").press(key)
    expect(page.get_by_test_id("chat-input")).to_have_value("")


def test_queued_messages_are_edited_deleted_and_sent_as_the_next_run(
    page: Page, screenshot: Callable[[str], Path]
) -> None:
    start_session(page)
    send(page, STORY)
    wait_for_text(page, 50)
    say(page, "who are you?")
    say(page, "never mind")
    chips = page.get_by_test_id("queued-message")
    expect(chips).to_have_count(2)
    screenshot("queue")

    chips.first.get_by_test_id("queued-edit").click()
    expect(page.get_by_test_id("queued-edit-input")).to_be_focused()
    page.get_by_test_id("queued-edit-input").fill(BYE)
    page.get_by_test_id("queued-save").click()
    expect(chips.first).to_contain_text(BYE)
    chips.filter(has_text="never mind").get_by_test_id("queued-delete").click()
    expect(chips).to_have_count(1)
    expect(chips.get_by_test_id("queued-delete")).to_be_focused()
    page.reload()
    expect(chips).to_have_text(re.compile(BYE))

    say(page, "thanks", key="ControlOrMeta+Enter")
    expect(page.get_by_test_id("user-message")).to_have_text([re.compile(STORY), re.compile("thanks"), re.compile(BYE)])
    expect(chips).to_have_count(0)
    finished(page)
    expect(page.get_by_test_id("assistant-message")).to_have_count(2)
    expect(page.get_by_test_id("assistant-message").last).to_contain_text("Goodbye!")


def test_after_stop_what_is_queued_waits_for_send_now(page: Page, screenshot: Callable[[str], Path]) -> None:
    start_session(page)
    send(page, STORY)
    wait_for_text(page, 50)
    say(page, BYE)
    expect(page.get_by_test_id("queued-message")).to_have_count(1)
    page.get_by_test_id("stop-button").click()
    expect(page.get_by_test_id("queued-words")).to_contain_text("Not sent by itself")
    finished(page)
    screenshot("queue-waits")
    page.get_by_test_id("queued-send-now").click()
    expect(page.get_by_test_id("queued-message")).to_have_count(0)
    expect(page.get_by_test_id("assistant-message").last).to_contain_text("Goodbye!")
    finished(page)


def test_a_steer_in_mid_answer_keeps_the_text_and_goes_on_from_the_new_message(
    page: Page, screenshot: Callable[[str], Path]
) -> None:
    start_session(page)
    answer = send(page, STORY)
    wait_for_text(page, 200)
    page.get_by_test_id("chat-input").fill(BYE)
    page.get_by_test_id("steer-button").click()
    finished(page)
    expect(answer.get_by_test_id("user-message")).to_contain_text(BYE)
    expect(answer).to_contain_text("The island")
    expect(answer).to_contain_text("Goodbye!")
    expect(page.get_by_test_id("assistant-message")).to_have_count(1)
    screenshot("steer-in-mid-answer")
    body = answer.locator(".answer").inner_text()
    page.reload()
    expect(page.get_by_test_id("assistant-message").locator(".answer")).to_have_text(body, use_inner_text=True)


def test_a_steer_in_mid_tool_cancels_the_call(page: Page, screenshot: Callable[[str], Path]) -> None:
    start_session(page)
    answer = send(page, ENDLESS)
    expect(answer.get_by_role("status")).to_have_text(re.compile("Calling"))
    say(page, BYE, key="ControlOrMeta+Enter")
    finished(page)
    expect(answer.get_by_test_id("tool-call")).to_have_count(1)
    expect(answer.get_by_test_id("tool-call")).to_contain_text(re.compile("cancelled", re.IGNORECASE))
    expect(answer).to_contain_text("Goodbye!")
    screenshot("steer-in-mid-tool")


@pytest.mark.parametrize("width", [390])
def test_the_buttons_fit_a_narrow_window(page: Page, width: int, screenshot: Callable[[str], Path]) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    start_session(page)
    send(page, STORY)
    wait_for_text(page, 50)
    say(page, "and then something that is a little too long for a window that is as narrow as this one is")
    expect(page.get_by_test_id("queued-message")).to_have_count(1)
    screenshot("queue-narrow")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_test_id("queued-delete").click()
    expect(page.get_by_test_id("chat-input")).to_be_focused()
    page.get_by_test_id("stop-button").click()
    finished(page)


@pytest.mark.long
def test_on_a_touch_screen_no_keyboard_comes_up_when_a_message_is_taken_away(page: Page) -> None:
    start_session(page)
    send(page, STORY)
    say(page, "never mind")
    page.context.new_cdp_session(page).send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    page.reload()
    page.get_by_test_id("queued-delete").click()
    expect(page.get_by_test_id("queued-message")).to_have_count(0)
    page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    expect(page.get_by_test_id("chat-input")).not_to_be_focused()
    page.get_by_test_id("stop-button").click()
    finished(page)


@pytest.mark.long
def test_a_message_whose_enter_is_pressed_again_and_again_is_taken_once(page: Page) -> None:
    start_session(page)
    send(page, STORY)
    box = page.get_by_test_id("chat-input")
    expect(page.get_by_test_id("stop-button")).to_be_visible()
    box.fill(BYE)
    box.evaluate(THREE_TIMES_ENTER)
    expect(box).to_have_value("")
    box.fill("and then this")
    box.press("Enter")
    expect(page.get_by_test_id("queued-message")).to_have_text([re.compile(BYE), re.compile("and then this")])
    page.get_by_test_id("stop-button").click()
    finished(page)
