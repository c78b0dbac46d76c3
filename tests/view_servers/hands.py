"""A person's hand on a view: a pointer that moves over the page, where Playwright's own click is inside at once."""

from playwright.sync_api import Locator, Page

MIDDLE = "frame => frame.scrollIntoView({ block: 'center', behavior: 'instant' })"
PLACE = """target => { const { x, y, width, height } = target.getBoundingClientRect();
  return { x: x + Math.min(width / 2, 60), y: y + Math.min(height / 2, 20) }; }"""


def press_in(page: Page, target: Locator) -> None:
    """Move the pointer there and click, as the page itself sees it."""
    inside = target.evaluate(PLACE)
    _click(page, inside["x"], inside["y"])


def press_on(page: Page) -> None:
    """The same near the view's own corner."""
    _click(page, 12, 12)


def _click(page: Page, x: float, y: float) -> None:
    frame = page.get_by_test_id("mcp-app").last.locator("iframe")
    frame.evaluate(MIDDLE)
    box = frame.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + x + 8, box["y"] + y + 8)  # a hand is never quite still
    page.mouse.move(box["x"] + x, box["y"] + y, steps=4)
    page.mouse.click(box["x"] + x, box["y"] + y)
