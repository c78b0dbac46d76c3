"""W2: how far the canvas lags behind a run of which fifty nodes are alive: from an entry to the node as it is drawn."""

import asyncio
import json
import tempfile
from datetime import datetime
from pathlib import Path

import httpx
from playwright.sync_api import Page, expect, sync_playwright

from app.domain.agents import WorkflowBehaviour, new_agent
from app.domain.workflows.document import ApprovalNode, Edge, InputNode, OutputNode, Template, Workflow
from app.domain.workflows.layout import tidied
from app.workbench import Workbench
from tests.app_process import AppProcess
from tests.browser import chromium
from tests.e2e.conftest import FLAGS
from tests.figures import Figure

NODES = 50
ROUNDS = 3
MOST_MS = 200
SEEN = """() => { window.theSeen = {};
  new MutationObserver((changes) => changes.forEach(({ target }) => {
    if (target.classList.contains("is-done")) theSeen[target.dataset.id] ??= Date.now();
  })).observe(document.querySelector(".wf-layer"), { attributes: true, attributeFilter: ["class"], subtree: true });
}"""


def run(nodes: int = NODES, rounds: int = ROUNDS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "data"
        asyncio.run(prepare(folder, nodes))
        app = AppProcess(folder)
        app.start()
        try:
            late = sorted(one for _ in range(rounds) for one in measured(app, nodes))
        finally:
            app.stop()
    slowest, middle = late[int(len(late) * 0.95) - 1], late[len(late) // 2]
    told = f"{slowest:.0f} ms, p50 {middle:.0f} ms"
    return [Figure(f"W2 state on the canvas, {nodes} nodes alive, p95", told, f"<= {MOST_MS} ms", slowest <= MOST_MS)]


async def prepare(folder: Path, nodes: int) -> None:
    """A workflow that asks as many questions at once."""
    asks = [ApprovalNode(id=f"ask{number}", question="Well?") for number in range(nodes)]
    edges = [Edge(source="input", target=ask.id) for ask in asks]
    edges += [Edge(source=ask.id, port="approved", target="output") for ask in asks]
    output = OutputNode(id="output", value=Template(text="{{input.text}}"))
    wide = Workflow(nodes=(InputNode(id="input"), *asks, output), edges=tuple(edges))
    workbench = Workbench.open(folder)
    await workbench.agents.create(new_agent("Wide", WorkflowBehaviour(workflow=tidied(wide)), taken_slugs=set()))
    await workbench.close()


def measured(app: AppProcess, nodes: int) -> list[float]:
    """Milliseconds by which each node was drawn as done after its end was in the trace."""
    headers = {"Authorization": f"Bearer {app.token}"}
    with (
        httpx.Client(base_url=f"{app.url}/api/v1", headers=headers, timeout=60) as api,
        sync_playwright() as playwright,
    ):
        begun = api.post("/workflows/wide/run", json={"input": "hi", "background": True}).raise_for_status()
        run_id = begun.json()["data"]["run_id"]
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(base_url=app.url, viewport={"width": 1280, "height": 720})
        page.goto(app.address)
        page.wait_for_url(lambda url: "token=" not in url)
        page.goto("/build/wide")
        page.get_by_test_id("show-run").click()
        expect(page.locator(".wf-node.is-waiting")).to_have_count(nodes, timeout=60_000)
        seen = decided(page, api, run_id, nodes)
        browser.close()
        ends = ended(api.get(f"/runs/{run_id}/export", params={"format": "jsonl"}).raise_for_status().text)
    return [seen[id_] - at for id_, at in ends.items()]


def decided(page: Page, api: httpx.Client, run_id: str, nodes: int) -> dict[str, float]:
    """When each node was drawn as done, in milliseconds since 1970."""
    page.evaluate(SEEN)
    for number in range(nodes):
        api.post(f"/runs/{run_id}/pauses/ask{number}", json={"decision": "answer"}).raise_for_status()
        page.evaluate("() => new Promise(requestAnimationFrame)")
    page.wait_for_function("(nodes) => Object.keys(theSeen).length > nodes", arg=nodes)
    seen: dict[str, float] = page.evaluate("theSeen")
    return seen


def ended(written: str) -> dict[str, float]:
    """When each node ended that a person decided on, and the last one, by their entries."""
    entries = [json.loads(line) for line in written.splitlines() if '"node_ended"' in line]
    at = {one["event"]["node"]: datetime.fromisoformat(one["at"]).timestamp() * 1000 for one in entries}
    return {id_: moment for id_, moment in at.items() if id_ != "input"}
