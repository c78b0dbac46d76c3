"""From a keystroke in a prompt of 20,000 characters to its preview, painted, side by side with the editor."""

import asyncio
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from app.domain.agents import PromptBehaviour, Variable, new_agent
from app.workbench import Workbench
from tests.app_process import AppProcess
from tests.browser import chromium
from tests.e2e.conftest import FLAGS
from tests.figures import Figure

CHARACTERS = 20_000
KEYSTROKES = 40
BAR_MS = 100
LINE = "Answer {{audience}} in full sentences, and say which tool each of your numbers came from.\n"
WATCH = """() => {
  window.painted = null;
  const preview = document.querySelector("[data-testid=prompt-preview]");
  let pressed = null;
  document.addEventListener("keydown", () => { pressed = performance.now(); }, {capture: true, once: true});
  const seen = new MutationObserver(() => {
    if (pressed === null) return;
    seen.disconnect();
    // The frame after the one in which it was drawn.
    requestAnimationFrame(() => requestAnimationFrame(() => { window.painted = performance.now() - pressed; }));
  });
  seen.observe(preview, {childList: true, subtree: true, characterData: true});
}"""


def run(keystrokes: int = KEYSTROKES) -> list[Figure]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "data"
        asyncio.run(plant(folder))
        app = AppProcess(folder)
        app.start()
        try:
            milliseconds = measured(app, keystrokes)
        finally:
            app.stop()
    p95 = statistics.quantiles(milliseconds, n=20)[-1]
    value = f"{p95:.0f} ms (p50 {statistics.median(milliseconds):.0f} ms)"
    name = f"keystroke to preview at {CHARACTERS:,} characters, p95"
    return [Figure(name, value, f"<= {BAR_MS} ms", p95 <= BAR_MS)]


async def plant(folder: Path) -> None:
    workbench = Workbench.open(folder)
    prompt = (LINE * (CHARACTERS // len(LINE) + 1))[:CHARACTERS]
    behaviour = PromptBehaviour(system_prompt=prompt, variables=(Variable(name="audience", default="engineers"),))
    await workbench.agents.create(new_agent("Bench", behaviour, taken_slugs=workbench.agents.slugs()))
    await workbench.close()


def measured(app: AppProcess, keystrokes: int) -> list[float]:
    """Milliseconds of each keystroke; the first ones warm up."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(base_url=app.url, viewport={"width": 1280, "height": 720})
        page.goto(app.address)
        page.wait_for_url(lambda url: "token=" not in url)
        page.goto("/agents/bench")
        page.get_by_test_id("prompt-mode-both").click()
        expect(page.get_by_test_id("prompt-preview")).to_contain_text("engineers")
        page.get_by_test_id("prompt-editor").get_by_role("textbox").click()
        page.keyboard.press("ControlOrMeta+End")
        taken = [keystroke(page) for _ in range(keystrokes + 5)]
        browser.close()
    return taken[5:]


def keystroke(page: Page) -> float:
    page.evaluate(WATCH)
    page.keyboard.press("x")
    painted = page.wait_for_function("() => window.painted")
    milliseconds = painted.json_value()
    assert isinstance(milliseconds, int | float)
    return float(milliseconds)
