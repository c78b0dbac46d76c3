"""X10: answers rated by keyboard one after the other, and the app killed as soon as a thumb is shown."""

import asyncio
import random
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from app.domain.evals.scores import AGAIN, RATING
from app.workbench import Workbench
from tests.app_process import AppProcess
from tests.browser import chromium
from tests.e2e.conftest import FLAGS
from tests.figures import Figure
from tests.seeded_evals import seeded

REVIEWS, KILLS = 100, 50
NEXT_MS = 150
MOST_AT_ONCE = 4
"""Thumbs given between two kills."""
PLACE = "[data-testid=review-count]"
QUEUE = "/review?queue=failures&experiment=e1"


def run(reviews: int = REVIEWS, kills: int = KILLS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "data"
        asyncio.run(seeded(folder, ["P F"] * (reviews + MOST_AT_ONCE * kills + 1)))
        app = AppProcess(folder)
        with browsing(app) as page:
            taken = sorted(next_shown(page, app, reviews))
            given, lost = killed(page, app, kills)
    slow = 1000 * taken[min(len(taken) - 1, int(0.95 * len(taken)))]
    return [
        Figure(f"X10 next answer after J, p95 of {reviews}", f"{slow:.0f} ms", f"<= {NEXT_MS} ms", slow <= NEXT_MS),
        Figure("X10 thumbs lost to kill -9", f"{lost} of {given} in {kills} kills", "0", not lost),
    ]


@contextmanager
def browsing(app: AppProcess) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        try:
            yield browser.new_page(viewport={"width": 1280, "height": 720})
        finally:
            browser.close()
            app.stop_if_running()


def begin(page: Page, app: AppProcess) -> None:
    page.goto("about:blank")  # the page of an app that was killed loads itself anew once there is one again
    app.start()
    page.goto(app.address)
    page.wait_for_url(f"{app.url}/")  # where it leads by itself
    page.goto(f"{app.url}{QUEUE}")
    page.wait_for_selector("[data-testid=review-item] h2")


def next_shown(page: Page, app: AppProcess, reviews: int) -> list[float]:
    """Seconds from J to the next answer, each time after a thumb."""
    begin(page, app)
    taken = []
    for place in range(1, reviews + 1):
        rate(page, place)
        began = time.perf_counter()
        page.keyboard.press("j")
        wait_for_place(page, rf"^{place + 1:,} of ")
        taken.append(time.perf_counter() - began)
    app.kill()
    return taken


def killed(page: Page, app: AppProcess, kills: int) -> tuple[int, int]:
    """How many thumbs were shown as given before a kill, and how many of them were not on disk after it."""
    chance, stored, shown, lost = random.Random(10), ratings(app.data), 0, 0
    for _ in range(kills):
        begin(page, app)
        given = chance.randint(1, MOST_AT_ONCE)
        for place in range(1, given + 1):
            rate(page, place)
            if place < given:
                page.keyboard.press("j")
                wait_for_place(page, rf"^{place + 1:,} of ")
        app.kill()
        now_stored = ratings(app.data)
        shown, lost, stored = shown + given, lost + max(0, stored + given - now_stored), now_stored
    return shown, lost


def rate(page: Page, rated: int) -> None:
    """Give a thumb, and wait until it shows."""
    page.keyboard.press(random.choice("12"))
    wait_for_place(page, rf" {rated:,} rated")


def wait_for_place(page: Page, pattern: str) -> None:
    page.wait_for_function(
        "([place, said]) => new RegExp(said).test(document.querySelector(place).innerText)", arg=[PLACE, pattern]
    )


def ratings(folder: Path) -> int:
    """How many thumbs are on disk."""

    async def counted() -> int:
        bench = Workbench.open(folder)
        try:
            return len(bench.scores.named(RATING, f"{AGAIN}{RATING}"))
        finally:
            await bench.close()

    with ThreadPoolExecutor(1) as beside:  # Playwright's own event loop runs in this thread
        return beside.submit(lambda: asyncio.run(counted())).result()
