"""From navigation to the content of the pages that show most, against an empty page; and Ctrl-K among many sessions."""

import asyncio
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from app.domain.sessions import Session
from app.workbench import Workbench
from tests.app_process import AppProcess
from tests.bench.runs_pages import EMPTY, ROUNDS, Visit, measured
from tests.browser import chromium
from tests.e2e.conftest import FLAGS
from tests.figures import Figure
from tests.seeds import BATCH, seed_runs

TURNS = 30
STORED_RUNS = SESSIONS = 10_000
TYPED = "rep9"
BAR = 1.5
BAR_MS = 50
WATCH = """() => {
  window.taken = [];
  document.addEventListener("keydown", (event) => {
    if (["Control", "Escape"].includes(event.key)) return;
    const pressed = performance.now();
    const drawn = document.querySelector(".palette-list")?.innerHTML;
    const look = () => {
      const list = document.querySelector(".palette-list");
      const shown = list?.querySelector(".palette-item")?.checkVisibility();
      if (shown && list.innerHTML !== drawn) window.taken.push(performance.now() - pressed);
      else requestAnimationFrame(look);
    };
    look();
  }, {capture: true});
}"""
"""Milliseconds from each key to the list that it leads to."""


def run(*, stored: int = STORED_RUNS, sessions: int = SESSIONS, rounds: int = ROUNDS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "data"
        visits = asyncio.run(seeded(folder, stored=stored, sessions=sessions))
        app = AppProcess(folder)
        app.start()
        try:
            empty, *taken = measured(app, EMPTY, *visits.values(), rounds=rounds)
            milliseconds = pressed(app, rounds)
        finally:
            app.stop()
    figures = [page_figure(name, seconds, empty) for name, seconds in zip(visits, taken, strict=True)]
    return [*figures, palette_figure(milliseconds, sessions)]


async def seeded(folder: Path, *, stored: int, sessions: int) -> dict[str, Visit]:
    """Many runs and sessions, and one session with turns that calculate; by its name, each page that is visited."""
    await seed_runs(folder, stored)
    workbench = Workbench.open(folder, demo_pace=0.001)
    behaviour = PromptBehaviour(
        model="demo/agent", system_prompt="You calculate. " * 100, tools=(ToolChoice(name="calculator"),)
    )
    agent = await workbench.agents.create(new_agent("Bench", behaviour, taken_slugs=workbench.agents.slugs()))
    session = await workbench.chat.new_session(agent.id)
    for start in range(0, sessions, BATCH):
        numbers = range(start, min(start + BATCH, sessions))
        await asyncio.gather(*(workbench.sessions.create(_copy(session, number)) for number in numbers))
    for number in range(TURNS):
        live = await workbench.chat.send(session.id, f"What is {number} + 10, then multiply by 3?")
        await live.ended()
    await workbench.search.ready()  # as in any folder that has been used: the index is made once, at half a processor
    await workbench.close()
    newest = f"[data-testid=assistant-message]:has-text('{(TURNS + 9) * 3}')"
    prompt = "[data-testid=prompt-editor]:has-text('You calculate')"
    counted = "[data-testid=runs-count]:has-text('of ')"
    return {
        f"A session of {TURNS} turns": Visit(f"/playground/{session.id}", newest, "[data-testid=session-files]"),
        "The agent's editor": Visit(f"/agents/{agent.slug}", prompt, "[data-testid=try-chat]"),
        f"Runs with {stored:,} runs": Visit("/runs", "[data-testid=run-row]", counted),
        "Settings": Visit("/settings", "[data-provider-card]", "[data-testid=about]"),
    }


def _copy(session: Session, number: int) -> Session:
    return session.model_copy(update={"id": f"seeded-session-{number}", "title": f"Report {number} of the week"})


def pressed(app: AppProcess, rounds: int) -> list[float]:
    """Milliseconds from Ctrl-K, and from each letter typed then, to the list that it leads to."""
    taken: list[float] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(base_url=app.url, viewport={"width": 1280, "height": 720})
        page.goto(app.address)
        page.wait_for_url(lambda url: "token=" not in url)
        page.get_by_test_id("nav-runs").wait_for()
        page.evaluate(WATCH)
        for _ in range(rounds + 1):
            taken = [*taken, *one_round(page)]
        browser.close()
    return taken[1 + len(TYPED) :]


def one_round(page: Page) -> list[float]:
    page.evaluate("() => { window.taken = []; }")
    for number, key in enumerate(("Control+k", *TYPED), start=1):
        page.keyboard.press(key)
        page.wait_for_function("(number) => window.taken.length === number", arg=number)
        expect(page.get_by_test_id("palette-input")).to_be_focused()
    page.keyboard.press("Escape")
    page.get_by_test_id("command-palette").wait_for(state="detached")
    return [float(one) for one in page.evaluate("() => window.taken")][: 1 + len(TYPED)]


def page_figure(name: str, taken: float, empty: float) -> Figure:
    ratio = taken / empty
    value = f"{ratio:.2f} x ({taken:.2f} s against {empty:.2f} s)"
    return Figure(name, value, f"<= {BAR} x an empty page of the app", ratio <= BAR)


def palette_figure(milliseconds: list[float], sessions: int) -> Figure:
    median = statistics.median(milliseconds)
    value = f"{median:.0f} ms (slowest {max(milliseconds):.0f} ms)"
    return Figure(f"Ctrl-K and typing among {sessions:,} sessions, p50", value, f"<= {BAR_MS} ms", median <= BAR_MS)
