"""Talking to an agent in a real browser."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.complaints import Complaints
from tests.e2e.playground import (
    STORY,
    SUM,
    ask,
    finished,
    opened_again_with,
    send,
    start_session,
    streamed,
    wait_for_text,
)


def test_a_sum_is_answered_with_two_tool_calls(page: Page, screenshot: Callable[[str], Path]) -> None:
    start_session(page)
    answer = ask(page, SUM)
    expect(page.get_by_test_id("user-message")).to_contain_text(SUM)
    expect(answer).to_contain_text("45")
    calls = answer.get_by_test_id("tool-call")
    expect(calls).to_have_count(2)
    expect(calls.nth(0).get_by_test_id("tool-result")).to_have_text("5 + 10 = 15")
    expect(calls.nth(1).get_by_test_id("tool-result")).to_contain_text("45")
    expect(calls.nth(0)).to_contain_text("Done")
    screenshot("playground")


def test_an_opened_card_shows_arguments_and_result(page: Page) -> None:
    start_session(page)
    card = ask(page, SUM).get_by_test_id("tool-call").first
    expect(card.get_by_test_id("tool-arguments")).to_have_count(0)
    card.locator("summary").click()
    expect(card.get_by_test_id("tool-arguments")).to_contain_text('"operation": "add"')
    expect(card.get_by_test_id("tool-result")).to_have_text("5 + 10 = 15")
    card.locator("summary").press("Enter")
    expect(card.get_by_test_id("tool-arguments")).to_be_hidden()
    expect(card.get_by_test_id("tool-result").first).to_contain_text("15")


def test_reasoning_waits_behind_one_line(page: Page) -> None:
    start_session(page)
    answer = ask(page, SUM)
    reasoning = answer.get_by_test_id("reasoning")
    expect(reasoning.locator("> summary")).to_have_text("Reasoning (2 steps)")
    reasoning.locator("> summary").click()
    expect(reasoning.locator(".prose")).to_have_count(2)
    expect(reasoning.locator(".prose").first).not_to_be_empty()


@pytest.mark.long
def test_what_was_used_up_is_shown(page: Page) -> None:
    start_session(page)
    expect(page.get_by_test_id("status-pill")).to_have_text("Ready")
    expect(page.get_by_test_id("token-chip")).to_contain_text("0 tokens")
    ask(page, SUM)
    expect(page.get_by_test_id("token-chip")).to_contain_text(re.compile(r"[1-9][\d,]* tokens"))
    expect(page.get_by_test_id("cost-chip")).to_contain_text("$0.00")
    strip = page.get_by_test_id("kpi-strip")
    for words in ("Tokens", "Cost", "Usual model call", "first token", "Status", "Ready"):
        expect(strip).to_contain_text(words)
    expect(page.get_by_test_id("status-bar")).to_contain_text("Idle")
    ask(page, SUM)
    expect(strip.locator("svg")).to_have_count(1)


def test_a_reload_in_mid_answer_loses_nothing(page: Page) -> None:
    start_session(page)
    send(page, STORY)
    for _ in range(3):
        before = wait_for_text(page, len(streamed(page)) + 200)
        page.reload()
        after = wait_for_text(page, len(before))
        assert after.startswith(before[: before.rfind("\n\n")])
    page.get_by_test_id("stop-button").click()
    finished(page)


@pytest.mark.long
def test_two_tabs_show_the_same_answer(page: Page) -> None:
    start_session(page)
    send(page, STORY)
    wait_for_text(page, 1500)
    other = page.context.new_page()
    other.goto(page.url)
    wait_for_text(other, len(streamed(page)))
    page.get_by_test_id("stop-button").click()
    finished(page)
    finished(other)
    body = "[data-testid=assistant-message] .answer"
    assert other.locator(body).inner_text() == page.locator(body).inner_text()
    page.reload()
    finished(page)
    expect(page.locator(body)).to_have_text(other.locator(body).inner_text(), use_inner_text=True)


def test_the_page_says_what_goes_on(page: Page) -> None:
    start_session(page)
    answer = send(page, STORY)
    expect(page.get_by_test_id("status-pill")).to_have_text("Running")
    expect(page.get_by_test_id("stream-state")).to_have_text("Streaming")
    expect(answer.get_by_role("status")).to_have_text(re.compile("Thinking…|Writing…|Starting…"))
    expect(page.get_by_test_id("send-button")).to_be_hidden()
    stop, queue, break_in = (page.get_by_test_id(f"{name}-button") for name in ("stop", "queue", "steer"))
    expect(stop).to_be_visible()
    expect(queue).to_be_hidden()
    page.get_by_test_id("chat-input").fill("and then?")
    expect(queue).to_be_visible()
    expect(break_in).to_have_text(re.compile("Break in"))
    page.get_by_test_id("chat-input").fill("")
    expect(queue).to_be_hidden()
    stop.click()
    finished(page)
    expect(page.get_by_test_id("chat-input")).to_be_focused()


def test_stop_ends_the_answer_and_keeps_its_text(page: Page) -> None:
    start_session(page)
    answer = send(page, STORY)
    wait_for_text(page, 200)
    page.get_by_test_id("stop-button").click()
    finished(page)
    expect(answer.get_by_test_id("message-stopped")).to_be_visible()
    expect(answer).to_contain_text("The island")
    expect(page.get_by_test_id("status-pill")).to_have_text("Ready")
    expect(page.get_by_test_id("stop-button")).to_be_hidden()


@pytest.mark.long
def test_an_example_is_sent_by_a_click(page: Page) -> None:
    page.get_by_test_id("agent-card").filter(has_text="Assistant").click()
    page.get_by_test_id("example").filter(has_text=SUM).click()
    expect(page.get_by_test_id("user-message")).to_contain_text(SUM)
    finished(page)
    expect(page.get_by_test_id("welcome")).to_be_hidden()


@pytest.mark.long
def test_shift_enter_breaks_the_line_and_ctrl_enter_sends(page: Page) -> None:
    start_session(page)
    box = page.get_by_test_id("chat-input")
    box.type("Hello")
    box.press("Shift+Enter")
    box.type("there")
    expect(box).to_have_value("Hello\nthere")
    box.press("Control+Enter")
    expect(page.get_by_test_id("user-message").locator(".user-bubble")).to_have_text("Hello\nthere")
    expect(box).to_have_value("")
    finished(page)


def test_typed_text_outlives_a_reload(page: Page) -> None:
    start_session(page)
    page.get_by_test_id("chat-input").fill("not sent yet")
    page.reload()
    expect(page.get_by_test_id("chat-input")).to_have_value("not sent yet")
    opened_again_with(page, "not sent yet")


@pytest.mark.long
def test_what_was_sent_from_another_tab_does_not_come_back(page: Page) -> None:
    start_session(page)
    page.get_by_test_id("chat-input").fill("What is 1 + 1?")
    opened_again_with(page, "What is 1 + 1?").get_by_test_id("chat-input").press("Enter")
    expect(page.get_by_test_id("user-message")).to_be_visible()
    page.reload()
    finished(page)
    expect(page.get_by_test_id("user-message")).to_have_count(1)
    expect(page.get_by_test_id("chat-input")).to_have_value("")


def test_what_is_refused_stays_though_the_message_before_it_was_taken(page: Page) -> None:
    start_session(page)
    box = page.get_by_test_id("chat-input")
    box.evaluate("""(box) => ["bye", "   "].forEach((text) => {
        box.value = text;
        box.dispatchEvent(new Event("input"));
        box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
    })""")
    expect(page.get_by_test_id("user-message")).to_contain_text("bye")
    finished(page)
    expect(page.get_by_test_id("composer-note")).to_contain_text("empty")
    expect(box).to_have_value("   ")


def test_an_empty_message_is_refused_in_words(page: Page) -> None:
    start_session(page)
    page.get_by_test_id("chat-input").fill("   ")
    page.get_by_test_id("send-button").click()
    expect(page.get_by_test_id("composer-note")).to_contain_text("empty")
    expect(page.get_by_test_id("assistant-message")).to_have_count(0)


@pytest.mark.long
def test_letters_that_browsers_count_twice_are_sent(page: Page) -> None:
    start_session(page)
    ask(page, "Hello 😀")
    expect(page.get_by_test_id("user-message")).to_contain_text("Hello 😀")


@pytest.mark.long
def test_a_megabyte_is_refused_in_words_and_kept(page: Page) -> None:
    start_session(page)
    box = page.get_by_test_id("chat-input")
    box.evaluate("box => { box.value = 'x'.repeat(1048576); box.dispatchEvent(new Event('input')); }")
    page.get_by_test_id("send-button").click()
    expect(page.get_by_test_id("composer-note")).to_contain_text("1,048,576 characters")
    assert len(box.input_value()) == 1048576
    page.reload()
    expect(page.get_by_test_id("chat-input")).to_be_visible()
    assert len(page.get_by_test_id("chat-input").input_value()) == 1048576


def test_a_message_can_be_edited_and_sent_again(page: Page) -> None:
    start_session(page)
    ask(page, "What is 1 + 1?")
    ask(page, "What is 2 + 2?")
    first = page.get_by_test_id("user-message").first
    first.hover()
    first.get_by_test_id("edit-button").click()
    editor = page.get_by_test_id("edit-input")
    editor.fill("What is 20 + 22?")
    page.get_by_test_id("edit-send-button").click()
    expect(page.get_by_test_id("user-message")).to_have_count(1)
    expect(page.get_by_test_id("user-message")).to_contain_text("20 + 22")
    finished(page)
    expect(page.get_by_test_id("assistant-message")).to_contain_text("42")


def test_an_answer_can_be_given_again_and_copied(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    start_session(page)
    ask(page, SUM)
    page.get_by_test_id("regenerate-button").click()
    expect(page.get_by_test_id("copy-button")).to_have_count(0)
    finished(page)
    expect(page.get_by_test_id("assistant-message")).to_have_count(1)
    page.get_by_test_id("copy-button").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert "45" in page.evaluate("navigator.clipboard.readText()")


def test_a_failure_says_what_to_do_and_can_be_retried(page: Page) -> None:
    start_session(page)
    answer = ask(page, "fail with an invalid key error")
    card = answer.get_by_test_id("message-error")
    expect(card).to_contain_text("The key was not accepted")
    expect(card).to_contain_text("Check the key in Settings")
    expect(page.get_by_test_id("status-pill")).to_have_text("Failed")
    run_link = answer.get_by_test_id("open-run").get_attribute("href")
    card.get_by_test_id("retry-button").click()
    expect(page.get_by_test_id("open-run")).not_to_have_attribute("href", run_link or "")
    finished(page)
    expect(page.get_by_test_id("message-error")).to_have_count(1)


def test_code_shows_its_language_and_can_be_copied(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    start_session(page)
    code = ask(page, 'Run this Python code: print("hello")').locator(".answer > .prose .prose-code").first
    code.get_by_role("button", name="Copy this code").click()
    expect(code.get_by_role("button", name="Copy this code")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == code.locator("pre").text_content()


@pytest.mark.long
def test_python_prints_on_its_card(page: Page) -> None:
    start_session(page)
    card = ask(page, 'Run this Python code: print("hello")').get_by_test_id("tool-call").first
    card.locator("summary").click()
    expect(card.get_by_test_id("tool-printed")).to_contain_text("hello")


@pytest.mark.long
def test_files_are_listed_and_shown(page: Page) -> None:
    start_session(page)
    answer = ask(page, "Write a shopping list to /list.txt, then read it back")
    answer.get_by_test_id("tool-call").first.locator("summary").click()
    expect(answer.get_by_test_id("tool-call").first.locator(".diff-added")).not_to_have_count(0)
    page.get_by_test_id("session-file").filter(has_text="/list.txt").click()
    expect(page.get_by_test_id("file-view").locator("pre")).not_to_be_empty()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("file-view")).to_have_count(0)


@pytest.mark.long
def test_the_reader_is_left_alone_while_text_arrives(page: Page) -> None:
    start_session(page)
    send(page, STORY)
    wait_for_text(page, 1500)
    log = page.get_by_role("log")
    at_end = "log => log.scrollHeight - log.scrollTop - log.clientHeight < 48"
    assert log.evaluate(at_end)
    log.hover()
    page.mouse.wheel(0, -400)
    expect(page.get_by_test_id("jump-to-latest")).to_be_visible()
    place = log.evaluate("log => log.scrollTop")
    wait_for_text(page, len(streamed(page)) + 300)
    assert log.evaluate("log => log.scrollTop") == place
    page.get_by_test_id("jump-to-latest").click()
    expect(page.get_by_test_id("jump-to-latest")).to_have_count(0)
    wait_for_text(page, len(streamed(page)) + 300)
    assert log.evaluate(at_end)
    page.get_by_test_id("stop-button").click()
    finished(page)


def test_hostile_words_are_only_words(page: Page, complaints: Complaints) -> None:
    start_session(page)
    hostile = "<img src=https://evil.example/x onerror='window.hacked=1'><script>window.hacked=1</script>"
    ask(page, hostile)
    expect(page.get_by_test_id("user-message")).to_contain_text("<script>")
    assert page.evaluate("window.hacked") is None


@pytest.mark.blank
def test_an_unknown_session_has_words_and_a_way_back(page: Page) -> None:
    page.goto("/playground/nosuchsession")
    expect(page.get_by_test_id("trouble")).to_contain_text("no session")
    page.get_by_role("link", name="Go to the Overview").click()
    expect(page.get_by_test_id("overview")).to_be_visible()


@pytest.mark.blank
def test_an_unknown_address_has_words_and_a_way_back(page: Page, complaints: Complaints) -> None:
    complaints.expect("404")
    page.goto("/nowhere/at/all")
    expect(page.get_by_test_id("trouble")).to_contain_text("no such page")
    page.get_by_role("link", name="Go to the Overview").click()
    expect(page.get_by_test_id("overview")).to_be_visible()
