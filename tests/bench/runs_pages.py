"""P5: from navigation to the first row, Runs with 10,000 runs and a run of 20,000 events, against an empty page."""

import asyncio
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.app_process import AppProcess
from tests.browser import chromium
from tests.e2e.conftest import FLAGS
from tests.figures import Figure
from tests.seeds import seed_long_run, seed_runs

ROUNDS = 9
STORED_RUNS = 10_000
EVENTS = 20_000
BAR = 2.5


@dataclass(frozen=True)
class Visit:
    address: str
    first_row: str
    settled: str
    """What is there when the server has nothing left to do for this page, so that the next visit finds it idle."""


EMPTY = Visit("/there-is-no-such-page", "[data-testid=trouble]", "[data-testid=trouble]")


def run(*, stored: int = STORED_RUNS, events: int = EVENTS, rounds: int = ROUNDS) -> list[Figure]:
    runs_listed = f"[data-testid=runs-count]:has-text('of {stored + 1:,}')"
    cards_counted = f".trace-count:has-text('{events * 3 // 5:,} cards')"
    visits = (
        Visit("/runs", "[data-testid=run-row]", runs_listed),
        Visit("/runs/long-run", "[data-testid=run-step]", cards_counted),
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "data"
        asyncio.run(seed_runs(folder, stored))
        asyncio.run(seed_long_run(folder, events))
        app = AppProcess(folder)
        app.start()
        try:
            empty, listed, traced = measured(app, EMPTY, *visits, rounds=rounds)
        finally:
            app.stop()
    return [
        figure(f"P5 Runs with {stored:,} runs", listed, empty),
        figure(f"P5 a run of {events:,} events", traced, empty),
    ]


def measured(app: AppProcess, *visits: Visit, rounds: int = ROUNDS) -> list[float]:
    """Seconds to the first row of each page, the median of rounds that take turns; the first round warms up."""
    taken: dict[str, list[float]] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(base_url=app.url, viewport={"width": 1280, "height": 720})
        page.goto(app.address)
        page.wait_for_url(lambda url: "token=" not in url)
        for _ in range(rounds + 1):
            for visit in visits:
                taken.setdefault(visit.address, []).append(seconds_to_row(page, visit))
        browser.close()
    return [statistics.median(taken[visit.address][1:]) for visit in visits]


def seconds_to_row(page: Page, visit: Visit) -> float:
    began = time.perf_counter()
    page.goto(visit.address, wait_until="commit")
    page.wait_for_selector(visit.first_row)
    taken = time.perf_counter() - began
    page.wait_for_selector(visit.settled)
    return taken


def figure(name: str, taken: float, empty: float) -> Figure:
    ratio = taken / empty
    value = f"{ratio:.2f} x ({taken:.2f} s against {empty:.2f} s)"
    return Figure(name, value, f"<= {BAR} x an empty page of the app", ratio <= BAR)
