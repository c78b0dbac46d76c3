"""From a new agent to its better variant and back, without a mouse; the focus is always to be seen."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.playground import ANSWER_SECONDS, SUM

MOST_STOPS = 150
STOP = """() => {
  const stop = document.activeElement;
  const drawn = (one) => {
    const looks = getComputedStyle(one);
    return looks.outlineStyle !== "none" && parseFloat(looks.outlineWidth) > 0;
  };
  const ringed = stop.matches(".no-outline") && getComputedStyle(stop).boxShadow !== "none";
  let shown = ringed || stop === document.body || stop.closest(".q-field--focused, .composer, .prompt-editor") !== null;
  for (let one = stop, up = 0; one && up < 5 && !shown; one = one.parentElement, up += 1) shown = drawn(one);
  return [stop.tagName, stop.className, stop.getAttribute("aria-label") ?? "", shown];
}"""


def go_to(page: Page, place: Locator, *, back: bool = False) -> None:
    """Press Tab until the focus is there; fails at a stop that does not show it has the focus."""
    expect(place).to_be_visible()
    for _ in range(MOST_STOPS):
        page.keyboard.press("Shift+Tab" if back else "Tab")
        *stop, shown = page.evaluate(STOP)
        assert shown, f"The focus cannot be seen on {stop}"
        if place.evaluate("(one) => one.contains(document.activeElement)"):
            return
    raise AssertionError(f"Tab never comes to {place}")


def press(page: Page, place: Locator, *, back: bool = False) -> None:
    """Go there by Tab, and press Enter."""
    go_to(page, place, back=back)
    page.keyboard.press("Enter")


def row(page: Page, number: int) -> Locator:
    return page.locator(f"[data-testid=variant-row][data-variant='{number}']")


@pytest.mark.long
def test_a_prompt_is_made_better_by_keyboard_alone(page: Page) -> None:
    press(page, page.get_by_test_id("nav-agents"))
    create(page)
    write(page)
    save(page)
    compare(page)
    promote(page)
    look_at_the_difference(page)
    roll_back(page)


def create(page: Page) -> None:
    press(page, page.get_by_test_id("new-agent-button"))
    expect(page.get_by_test_id("agent-name-input")).to_be_focused()
    page.keyboard.type("Keyed")
    expect(page.get_by_test_id("agent-name-note")).to_contain_text("/agents/keyed")
    press(page, page.get_by_test_id("template-option").first)
    press(page, page.get_by_test_id("create-agent-button"))
    expect(page.get_by_test_id("agent-name")).to_have_text("Keyed")


def write(page: Page) -> None:
    editor = page.get_by_test_id("prompt-editor").get_by_role("textbox")
    go_to(page, editor)
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.type(" Use a {{tone}} tone.")
    expect(editor).to_contain_text("Use a {{tone}} tone.")
    default = page.get_by_role("textbox", name="Default of tone")
    go_to(page, default)
    page.keyboard.type("warm")
    preview = page.get_by_test_id("prompt-mode-preview")
    press(page, preview, back=True)
    expect(preview).to_have_attribute("aria-pressed", "true")
    expect(preview).to_be_focused()
    expect(page.get_by_test_id("prompt-preview")).to_contain_text("Use a warm tone.")


def save(page: Page) -> None:
    expect(page.get_by_test_id("editor-state")).to_contain_text("draft kept")
    go_to(page, page.get_by_test_id("variant-note"), back=True)
    page.keyboard.type("warmer")
    press(page, page.get_by_test_id("save-variant-button"))
    expect(row(page, 2)).to_contain_text("warmer")


def compare(page: Page) -> None:
    press(page, row(page, 2).get_by_test_id("variant-compare"))
    press(page, page.get_by_test_id("compare-start"))
    expect(page.get_by_test_id("chat-input")).to_be_focused()
    page.keyboard.type(SUM)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("compare-figures")).to_have_count(2, timeout=ANSWER_SECONDS)
    expect(page.get_by_test_id("stream-state")).to_have_text("Idle")


def promote(page: Page) -> None:
    columns = page.get_by_test_id("compare-column")
    better = columns.nth(1)
    vote = better.get_by_test_id("vote-button")
    press(page, vote, back=True)
    expect(vote).to_have_attribute("aria-pressed", "true")
    expect(vote).to_be_focused()
    press(page, better.get_by_test_id("promote-button"), back=True)
    expect(better).to_contain_text("Active")
    expect(better.get_by_test_id("open-column")).to_be_focused()


def look_at_the_difference(page: Page) -> None:
    press(page, page.get_by_test_id("nav-agents"))
    card = page.get_by_test_id("agent-card").get_by_role("link", name="Keyed", exact=True)
    press(page, card)
    press(page, page.get_by_test_id("side-variants"))
    press(page, row(page, 2).get_by_test_id("diff-button"))
    difference = page.get_by_test_id("variant-diff")
    expect(difference.locator("ins").filter(has_text="{{tone}}")).to_have_count(1)
    press(page, page.get_by_test_id("close-diff"))
    expect(difference).to_have_count(0)
    expect(row(page, 2).get_by_test_id("diff-button")).to_be_focused()


def roll_back(page: Page) -> None:
    press(page, row(page, 1).get_by_test_id("promote-button"))
    expect(row(page, 1).get_by_test_id("variant-status")).to_have_text("Active")
    expect(row(page, 1).get_by_test_id("diff-button")).to_be_focused()
