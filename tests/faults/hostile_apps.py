"""A1: hostile views of MCP Apps get nothing, and servers of other people are shown, used and brought back."""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Error, Frame, Page, ViewportSize, expect, sync_playwright

from tests.app_process import AppProcess
from tests.browser import chromium, chromium_with_windows
from tests.e2e.conftest import FLAGS, WINDOW
from tests.e2e.playground import finished, send, start_session
from tests.figures import Figure
from tests.hostile_servers import collector
from tests.hostile_views import VIEWS
from tests.hostile_views.hostile_view import HostileView
from tests.hostile_views.hosts import Playground, calls_in, inner_frame
from tests.hostile_views.trial import CONNECTED, Outcome, Trial
from tests.npm_packages import NotInstalled
from tests.tools.builtin.pdfs import pdf_of
from tests.view_servers import Entry, of_others
from tests.view_servers.hands import press_in

NAME = "A1 hostile views that got anything"
PATIENCE = 60_000
"""Milliseconds for whatever a machine that does much else is slow with."""
TALL: ViewportSize = {"width": 1280, "height": 1400}
"""In which a whole view stands clear of the page's head and foot."""
BRIEFLY = ("page_dom", "fetches", "tools_that_ask", "domain_semicolon")


@dataclass(frozen=True)
class Story:
    """How a server of other people is used: the call that opens its view, what a person does there, what is seen."""

    server: str
    tool: str
    opening: str
    """As the server itself calls the tool."""
    use: Callable[[Page, Frame], None]
    comes_back: str
    """The words that are there again after a reload, by which the view is known."""


def run(views: Sequence[HostileView] = VIEWS, *, brief: bool = False) -> list[Figure]:
    """In a browser like a person's: one without windows runs a view in the process of our page, which views stop."""
    file = chromium() if brief else chromium_with_windows()
    if file is None:
        return [Figure(NAME, "there is no Chromium with windows", "0", None)]
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=file, args=FLAGS)
        try:
            if brief:
                views = [view for view in views if view.name in BRIEFLY]
            return [hostile(browser, views), *([] if brief else of_other_people(browser))]
        finally:
            browser.close()


def hostile(browser: Browser, views: Sequence[HostileView]) -> Figure:
    """How many of them got anything."""
    with tempfile.TemporaryDirectory() as temporary, collector() as (elsewhere, hits):
        calls = Path(temporary) / "calls.jsonl"
        environment = {"ELSEWHERE": elsewhere, "CALLS": str(calls)}
        module = "tests.hostile_views.obeying_app"
        with shown(browser, Path(temporary), module, environment) as (app, context):
            trial = Trial(context, Playground(app), calls=calls, hits=hits, elsewhere=elsewhere)
            outcomes = [trial.outcome(view) for view in views]
    for outcome in outcomes:
        for words in (*outcome.got[:4], *([outcome.untried] if outcome.untried else [])):
            print(f"  {outcome.view.name}, to {outcome.view.tries}: {words[:300]}")
    got, untried = ([one for one in outcomes if one.got], [one for one in outcomes if one.untried])
    value = f"{len(got)} of {len(views)} hostile views{_more(untried, hits)}"
    return Figure(NAME, value, "0", not got and not untried)


def _more(untried: Sequence[Outcome], hits: Sequence[str]) -> str:
    connections = sum(hit == CONNECTED for hit in hits)
    words = [f"{len(untried)} were never tried"] if untried else []
    if connections:
        words.append(f"{connections} connections of the browser without a request")
    return "".join(f", {one}" for one in words)


@contextmanager
def shown(
    browser: Browser, folder: Path, module: str, environment: dict[str, str]
) -> Iterator[tuple[AppProcess, BrowserContext]]:
    """The app, and a browser past its door, with one tab that stays."""
    app = AppProcess(folder / "data", module=module, environment=environment)
    try:
        app.start()
        context = browser.new_context(viewport=WINDOW, base_url=app.url)
        page = context.new_page()
        page.goto(app.playground)
        expect(page.get_by_test_id("agent-card").first).to_be_visible()
        yield app, context
        context.close()
    finally:
        app.stop_if_running()


