"""E4: a matrix of 1,000 cases × 4 columns × 3 repeats: from navigation to the first row, from a filter to its rows."""

import asyncio
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.app_process import AppProcess
from tests.bench.runs_pages import EMPTY, Visit, figure, seconds_to_row
from tests.browser import chromium
from tests.e2e.conftest import FLAGS
from tests.figures import Figure
from tests.seeded_evals import random_rows, seeded

ROUNDS = 9
CASES, COLUMNS, REPEATS = 1000, 4, 3
FILTER_MS = 300
MATRIX = Visit("/matrix/e1", "[data-testid=matrix-row]", "[data-testid=matrix-cell]")
TOLD = ".matrix-notes [role=status]"
"""How many cases are shown."""
FILTERS = ("flip", "error", "regression", "")
"""Chosen in turn, back to all."""


def run(rounds: int = ROUNDS, cases: int = CASES) -> list[Figure]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "data"
        asyncio.run(seeded(folder, random_rows(cases, COLUMNS, REPEATS), traces=False))
        app = AppProcess(folder)
        app.start()
        try:
            first, empty, matrix, filters = measured(app, rounds)
        finally:
            app.stop()
    size = f"{cases:,} cases x {COLUMNS} x {REPEATS}"
    slowest = 1000 * statistics.median(filters)
    opened = figure(f"E4 a matrix of {size}", matrix, empty)
    return [
        replace(opened, value=f"{opened.value}; {first:.2f} s the first time after a start"),
        Figure(f"X5 filter to rows in {size}, p50", f"{slowest:.0f} ms", f"<= {FILTER_MS} ms", slowest <= FILTER_MS),
    ]


def measured(app: AppProcess, rounds: int) -> tuple[float, float, float, list[float]]:
    """Seconds: the very first visit, the medians of an empty page and of the matrix, and each change of a filter."""
    taken: dict[Visit, list[float]] = {EMPTY: [], MATRIX: []}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(base_url=app.url, viewport={"width": 1280, "height": 720})
        page.goto(app.address)
        page.wait_for_url(lambda url: "token=" not in url)
        for _ in range(rounds + 1):
            for visit, seconds in taken.items():
                seconds.append(seconds_to_row(page, visit))
        filters = [seconds_to_filter(page, flag) for _ in range(rounds) for flag in FILTERS]
        browser.close()
    first = taken[MATRIX][0]
    return first, *(statistics.median(seconds[1:]) for seconds in taken.values()), filters


def seconds_to_filter(page: Page, flag: str) -> float:
    """From a click until the rows are those of the filter."""
    before = page.locator(TOLD).inner_text()
    began = time.perf_counter()
    page.get_by_test_id(f"matrix-show-{flag}").click()
    page.wait_for_function(f"before => document.querySelector('{TOLD}').innerText !== before", arg=before)
    return time.perf_counter() - began
