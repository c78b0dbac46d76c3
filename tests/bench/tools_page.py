"""From a click on Tools to a list of 300 tools on the page."""

import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.app_process import AppProcess
from tests.browser import chromium
from tests.e2e.conftest import FLAGS
from tests.figures import Figure

ROUNDS = 15
TOOLS = 300
BAR_MS = 300


def run(rounds: int = ROUNDS, tools: int = TOOLS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as temporary:
        # The tools of `tests.tools_app` itself count too.
        app = AppProcess(Path(temporary), module="tests.tools_app", environment={"MANY_TOOLS": str(tools)})
        app.start()
        try:
            taken = measured(app, rounds, tools)
        finally:
            app.stop()
    median = statistics.median(taken) * 1000
    return [Figure(f"Tools page with {tools} tools", f"{median:.0f} ms", f"<= {BAR_MS} ms", median <= BAR_MS)]


def measured(app: AppProcess, rounds: int, tools: int) -> list[float]:
    """Seconds of each round; the first one warms up and is left out."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(base_url=app.url, viewport={"width": 1280, "height": 720})
        page.goto(app.address)
        page.wait_for_url(lambda url: "token=" not in url)
        taken = [seconds_to_list(page, tools) for _ in range(rounds + 1)]
        browser.close()
    return taken[1:]


def seconds_to_list(page: Page, tools: int) -> float:
    page.get_by_test_id("nav-agents").click()
    page.get_by_test_id("agent-card").first.wait_for()
    began = time.perf_counter()
    page.get_by_test_id("nav-tools").click()
    page.wait_for_function(
        "tools => document.querySelectorAll('[data-testid=tool-row]').length >= tools", arg=tools, polling="raf"
    )
    return time.perf_counter() - began
