"""Branches of a conversation in a browser: made, stepped through by mouse and keyboard, kept over a reload."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.playground import ask, finished, send, start_session, wait_for_text


def steps(page: Page) -> Locator:
    return page.get_by_test_id("branches")


def asked(page: Page) -> Locator:
    return page.get_by_test_id("user-message").locator(".user-bubble")


def answer_again(page: Page, number: int) -> None:
    page.get_by_test_id("assistant-message").nth(number).get_by_role("button", name="Answer again").click()


def test_an_older_answer_is_given_again_and_nothing_is_lost(page):
    start_session(page)
    ask(page, "What is 1 + 1?")
    ask(page, "What is 2 + 2?")
    answer_again(page, 0)
    expect(asked(page)).to_have_text(["What is 1 + 1?"])
    finished(page)
    expect(steps(page)).to_have_text(["‹2 / 2›"])

    steps(page).get_by_role("button", name="Previous branch").click()
    expect(asked(page)).to_have_text(["What is 1 + 1?", "What is 2 + 2?"])
    expect(steps(page)).to_have_text(["‹1 / 2›"])
    page.reload()
    expect(asked(page)).to_have_text(["What is 1 + 1?", "What is 2 + 2?"])
    expect(steps(page)).to_have_text(["‹1 / 2›"])


def test_branches_are_made_and_walked_by_keyboard_alone(page):
    start_session(page)
    ask(page, "What is 1 + 1?")
    edit = page.get_by_role("button", name="Edit and send again")
    edit.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("edit-input")).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("What is 3 + 3?")
    page.keyboard.press("ControlOrMeta+Enter")
    expect(asked(page)).to_have_text(["What is 3 + 3?"])
    finished(page)
    steps(page).get_by_role("button", name="Previous branch").focus()
    page.keyboard.press("ArrowLeft")
    expect(asked(page)).to_have_text(["What is 1 + 1?"])
    expect(steps(page).get_by_role("button", name="Next branch")).to_be_focused()
    page.keyboard.press("ArrowRight")

    expect(asked(page)).to_have_text(["What is 3 + 3?"])
    expect(steps(page)).to_have_text(["‹2 / 2›"])


@pytest.mark.long
def test_an_answer_that_is_written_on_another_branch_is_named_and_a_message_waits_for_it(page):
    start_session(page)
    ask(page, "What is 1 + 1?")
    answer_again(page, 0)
    finished(page)
    send(page, "Tell me a long story")
    wait_for_text(page, 50)
    # By its key: while a story grows, the page follows it, and goes from under the mouse until somebody scrolls.
    steps(page).get_by_role("button", name="Previous branch").press("Enter")
    notice = page.get_by_test_id("answer-elsewhere")
    expect(notice).to_contain_text("An answer is being written on another branch.")
    notice.get_by_role("button", name="Show it").click()
    expect(asked(page)).to_have_text(["What is 1 + 1?", "Tell me a long story"])
    expect(notice).to_have_count(0)
    page.get_by_role("button", name="Stop").first.click()
    finished(page)
