"""U1: streamed answers that end at the newest line while nobody scrolls, and stay put where somebody scrolled up.

The browser is slowed four times. Tables, code, cards of tools and pictures are among the answers.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect

from app.domain.agents import ToolChoice
from tests.bench.browsing import ask, session_with
from tests.figures import Figure
from tests.pictures import picture

MODEL = "openai/mixed-2400-200"
LONGER = "openai/mixed-6000-200"
"""Leaves a slow browser the time to scroll in mid-answer."""
IN_ONE_SESSION = 20
SLOWED = 4
PICTURE_EVERY = 5
END_PIXELS = 2.0
"""What rounding may leave between the view and the end."""
MOVED_PIXELS = 2.0
SCROLL = "document.querySelector('.transcript-scroll')"
FROM_END = f"() => {{ const s = {SCROLL}; return s.scrollHeight - s.scrollTop - s.clientHeight; }}"
# Where the line that is at the middle of the view stands, again after more was written.
MARK = f"""() => {{ const box = {SCROLL}.getBoundingClientRect();
  window.seen = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  window.seenAt = window.seen.getBoundingClientRect().top - box.top; }}"""
MOVED = f"""() => window.seen.isConnected
  ? window.seen.getBoundingClientRect().top - {SCROLL}.getBoundingClientRect().top - window.seenAt : 9999"""


def run(answers: int = 200, scrolled: int = 50, *, model: str = MODEL, longer: str = LONGER) -> list[Figure]:
    with slowed_page(model) as page:
        left = [distance for number in range(answers) if (distance := followed(page, number)) > END_PIXELS]
    with slowed_page(longer) as page:
        moved = [pixels for number in range(scrolled) if (pixels := stayed(page, number)) > MOVED_PIXELS]
    return [
        Figure("U1 answers at the newest line, nobody scrolling", told(answers, left), f"{answers}", not left),
        Figure("U1 views that stay where a person scrolled to", told(scrolled, moved), f"{scrolled}", not moved),
    ]


@contextmanager
def slowed_page(model: str) -> Iterator[Page]:
    with (
        tempfile.TemporaryDirectory() as folder,
        session_with(model, Path(folder), ToolChoice(name="calculator")) as (_, page),
    ):
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
        yield page


def told(of: int, wrong: list[float]) -> str:
    pixels = f", off by {min(wrong):.0f} to {max(wrong):.0f} px" if wrong else ""
    return f"{of - len(wrong)} of {of}{pixels}"


def followed(page: Page, number: int) -> float:
    """How far from its end the conversation stands after one more answer, in pixels."""
    another_session(page, number)
    if number % PICTURE_EVERY == 0:
        files = [{"name": f"{number}.png", "mimeType": "image/png", "buffer": picture()}]
        page.locator("input[type=file]").set_input_files(files)
        expect(page.get_by_test_id("attachment-words")).to_have_count(1)
    ask(page, f"question {number}")
    settled(page)
    return float(page.evaluate(FROM_END))


def stayed(page: Page, number: int) -> float:
    """How far what a person looks at has moved when the answer is complete, in pixels."""
    another_session(page, number)
    if number % IN_ONE_SESSION == 0:
        ask(page, "something to scroll in")
    asked = page.get_by_test_id("user-message").count()
    page.get_by_test_id("chat-input").fill(f"and {number}")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("user-message")).to_have_count(asked + 1)
    page.wait_for_function("document.querySelector('[data-testid=message-streaming]')?.innerText.length > 200")
    page.mouse.move(640, 360)
    page.mouse.wheel(0, -250)
    expect(page.get_by_test_id("jump-to-latest")).to_be_visible()
    settled(page)
    page.evaluate(MARK)
    expect(page.get_by_test_id("message-streaming")).to_have_count(0, timeout=120_000)
    settled(page)
    moved = abs(float(page.evaluate(MOVED)))
    page.get_by_test_id("jump-to-latest").click()
    return moved


def another_session(page: Page, number: int) -> None:
    """A conversation that grows without end would measure the growing."""
    if number and number % IN_ONE_SESSION == 0:
        page.get_by_test_id("new-session-button").click()
        expect(page.get_by_test_id("user-message")).to_have_count(0)


def settled(page: Page) -> None:
    """Until nothing grows or moves for four frames."""
    page.evaluate(
        f"""() => new Promise((done) => {{ const s = {SCROLL}; let same = 0, last = '';
          const look = () => {{ const now = `${{s.scrollHeight}} ${{s.scrollTop}}`;
            same = now === last ? same + 1 : 0; last = now; same > 4 ? done() : requestAnimationFrame(look); }};
          look(); }})"""
    )
