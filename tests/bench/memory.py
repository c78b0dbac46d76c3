"""What the app holds of the memory: after its start, after runs of the demo model, after a browser saw all pages often.

It is the resident memory of the app's process, libraries and all. The runs are asked for in a few tabs, in sessions of
ten turns.
"""

import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

from tests.app_process import AppProcess
from tests.browser import chromium
from tests.e2e.conftest import FLAGS
from tests.figures import Figure

RUNS = 300
VISITS = 100
PAUSE = 60.0
"""Seconds after which what browsing took is given back."""
TABS = 6
TURNS = 10
"""Of a session."""
MEGABYTE = 1024**2
MOST = 140.0
"""Megabytes."""
PAGES = (
    *("/", "/playground", "/agents", "/agents/assistant", "/build", "/build/coordinator", "/tools", "/runs", "/jobs"),
    *("/compare", "/evals", "/matrix", "/review", "/review/judges", "/monitoring", "/resources", "/integrations"),
    *("/settings", "/setup"),
)
"""Addresses of pages; those of what the runs left come to them."""
CONNECTED = "() => window.socket?.connected"
BUILT = ".skip-target > * > *"
SLOWEST = 120_000
"""Milliseconds."""


def run(*, runs: int = RUNS, visits: int = VISITS, pause: float = PAUSE) -> list[Figure]:
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        app = AppProcess(Path(temporary) / "data")
        app.start()
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        try:
            context = browser.new_context(base_url=app.url, viewport={"width": 1280, "height": 720})
            context.request.get(app.address, max_redirects=0)
            held = {"a start": resident(app)}
            sessions = converse(context, runs)
            held[f"{runs} runs"] = resident(app)
            page = context.new_page()
            pages = (*PAGES, *sessions[:3], *run_addresses(page))
            for number in range(visits):
                visit(page, pages[number % len(pages)])
            held[f"{visits} visits"] = resident(app)
            context.close()
            time.sleep(pause)
            held[f"{pause:.0f} seconds without a browser"] = resident(app)
        finally:
            browser.close()
            app.stop()
    return figures(held)


def figures(held: dict[str, float]) -> list[Figure]:
    most = max(held.values())
    told = ", ".join(f"{size:.0f} MB after {what}" for what, size in held.items())
    return [Figure("Memory after runs and visits", told, f"<= {MOST:.0f} MB", most <= MOST)]


def resident(app: AppProcess) -> float:
    """Megabytes."""
    return float(psutil.Process(app.pid).memory_info().rss) / MEGABYTE


def converse(context: BrowserContext, runs: int) -> list[str]:
    """Ask for that many runs, in a few tabs beside each other; the paths of the sessions."""
    tabs = [context.new_page() for _ in range(min(TABS, runs))]
    sessions: list[str] = []
    for number in range(runs):
        turn, page = number // TABS % TURNS, tabs[number % TABS]
        wait_for_answers(page)
        if turn == 0:
            page.goto("/playground")
            page.get_by_test_id("agent-card").first.click()
            page.wait_for_url("**/playground/*")
            sessions.append(urlsplit(page.url).path)
        page.get_by_test_id("chat-input").fill(f"What is {number} + 10?")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("user-message")).to_have_count(turn + 1)
    for page in tabs:
        wait_for_answers(page)
        page.close()
    return sessions


def wait_for_answers(page: Page) -> None:
    """Until nothing is being answered; each question has its answer then."""
    expect(page.get_by_test_id("message-streaming")).to_have_count(0, timeout=60_000)
    expect(page.get_by_test_id("assistant-message")).to_have_count(page.get_by_test_id("user-message").count())


def run_addresses(page: Page) -> list[str]:
    """The pages of the newest runs."""
    page.goto("/runs")
    page.get_by_test_id("run-row").first.wait_for()
    return [f"/runs/{row.get_attribute('data-run')}" for row in page.get_by_test_id("run-row").all()[:3]]


def visit(page: Page, address: str) -> None:
    """See the page until its browser is connected, and something stands in it."""
    page.goto(address, timeout=SLOWEST)
    page.wait_for_function(CONNECTED, timeout=SLOWEST)
    page.wait_for_selector(BUILT, state="attached", timeout=SLOWEST)
