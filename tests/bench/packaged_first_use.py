"""The single file's first use: from its start on a new data folder to the demo model's answer in a browser; and P7, how
large it is on disk and in memory."""

import os
import statistics
import tempfile
import time
from pathlib import Path

import psutil
from playwright.sync_api import Browser, Page, sync_playwright

from tests.app_process import AppProcess
from tests.browser import chromium
from tests.e2e.conftest import FLAGS
from tests.e2e.playground import SUM
from tests.figures import Figure
from tests.packaged.built import FORMS, NOT_BUILT, NOTHING_ELSE, is_built

ROUNDS = 5
ANSWER_BAR, SIZE_BAR, MEMORY_BAR = "<= 5 s", "<= 95 MB", "<= 110 MB"
WATCHED = 15.0
"""Seconds that its memory is watched for after the answer: it makes ready in that time what is likely to follow."""
MEGABYTE = 1_000_000
_FOCUSED = "() => document.activeElement?.dataset.testid === 'chat-input'"
_ANSWERED = """() => {
  const one = (name) => document.querySelector(`[data-testid=${name}]`);
  const answered = one("assistant-message")?.innerText.includes("45") && !one("message-streaming");
  return answered && one("stream-state").innerText === "Idle";
}"""


def run(rounds: int = ROUNDS) -> list[Figure]:
    names = ("Cold start to the demo model's answer", "P7 single file", "P7 memory with the demo model")
    if not is_built():
        return [
            Figure(name, NOT_BUILT, bar, None)
            for name, bar in zip(names, (ANSWER_BAR, SIZE_BAR, MEMORY_BAR), strict=True)
        ]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        uses = [first_use(browser, watched=WATCHED * (number == 0)) for number in range(rounds)]
        browser.close()
    seconds = [seconds for seconds, _ in uses]
    memory = max(bytes_used for _, bytes_used in uses) / MEGABYTE
    size = FORMS["file"].stat().st_size / MEGABYTE
    median = statistics.median(seconds)
    spread = f"{median:.1f} s ({min(seconds):.1f} to {max(seconds):.1f} s)"
    return [
        Figure(names[0], spread, ANSWER_BAR, median <= 5),
        Figure(names[1], f"{size:.1f} MB", SIZE_BAR, size <= 95),
        Figure(names[2], f"{memory:.0f} MB", MEMORY_BAR, memory <= 110),
    ]


def first_use(browser: Browser, *, watched: float) -> tuple[float, int]:
    """Seconds until the answer is on the page, and the most bytes of memory then and while it is watched."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        app = AppProcess(Path(home) / "data", executable=FORMS["file"], environment={**NOTHING_ELSE, "HOME": home})
        forget(FORMS["file"])
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        began = time.perf_counter()
        app.start()
        try:
            page.goto(app.playground)
            _ask(page)
            return time.perf_counter() - began, most_memory(app, watched)
        finally:
            page.close()
            app.stop()


def _ask(page: Page) -> None:
    """Return as soon as the answer is there: what `expect` waits for it may see up to a second late."""
    page.get_by_test_id("agent-card").filter(has_text="Assistant").click()
    page.wait_for_function(_FOCUSED)
    page.keyboard.insert_text(SUM)
    page.keyboard.press("Enter")
    page.wait_for_function(_ANSWERED)


def forget(file: Path) -> None:
    """Let the system drop what it has of the file in memory, where it can be told to: the next start is a cold one."""
    if hasattr(os, "posix_fadvise"):
        descriptor = os.open(file, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def most_memory(app: AppProcess, seconds: float) -> int:
    """The most that the app and its starter had in memory together."""
    starter = psutil.Process(app.pid)
    until = time.monotonic() + seconds
    most = 0
    while True:
        most = max(most, sum(process.memory_info().rss for process in (starter, *starter.children(recursive=True))))
        if time.monotonic() > until:
            return most
        time.sleep(0.1)