def of_other_people(browser: Browser) -> list[Figure]:
    """Four servers out of npm: shown, used, and brought back by a reload."""
    names = ("A1 servers of other people shown, used and restored", "A1 calls of the opening tool by a restore")
    with tempfile.TemporaryDirectory() as temporary:
        calls, document = Path(temporary) / "calls.jsonl", Path(temporary) / "pages.pdf"
        document.write_bytes(pdf_of(["Hello from page one", "And page two"]))
        try:
            servers = of_others(calls, document)
        except NotInstalled as problem:
            return [Figure(name, str(problem), bar, None) for name, bar in zip(names, ("4 of 4", "0"), strict=True)]
        again, told = tell(browser, Path(temporary), servers, calls, document)
    return [
        Figure(names[0], f"{told} of {len(STORIES)}", "4 of 4", told == len(STORIES)),
        Figure(names[1], f"{again}", "0", again == 0),
    ]


def tell(browser: Browser, folder: Path, servers: dict[str, Entry], calls: Path, document: Path) -> tuple[int, int]:
    """How many calls restores made, and how many stories went to their end."""
    environment = {"SERVERS": json.dumps(servers)}
    again = told = 0
    with shown(browser, folder, "tests.view_servers.obeying_app", environment) as (_, context):
        for story in STORIES:
            page = context.new_page()
            page.set_viewport_size(TALL)
            page.goto(f"/tools/server/{story.server}")
            expect(page.locator(".tool-heading-words [data-testid=server-status][data-status=ready]")).to_be_visible()
            try:
                again += _told(page, story, calls, {"url": document.as_uri()} if story.server == "pdf" else {})
                told += 1
            except (AssertionError, Error) as problem:
                print(f"  {story.server}: {str(problem)[:600]}")
            page.close()
    return again, told


def _told(page: Page, story: Story, calls: Path, arguments: dict[str, object]) -> int:
    """How often the opening tool was called while the view came back."""
    page.goto("/playground")
    start_session(page, "Shower")
    send(page, json.dumps({"name": story.tool, "arguments": arguments}))
    finished(page)
    story.use(page, _live(page))
    before = _made(calls, story.opening)
    page.reload()
    expect_words(page, _live(page), story.comes_back)
    return _made(calls, story.opening) - before


def _live(page: Page) -> Frame:
    app = page.get_by_test_id("mcp-app")
    expect(app).to_have_attribute("data-state", "live")
    return inner_frame(page, app)


def _made(calls: Path, tool: str) -> int:
    return Counter(line["name"] for line in calls_in(calls))[tool]


def expect_words(page: Page, frame: Frame, words: str, *, patience: int = PATIENCE) -> None:
    """They stand in the view, once a person has agreed to what it calls for that; `patience` in milliseconds."""
    for _ in range(patience // 200):
        if words in frame.locator("body").inner_text():
            return
        asked = page.get_by_test_id("approve-button")
        if asked.count():
            with suppress(Error):  # what the view does not wait for any more takes its question back
                asked.first.click(timeout=2_000)
        page.wait_for_timeout(200)
    raise AssertionError(f"{words!r} is not in {frame.locator('body').inner_text()[:300]!r}")


def _ask_the_time(page: Page, frame: Frame) -> None:
    before = frame.locator("#server-time").inner_text()
    press_in(page, frame.get_by_role("button", name="Get Server Time"))
    expect(frame.locator("#server-time")).not_to_have_text(before)


def _move_money(page: Page, frame: Frame) -> None:
    before = frame.locator("body").inner_text()
    press_in(page, frame.locator("input[type=range]").first)
    expect(frame.locator("body")).not_to_have_text(before, use_inner_text=True)


def _watch_the_machine(page: Page, frame: Frame) -> None:
    expect_words(page, frame, "GB")
    press_in(page, frame.get_by_role("button", name="Stop"))
    expect(frame.get_by_role("button", name="Start")).to_be_visible()


def _turn_the_page(page: Page, frame: Frame) -> None:
    expect_words(page, frame, "Hello from page one")
    for patience in (4_000, 8_000, PATIENCE):  # the view takes no press while it still reads its document
        press_in(page, frame.locator("#next-btn"))
        with suppress(AssertionError):
            expect_words(page, frame, "And page two", patience=patience)
            return
    raise AssertionError("The second page was not turned to.")


STORIES = (
    Story("vanilla", "vanilla__get_time", "get-time", _ask_the_time, "Get Server Time"),
    Story("budget", "budget__get_budget_data", "get-budget-data", _move_money, "Series A"),
    Story("system", "system__get_system_info", "get-system-info", _watch_the_machine, "Hostname"),
    Story("pdf", "pdf__display_pdf", "display_pdf", _turn_the_page, "Hello from page one"),
)
