"""U1: streamed answers that end at the newest line while nobody scrolls, and stay put where somebody scrolled up.

The browser is slowed four times. Tables, code, cards of tools and pictures are among the answers.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from playwright.sync_api import Page, expect

from app.domain.agents import ToolChoice
from tests.bench.browsing import ask, send, session_with
from tests.bench.provider import say_enough
from tests.figures import Figure
from tests.pictures import picture

MODEL = "openai/mixed-2400-200"
LONGER = "openai/mixed-100000-200"
"""Ends once there is enough of it: the slowest browser scrolls in mid-answer."""
IN_ONE_SESSION = 20
SLOWED = 4
PICTURE_EVERY = 5
POLLING = 100
"""Milliseconds: to ask in every frame keeps a slow browser from what it is asked about."""
END_PIXELS = 2.0
"""What rounding may leave between the view and the end."""
MOVED_PIXELS = 2.0
TO_SCROLL_IN, GROWS = 1_500, 1_500
"""Characters: of an answer that there is to scroll in, and of what comes below while somebody has scrolled up."""
SCROLL = "document.querySelector('.transcript-scroll')"
LENGTH = "(document.querySelector('[data-testid=message-streaming]')?.innerText.length ?? 0)"
FROM_END = f"() => {{ const s = {SCROLL}; return s.scrollHeight - s.scrollTop - s.clientHeight; }}"
# Where the line that is at the middle of the view stands, again after more was written.
MARK = f"""() => {{ const box = {SCROLL}.getBoundingClientRect();
  window.seen = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  window.seenAt = window.seen.getBoundingClientRect().top - box.top; }}"""
MOVED = f"""() => window.seen.isConnected
  ? window.seen.getBoundingClientRect().top - {SCROLL}.getBoundingClientRect().top - window.seenAt : 9999"""


def run(answers: int = 200, scrolled: int = 50, *, model: str = MODEL, longer: str = LONGER) -> list[Figure]:
    with slowed_page(model) as (page, _):
        left = [distance for number in range(answers) if (distance := followed(page, number)) > END_PIXELS]
    with slowed_page(longer) as (page, enough):
        moved = [pixels for number in range(scrolled) if (pixels := stayed(page, number, enough)) > MOVED_PIXELS]
    return [
        Figure("U1 answers at the newest line, nobody scrolling", told(answers, left), f"{answers}", not left),
        Figure("U1 views that stay where a person scrolled to", told(scrolled, moved), f"{scrolled}", not moved),
    ]


@contextmanager
def slowed_page(model: str) -> Iterator[tuple[Page, Callable[[], None]]]:
    """The page, and what ends an answer."""
    with (
        tempfile.TemporaryDirectory() as folder,
        session_with(model, Path(folder), ToolChoice(name="calculator")) as (app, page),
    ):
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
        yield page, partial(say_enough, app.environment["OPENAI_BASE_URL"])


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


def stayed(page: Page, number: int, enough: Callable[[], None]) -> float:
    """How far what a person looks at has moved when the answer is complete, in pixels."""
    another_session(page, number)
    if number % IN_ONE_SESSION == 0:
        begin(page, "something to scroll in")
        complete(page, enough, at=TO_SCROLL_IN)
    begin(page, f"and {number}")
    page.mouse.move(640, 360)
    page.mouse.wheel(0, -250)
    expect(page.get_by_test_id("jump-to-latest")).to_be_visible()
    rested(page)
    page.evaluate(MARK)
    complete(page, enough, at=page.evaluate(LENGTH) + GROWS)
    moved = abs(float(page.evaluate(MOVED)))
    page.get_by_test_id("jump-to-latest").click()
    return moved


def begin(page: Page, text: str) -> None:
    """Send a message and wait for some lines of its answer."""
    send(page, text)
    page.wait_for_function(f"{LENGTH} > 200", polling=POLLING)


def complete(page: Page, enough: Callable[[], None], *, at: int) -> None:
    """End the answer once so many characters of it are on the page."""
    page.wait_for_function(f"{LENGTH} >= {at}", polling=POLLING)
    enough()
    expect(page.get_by_test_id("message-streaming")).to_have_count(0, timeout=120_000)
    settled(page)


def another_session(page: Page, number: int) -> None:
    """A conversation that grows without end would measure the growing."""
    if number and number % IN_ONE_SESSION == 0:
        page.get_by_test_id("new-session-button").click()
        expect(page.get_by_test_id("user-message")).to_have_count(0)


def settled(page: Page) -> None:
    """Until nothing grows or moves for four frames."""
    _same(page, "`${s.scrollHeight} ${s.scrollTop}`")


def rested(page: Page) -> None:
    """Until the view stands still for four frames, whatever grows below it."""
    _same(page, "s.scrollTop")


def _same(page: Page, what: str) -> None:
    page.evaluate(
        f"""() => new Promise((done) => {{ const s = {SCROLL}; let same = 0, last;
          const look = () => {{ const now = {what};
            same = now === last ? same + 1 : 0; last = now; same > 4 ? done() : requestAnimationFrame(look); }};
          look(); }})"""
    )
