"""The frame around the pages, and the list of sessions."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.playground import SUM, ask, finished, send, start_session

NARROW = {"width": 390, "height": 844}

ESCAPE_AND_OPEN = """(ms) => new Promise((done) => {
  const escape = { key: "Escape", keyCode: 27, bubbles: true };
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", escape));
  document.activeElement.dispatchEvent(new KeyboardEvent("keyup", escape));
  setTimeout(() => {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true }));
    done();
  }, ms);
})"""


def session_with(page: Page, text: str) -> Locator:
    """A finished session's row on the landing."""
    start_session(page)
    ask(page, text)
    page.get_by_test_id("nav-playground").click()
    row = page.get_by_test_id("session-row").filter(has_text=text).first
    expect(row).to_be_visible()
    return row


def overflow(page: Page) -> int:
    """Pixels of the page that stick out at the right."""
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def test_the_landing_shows_the_sample_agents(page: Page, screenshot: Callable[[str], Path]) -> None:
    for name in ("Assistant", "Coordinator", "Math tutor", "Python analyst", "Table cleaner"):
        expect(page.get_by_role("button", name=f"New session with {name}", exact=True)).to_be_visible()
    card = page.get_by_test_id("agent-card").filter(has_text="Assistant")
    expect(card).to_contain_text("demo/agent")
    expect(card).to_contain_text("tools")
    expect(page).to_have_title("Playground · Agent Playground")
    screenshot("landing")


