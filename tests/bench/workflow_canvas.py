"""W2: a workflow of 300 nodes in the browser: painted, dragged, panned, a step taken back; what its script weighs.

In milliseconds of a machine that nobody else slows.
"""

import asyncio
import gzip
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright

from app.domain.agents import WorkflowBehaviour, new_agent
from app.domain.workflows.layout import tidied
from app.workbench import Workbench
from tests.app_process import ROOT, AppProcess
from tests.bench.runs_pages import EMPTY, Visit, seconds_to_row
from tests.bench.workflows import large
from tests.bench.yardstick import slower, took
from tests.browser import chromium
from tests.e2e.conftest import FLAGS
from tests.figures import Figure

ROUNDS = 7
NODES = 300
MOVES = 120
SCRIPT_BYTES = 12_000
FRAMES = """() => { window.theFrames = []; let last = performance.now(); window.counting = true;
  const tick = (now) => { theFrames.push(now - last); last = now; if (counting) requestAnimationFrame(tick); };
  requestAnimationFrame(tick); }"""
UNDONE = """() => { const at = (rest) => document.querySelector(rest), canvas = "[data-testid=workflow-canvas]";
  window.undone = new Promise((done) => at("[data-testid=undo-button]").addEventListener("click", () => {
    const began = performance.now(), seen = new MutationObserver(() => {
      if (!at(`${canvas} [data-id=n150]`)) return;
      seen.disconnect();
      requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
    });
    seen.observe(at(canvas), { childList: true, subtree: true });
  }, { once: true, capture: true })); }"""
COUNTED = "() => { counting = false; return theFrames.slice(2); }"


def run(nodes: int = NODES, rounds: int = ROUNDS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "data"
        asyncio.run(prepare(folder, nodes))
        app = AppProcess(folder)
        app.start()
        try:
            return [script(), *measured(app, nodes, rounds)]
        finally:
            app.stop()


async def prepare(folder: Path, nodes: int) -> None:
    workbench = Workbench.open(folder)
    behaviour = WorkflowBehaviour(workflow=tidied(large(nodes)))
    await workbench.agents.create(new_agent("Large", behaviour, taken_slugs=set()))
    await workbench.close()


def script() -> Figure:
    size = len(gzip.compress((ROOT / "app/ui/graph/canvas.js").read_bytes(), 9))
    return Figure("W2 script of the canvas, gzipped", f"{size:,} B", f"<= {SCRIPT_BYTES:,} B", size <= SCRIPT_BYTES)


def measured(app: AppProcess, nodes: int, rounds: int) -> list[Figure]:
    box = "[data-testid=workflow-canvas] [data-testid=workflow-node]"
    last = f"{box}:nth-child(1 of [data-id=output])"
    visit = Visit("/build/large", last, last)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(base_url=app.url, viewport={"width": 1280, "height": 720})
        page.goto(app.address)
        page.wait_for_url(lambda url: "token=" not in url)
        taken: dict[Visit, list[float]] = {EMPTY: [], visit: []}
        for _ in range(rounds + 1):
            for one, seconds in taken.items():
                before = slowness()
                seconds.append(seconds_to_row(page, one) / statistics.mean((before, slowness())))
        above = statistics.median(taken[visit][1:]) - statistics.median(taken[EMPTY][1:])
        hand = page.context.new_cdp_session(page)
        hand.send("Performance.enable")
        drags = [moved(page, hand, at=(box, 3)) for _ in range(rounds)]
        pan = statistics.median(moved(page, hand, at=None)[1] for _ in range(rounds))
        undo = [undone(page) for _ in range(2 * rounds)]
        browser.close()
    drag = statistics.median(work for _, work in drags)
    frames = sorted(frame for some, _ in drags for frame in some)
    slowest, middle = frames[int(len(frames) * 0.95) - 1], statistics.median(undo)
    return [
        bar(f"W2 {nodes} nodes painted, above an empty page", above * 1000, 500),
        bar(f"W2 {nodes} nodes, a frame while one is dragged, p95", slowest, 20),
        bar(f"W2 {nodes} nodes, browser's work a move of a drag", drag, 10),
        bar(f"W2 {nodes} nodes, browser's work a move of a pan", pan, 16),
        bar(f"W2 {nodes} nodes, undo from click to drawn, p50", middle, 200),
    ]


def bar(name: str, ms: float, most: float) -> Figure:
    return Figure(name, f"{ms:.1f} ms", f"<= {most:g} ms", ms <= most)


def moved(page: Page, hand: CDPSession, *, at: tuple[str, int] | None) -> tuple[list[float], float]:
    """The milliseconds of each frame, and of the browser's work a move; of a node, or of the ground."""
    view = page.get_by_test_id("workflow-canvas").bounding_box()
    found = page.locator(at[0]).nth(at[1]).bounding_box() if at else None
    assert view
    x, y = (
        (found["x"] + found["width"] / 2, found["y"] + found["height"] / 2) if found else (view["x"] + 4, view["y"] + 4)
    )
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 6, y + 6)
    before = worked(hand)
    page.evaluate(FRAMES)
    for step in range(MOVES):
        page.mouse.move(x + 60 * (step % 40) / 40 + 6, y + 60 * (step % 30) / 30 + 6)
    frames: list[float] = page.evaluate(COUNTED)
    after = worked(hand)
    page.mouse.up()
    return frames, (after - before) * 1000 / MOVES / slowness()


def slowness() -> float:
    """How much slower than a quiet one the machine is now."""
    return slower(min(took() for _ in range(9)))  # the least: what the app and the browser still do is their own


def worked(hand: CDPSession) -> float:
    """Seconds that the page's main thread has worked."""
    told = hand.send("Performance.getMetrics")["metrics"]
    return next(float(one["value"]) for one in told if one["name"] == "TaskDuration")


def undone(page: Page) -> float:
    """Milliseconds from the click until a node that was removed is drawn again, as the page tells the time."""
    page.get_by_test_id("workflow-find").fill("n150")
    page.get_by_test_id("workflow-canvas").focus()
    page.keyboard.press("Delete")
    node = page.locator("[data-testid=workflow-canvas] [data-id=n150]")
    node.wait_for(state="detached")
    page.evaluate(UNDONE)
    page.get_by_test_id("undo-button").click()
    return float(page.evaluate("() => window.undone"))
