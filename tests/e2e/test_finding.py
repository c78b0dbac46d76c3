"""Conversations are found again: in the list beside one, in the palette and on the landing."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.e2e.accessible import violations
from tests.e2e.playground import STORY, ask, finished, send, start_session, wait_for_text
from tests.e2e.test_keyboard import press

pytestmark = pytest.mark.long

PHONE: ViewportSize = {"width": 390, "height": 844}
WIDE: ViewportSize = {"width": 1720, "height": 900}


def rows(page: Page) -> Locator:
    return page.get_by_test_id("chat-row")


def row(page: Page, title: str) -> Locator:
    return rows(page).filter(has_text=title)


def talk(page: Page, *questions: str) -> str:
    """A session in which that was asked; its address."""
    page.goto("/playground")
    start_session(page)
    for question in questions:
        ask(page, question)
    return page.url


def asked(page: Page) -> Locator:
    return page.get_by_test_id("user-message").locator(".user-bubble")


def open_list(page: Page) -> None:
    if not page.get_by_test_id("chat-list").is_visible():
        page.get_by_test_id("chat-list-button").click()
    expect(page.get_by_test_id("chat-list-search")).to_be_focused()


def test_an_old_conversation_is_found_by_keyboard_alone_at_the_branch_that_says_it(page: Page) -> None:
    old = talk(page, "What is 1 + 1?", "Tell me of quinces")
    page.get_by_role("button", name="Answer again").first.click()
    finished(page)
    expect(asked(page)).to_have_text(["What is 1 + 1?"])
    talk(page, "What is 2 + 2?")
    press(page, page.get_by_test_id("chat-list-button"), back=True)
    expect(page.get_by_test_id("chat-list-search")).to_be_focused()
    page.keyboard.type("quince")
    expect(rows(page)).to_have_count(1)
    expect(rows(page).locator("mark")).to_have_text("quince")
    expect(page.get_by_test_id("chat-list")).to_contain_text("1 session found")
    press(page, rows(page).get_by_role("link"))
    expect(asked(page)).to_have_text(["What is 1 + 1?", "Tell me of quinces"])
    expect(asked(page).nth(1)).to_be_in_viewport()
    expect(page.locator(".turn.is-found")).to_have_css("animation-name", "found")
    expect(page.get_by_test_id("chat-list-search")).to_have_value("quince")
    expect(page).to_have_url(f"{old}?find=quince")
    page.reload()
    expect(asked(page)).to_have_text(["What is 1 + 1?", "Tell me of quinces"])


def test_the_palette_finds_what_was_said_and_shows_the_words(page: Page) -> None:
    talk(page, "What is 3 + 3?", "Tell me of medlars")
    page.goto("/runs")
    page.keyboard.press("ControlOrMeta+k")
    page.get_by_test_id("palette-input").fill("medlars")
    expect(page.locator(".palette-found mark")).to_have_text("medlars")
    assert violations(page) == []
    page.keyboard.press("Enter")
    expect(asked(page)).to_have_text(["What is 3 + 3?", "Tell me of medlars"])


@pytest.mark.blank
def test_the_landing_finds_what_was_said(page: Page) -> None:
    address = talk(page, "What is 4 + 4?", "Tell me of damsons")
    page.goto("/playground")
    page.get_by_test_id("session-search").fill("damsons")
    expect(page.get_by_test_id("session-row")).to_have_count(1)
    expect(page.get_by_test_id("session-row").locator("mark")).to_have_text("damsons")
    page.get_by_test_id("session-row").get_by_role("link").click()
    expect(asked(page)).to_have_text(["What is 4 + 4?", "Tell me of damsons"])
    expect(page).to_have_url(address)


def test_what_runs_and_what_is_new_shows_by_itself_and_the_list_stays_as_it_was_left(page: Page) -> None:
    page.set_viewport_size(WIDE)
    talk(page, "What is 5 + 5?")
    expect(row(page, "5 + 5").get_by_role("link")).to_have_attribute("aria-current", "page")
    other = page.context.new_page()
    other.goto("/playground")
    start_session(other)
    send(other, STORY)
    wait_for_text(other, 20)
    expect(row(page, STORY).first).to_contain_text("Running")
    other.get_by_role("button", name="Stop").first.click()
    finished(other)
    expect(row(page, STORY).first).not_to_contain_text("Running")
    page.get_by_test_id("chat-list-close").click()
    expect(page.get_by_test_id("chat-list")).to_be_hidden()
    expect(page.get_by_test_id("chat-list-button")).to_be_focused()
    page.reload()
    expect(page.get_by_test_id("chat-input")).to_be_visible()
    expect(page.get_by_test_id("chat-list")).to_be_hidden()
    page.evaluate("localStorage.removeItem('chat-list')")


@pytest.mark.blank
def test_a_conversation_is_exported_and_copied_by_keyboard_alone(page: Page, tmp_path: Path) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    talk(page, "Tell me of sloes")
    press(page, page.get_by_test_id("session-menu-button"), back=True)
    expect(page.get_by_test_id("session-rename")).to_be_focused()
    assert violations(page) == []
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    expect(page.get_by_test_id("session-html")).to_be_focused()
    with page.expect_download() as begun:
        page.keyboard.press("Enter")
    assert begun.value.suggested_filename == "tell-me-of-sloes.html"
    saved = tmp_path / "saved.html"
    begun.value.save_as(saved)
    assert "Tell me of sloes" in saved.read_text(encoding="utf-8")

    expect(page.get_by_test_id("session-menu-button")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("session-rename")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Copied")).to_be_visible()
    copied = """text => navigator.clipboard.readText().then((read) => read.startsWith(text))"""
    page.wait_for_function(copied, arg="You:\nTell me of sloes\n\nAssistant:\n")


@pytest.mark.blank
def test_a_conversation_is_renamed_pinned_and_deleted_with_undo_where_it_stands(page: Page) -> None:
    page.set_viewport_size(WIDE)
    talk(page, "What is 6 + 6?")
    page.get_by_test_id("session-title").click()
    page.get_by_test_id("question-input").fill("Half a gross")
    page.get_by_test_id("question-confirm").click()
    expect(page.get_by_test_id("session-title")).to_have_text("Half a gross")
    expect(page).to_have_title(re.compile("^Half a gross"))
    row(page, "Half a gross").get_by_role("button", name="More for Half a gross").click()
    page.get_by_test_id("session-pin").click()
    expect(page.get_by_test_id("chat-list").locator("h3").first).to_have_text("Pinned")

    page.get_by_test_id("session-menu-button").click()
    page.get_by_test_id("session-delete").click()
    expect(page.get_by_test_id("undo-bar")).to_contain_text("Half a gross")
    expect(page.get_by_test_id("session-row").filter(has_text="Half a gross")).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(page.get_by_test_id("session-row").filter(has_text="Half a gross")).to_be_visible()

    talk(page, "What is 7 + 7?")
    row(page, "Half a gross").get_by_role("button").click()
    page.get_by_test_id("session-delete").click()
    expect(row(page, "Half a gross")).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(row(page, "Half a gross")).to_be_visible()
    expect(asked(page)).to_have_text(["What is 7 + 7?"])


@pytest.mark.blank
def test_on_a_phone_the_list_is_a_drawer_that_a_tap_beside_it_and_escape_close(page: Page) -> None:
    page.set_viewport_size(PHONE)
    talk(page, "Tell me of bullaces")
    open_list(page)
    page.get_by_test_id("chat-list-search").fill("bullaces")
    expect(rows(page)).to_have_count(1)
    assert violations(page) == []
    page.mouse.click(380, 400)
    expect(page.get_by_test_id("chat-list")).to_be_hidden()
    open_list(page)
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("chat-list")).to_be_hidden()
    expect(page.get_by_test_id("chat-list-button")).to_be_focused()
    open_list(page)
    rows(page).get_by_role("link").click()
    expect(page.get_by_test_id("chat-list")).to_be_hidden()
    expect(asked(page)).to_have_text(["Tell me of bullaces"])


def test_the_list_can_be_read_by_everybody(page: Page) -> None:
    page.set_viewport_size(WIDE)
    talk(page, "Tell me of medlars and quinces")
    page.get_by_test_id("chat-list-search").fill("medlars")
    expect(rows(page).locator("mark").first).to_be_visible()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == []
    page.get_by_test_id("chat-list-search").fill("nothing like this")
    expect(page.get_by_test_id("chat-list")).to_contain_text("Nothing says “nothing like this”")
    assert violations(page) == []