def test_a_double_click_begins_one_session_and_says_one_thing(page: Page) -> None:
    def sessions() -> int:
        page.goto("/playground")
        expect(page.get_by_test_id("agent-card").first).to_be_visible()
        return page.get_by_test_id("session-row").count()

    before = sessions()
    page.get_by_test_id("agent-card").filter(has_text="Assistant").dblclick()
    expect(page.get_by_test_id("chat-input")).to_be_focused()
    assert sessions() == before + 1
    start_session(page)
    here = page.url
    page.get_by_test_id("new-session-button").dblclick()
    expect(page).not_to_have_url(here)
    expect(page.get_by_test_id("welcome")).to_be_visible()
    assert sessions() == before + 3
    start_session(page)
    page.get_by_test_id("example").first.dblclick()
    finished(page)
    expect(page.get_by_test_id("user-message")).to_have_count(1)
    page.get_by_test_id("save-as-case-button").dblclick()
    expect(page.get_by_test_id("save-case-dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("save-case-dialog")).to_have_count(0)
    page.get_by_test_id("make-workflow-button").dblclick()
    page.wait_for_url("**/build/*")
    page.goto("/build")
    expect(page.get_by_test_id("agents-count")).to_have_text("1 workflow")
    page.get_by_test_id("agent-delete").click()
    expect(page.get_by_test_id("agents-count")).to_have_text("0 workflows")


def test_the_button_that_pins_a_session_keeps_the_focus(page: Page) -> None:
    start_session(page)
    page.get_by_test_id("nav-playground").click()
    row = page.get_by_test_id("session-row").first
    row.get_by_role("button", name=re.compile("^Pin")).press("Enter")
    expect(row.get_by_role("button", name=re.compile("^Unpin"))).to_be_focused()
    page.keyboard.press("Enter")
    expect(row.get_by_role("button", name=re.compile("^Pin"))).to_be_focused()


@pytest.mark.long
def test_a_session_can_be_gone_on_with(page: Page) -> None:
    row = session_with(page, "What is 7 + 8?")
    row.get_by_role("link").click()
    expect(page.get_by_test_id("user-message")).to_contain_text("7 + 8")
    expect(page.get_by_test_id("assistant-message")).to_contain_text("15")
    expect(page).to_have_title("What is 7 + 8? · Agent Playground")


def test_a_session_can_be_renamed_and_found(page: Page) -> None:
    row = session_with(page, "What is 3 + 3?")
    address = row.get_by_role("link").get_attribute("href")
    row.get_by_role("button", name=re.compile("^Rename")).click()
    page.get_by_test_id("question-input").fill("Quarterly numbers")
    page.get_by_test_id("question-confirm").click()
    expect(page.get_by_test_id("session-row").filter(has_text="Quarterly numbers")).to_be_visible()
    page.get_by_test_id("session-search").fill("quarterly")
    expect(page.get_by_test_id("session-row")).to_have_count(1)
    expect(page.get_by_test_id("session-row").get_by_role("link")).to_have_attribute("href", address or "")
    page.get_by_test_id("session-search").fill("nothing is called this")
    expect(page.get_by_text("No session fits")).to_be_visible()


@pytest.mark.long
def test_a_pinned_session_stays_on_top(page: Page) -> None:
    row = session_with(page, "What is 4 + 4?")
    row.get_by_role("button", name=re.compile("^Pin")).click()
    session_with(page, "What is 5 + 5?")
    expect(page.get_by_test_id("session-row").first).to_contain_text("4 + 4")
    page.get_by_test_id("session-row").first.get_by_role("button", name=re.compile("^Unpin")).click()
    expect(page.get_by_test_id("session-row").first).to_contain_text("5 + 5")


def test_a_deleted_session_can_be_brought_back(page: Page) -> None:
    row = session_with(page, "What is 6 + 6?")
    rows = page.get_by_test_id("session-row").filter(has_text="6 + 6")
    row.get_by_role("button", name=re.compile("^Delete")).click()
    expect(rows).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(rows).to_have_count(1)
    expect(page.get_by_test_id("undo-bar")).to_have_count(0)


@pytest.mark.long
def test_a_deleted_session_says_so_at_its_address(page: Page) -> None:
    row = session_with(page, "What is 9 + 9?")
    address = row.get_by_role("link").get_attribute("href")
    row.get_by_role("button", name=re.compile("^Delete")).click()
    expect(page.get_by_test_id("undo-bar")).to_be_visible()
    page.goto(address or "")
    expect(page.get_by_test_id("trouble")).to_be_visible()


def test_the_navigation_shows_where_one_is(page: Page) -> None:
    expect(page.get_by_test_id("nav-playground")).to_have_attribute("aria-current", "page")
    page.get_by_test_id("nav-runs").click()
    expect(page).to_have_url(re.compile("/runs$"))
    expect(page.get_by_test_id("nav-runs")).to_have_attribute("aria-current", "page")
    expect(page.get_by_test_id("nav-playground")).not_to_have_attribute("aria-current", "page")
    page.get_by_label("Show or hide the navigation").click()
    expect(page.get_by_test_id("nav-runs")).not_to_be_in_viewport()


def test_the_theme_is_kept(page: Page) -> None:
    page.get_by_test_id("theme-dark").click()
    expect(page.locator("body")).to_have_class(re.compile("body--dark"))
    page.reload()
    expect(page.locator("body")).to_have_class(re.compile("body--dark"))
    expect(page.get_by_test_id("theme-dark")).to_have_attribute("aria-pressed", "true")
    page.get_by_test_id("theme-light").click()
    expect(page.locator("body")).to_have_class(re.compile("body--light"))
    page.get_by_test_id("theme-system").click()
    page.emulate_media(color_scheme="dark")
    expect(page.locator("body")).to_have_class(re.compile("body--dark"))


@pytest.mark.long
def test_the_palette_opened_while_it_still_closes_has_its_content(page: Page) -> None:
    page.keyboard.press("Control+k")
    box = page.get_by_test_id("palette-input")
    expect(box).to_be_focused()
    for ms in range(62, 92, 3):  # around the end of its closing, of which the app hears a moment later
        closing = box.get_attribute("id")
        page.evaluate(ESCAPE_AND_OPEN, ms)
        expect(page.locator(f"[data-testid=palette-input]:not(#{closing})")).to_be_focused()
        expect(page.locator(".palette-item").first).to_be_visible()


def test_the_palette_leads_anywhere_by_keyboard(page: Page) -> None:
    start_session(page)
    page.keyboard.press("Control+k")
    palette = page.get_by_test_id("command-palette")
    page.get_by_test_id("palette-input").wait_for()
    page.keyboard.type("runs")  # while the palette still comes in
    expect(palette.get_by_role("option", selected=True)).to_have_text("Runs")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/runs$"))
    expect(palette).to_have_count(0)


def test_the_palette_runs_what_was_typed_however_fast(page: Page) -> None:
    page.keyboard.press("Control+k")
    box = page.get_by_test_id("palette-input")
    expect(box).to_be_focused()
    box.evaluate("""(input) => {
      input.value = "runs";
      input.dispatchEvent(new Event("input", { bubbles: true }));
      input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    }""")
    expect(page).to_have_url(re.compile("/runs$"))


def test_the_palette_starts_a_session_and_escape_closes_it(page: Page) -> None:
    page.keyboard.press("Control+k")
    palette = page.get_by_test_id("command-palette")
    expect(palette.get_by_role("option", selected=True)).to_have_text("Overview")
    expect(page.get_by_test_id("palette-input")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(palette.get_by_role("option", selected=True)).to_have_text("Playground")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(palette.get_by_role("option").last).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(palette).to_have_count(0)
    page.keyboard.press("Control+k")
    palette.get_by_role("option", name="Math tutor New session").click()
    expect(page.get_by_test_id("welcome")).to_contain_text("Math tutor")


def test_a_session_can_be_used_without_a_mouse(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to content")).to_be_focused()
    page.get_by_test_id("agent-card").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("chat-input")).to_be_focused()
    page.keyboard.type("What is 2 + 3?")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("assistant-message")).to_be_visible()
    finished(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_fits_on_a_phone(page: Page, scheme: str, screenshot: Callable[[str], Path]) -> None:
    page.set_viewport_size(NARROW)
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.reload()
    expect(page.get_by_test_id("nav-runs")).not_to_be_in_viewport()
    assert overflow(page) == 0
    start_session(page)
    answer = ask(page, SUM)
    answer.get_by_test_id("tool-call").first.locator("summary").click()
    assert overflow(page) == 0
    for testid in ("chat-input", "send-button", "status-pill", "cost-chip", "model-select"):
        expect(page.get_by_test_id(testid)).to_be_in_viewport()
    for testid in ("kpi-strip", "status-bar"):
        expect(page.get_by_test_id(testid)).to_be_hidden()
    screenshot(f"session-phone-{scheme}")
    page.get_by_label("Show or hide the navigation").click()
    page.get_by_test_id("nav-runs").click()
    expect(page.get_by_test_id("nav-runs")).not_to_be_in_viewport()


@pytest.mark.long
def test_every_button_has_a_name(page: Page) -> None:
    start_session(page)
    send(page, SUM)
    finished(page)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, a[href], input, textarea')]
            .filter(one => one.checkVisibility())
            .filter(one => !(one.getAttribute('aria-label') || one.innerText.trim() || one.placeholder))
            .map(one => one.outerHTML)"""
    )
    assert nameless == []
