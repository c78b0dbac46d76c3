"""Model calls that fail, as a person meets them: the card, the countdown, the buttons."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.playground import ask, finished, send, start_session

LIMITED = "Fail with rate limit"


def test_a_rate_limit_counts_down_and_can_be_given_up(page: Page, screenshot: Callable[[str], Path]) -> None:
    start_session(page)
    answer = send(page, LIMITED)
    card = answer.get_by_test_id("retry-card")
    expect(card).to_contain_text("Too many requests")
    expect(card.get_by_test_id("retry-countdown")).to_have_text(re.compile(r"Trying again in [1-5] s\."))
    screenshot("rate-limit-countdown")
    card.get_by_test_id("give-up-button").click()
    finished(page)
    expect(answer.get_by_test_id("message-error")).to_contain_text("Too many requests")
    expect(answer.get_by_test_id("failed-attempt").last).to_contain_text("Given up after")
    expect(card).to_have_count(0)


@pytest.mark.long
def test_a_rate_limit_is_tried_again_at_once(page: Page) -> None:
    start_session(page)
    answer = send(page, LIMITED)
    expect(answer.get_by_test_id("retry-card")).to_contain_text("Attempt 1 failed")
    answer.get_by_test_id("retry-now-button").click()
    expect(answer.get_by_test_id("retry-card")).to_contain_text("Attempt 2 failed")
    expect(answer.get_by_test_id("failed-attempt").first).to_contain_text("Tried again after")
    page.reload()
    answer = page.get_by_test_id("assistant-message").last
    expect(answer.get_by_test_id("retry-card")).to_contain_text(re.compile("Attempt [234] failed"))
    page.get_by_test_id("stop-button").click()
    finished(page)
    expect(answer.get_by_test_id("message-stopped")).to_be_visible()
    expect(answer.get_by_test_id("retry-card")).to_have_count(0)
    answer.get_by_test_id("open-run").click()
    attempts = page.get_by_test_id("failed-attempts")
    attempts.locator("summary").click()
    expect(attempts.get_by_test_id("failed-attempt").first).to_contain_text("Too many requests. Tried again after")


def test_an_answer_that_is_cut_off_is_not_shown_as_finished(page: Page) -> None:
    start_session(page)
    answer = ask(page, "Get cut off")
    expect(answer).to_contain_text("in the middle of the third it")
    expect(answer.get_by_test_id("message-error")).to_contain_text("The answer broke off")
    expect(page.get_by_test_id("status-pill")).to_have_text("Failed")
    ask(page, "Get cut off in a tool call")
    expect(page.get_by_test_id("message-error")).to_have_count(2)
    expect(page.get_by_test_id("tool-call")).to_have_count(0)


def test_a_card_offers_what_helps(page: Page, screenshot: Callable[[str], Path]) -> None:
    start_session(page)
    card = ask(page, "Fail with an invalid key").get_by_test_id("message-error")
    expect(card).to_contain_text("The key was not accepted")
    expect(card).to_contain_text("environment variable")
    screenshot("invalid-key")
    card.get_by_test_id("pick-model-button").click()
    expect(page.get_by_test_id("model-list")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("model-list")).to_be_hidden()
    card = ask(page, "Fail with context overflow").get_by_test_id("message-error")
    card.get_by_test_id("shorten-button").click()
    expect(page.get_by_test_id("edit-input")).to_have_value("Fail with context overflow")
