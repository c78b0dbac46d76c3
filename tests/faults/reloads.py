"""R3: the page reloaded again and again in mid-answer, beside a tab that never is."""

import re
import tempfile
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

from tests.app_process import AppProcess
from tests.browser import chromium
from tests.e2e.conftest import FLAGS
from tests.figures import Figure

RELOADS = 100
UNSETTLED = 120
"""Characters at the end of what was seen that Markdown may still draw in another way."""
QUESTION = "tell me a long story"


def run(reloads: int = RELOADS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        app = AppProcess(Path(temporary) / "data")
        app.start()
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        done = good = equal = stories = 0
        try:
            while done < reloads:
                went_on, counted, same = one_story(browser.new_context(), app, reloads - done)
                done, good, equal, stories = done + counted, good + went_on, equal + same, stories + 1
        finally:
            browser.close()
            app.stop()
    return [
        Figure("R3 reloads in mid-answer that went on from what was seen", f"{good} of {done}", "all", good == done),
        Figure("R3 final texts equal to the tab never reloaded", f"{equal} of {stories}", "all", equal == stories),
    ]


def one_story(context: BrowserContext, app: AppProcess, at_most: int) -> tuple[int, int, int]:
    """How many reloads went on without a gap, how many there were, and whether both tabs ended with the same text."""
    steady = context.new_page()
    steady.goto(app.playground)
    steady.get_by_test_id("agent-card").first.click()
    steady.get_by_test_id("chat-input").fill(QUESTION)
    steady.keyboard.press("Enter")
    expect(steady.get_by_test_id("message-streaming")).to_contain_text("the", timeout=60_000)
    reloaded = context.new_page()
    reloaded.goto(steady.url)
    went_on = counted = 0
    seen = answer(reloaded)
    while counted < at_most:
        reloaded.reload()
        now_shown = answer(reloaded)
        if not streaming(reloaded):
            break
        counted += 1
        went_on += now_shown.startswith(seen[:-UNSETTLED])
        seen = now_shown
    if counted == at_most and streaming(steady):
        steady.get_by_test_id("stop-button").click()
    for page in (steady, reloaded):
        expect(page.get_by_test_id("message-streaming")).to_have_count(0, timeout=120_000)
    same = answer(steady) == answer(reloaded)
    context.close()
    return went_on, counted, int(same)


def answer(page: Page) -> str:
    """The last answer's text as the page shows it, without white space."""
    shown = page.get_by_test_id("assistant-message").last.locator(".answer")
    expect(shown).to_contain_text("the", timeout=60_000)
    return re.sub(r"\s+", "", shown.inner_text())


def streaming(page: Page) -> bool:
    return page.get_by_test_id("message-streaming").count() > 0
