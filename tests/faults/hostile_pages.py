"""R6: hostile text in every place where a page shows what models, tools and people wrote."""

import asyncio
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from app.domain.agents import Behaviour, new_agent
from app.domain.errors import ErrorInfo
from app.domain.events import (
    AgentRef,
    Event,
    FileChanged,
    MessageAdded,
    RunFinished,
    RunStarted,
    ToolCalled,
    ToolReturned,
)  # fmt: skip
from app.domain.messages import (
    FilePart,
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    user_message,
)
from app.domain.sessions import QueuedMessage, Session
from app.domain.streaming import Draft
from app.domain.tool_settings import SavedCall, ToolSetting
from app.domain.values import now, well_formed
from app.store.folder import DataFolder
from tests.app_process import AppProcess
from tests.bench.provider import provider
from tests.browser import chromium
from tests.e2e.conftest import FLAGS
from tests.figures import Figure
from tests.hostile import PAYLOADS
from tests.hostile_agents import Told, plant_agent, plant_comparison
from tests.seeds import seed_trace
from tests.traces import trace_of

ELSEWHERE = "https://evil.example"
LIVE = 12
"""Payloads that are also streamed while the page looks on."""
DANGERS = """() => {
  const found = [];
  if (window.hacked) found.push("script ran");
  for (const element of document.querySelectorAll("main *, .q-dialog *, header *")) {
    for (const attribute of element.attributes) {
      if (/^on/i.test(attribute.name)) found.push(`<${element.tagName} ${attribute.name}>`);
      if (/^\\s*(javascript|vbscript|data:text|file|blob):/i.test(attribute.value) &&
          ["href", "src", "action", "formaction", "xlink:href"].includes(attribute.name))
        found.push(`<${element.tagName} ${attribute.name}=${attribute.value}>`);
    }
    if (/^(SCRIPT|IFRAME|OBJECT|EMBED|FORM|BASE|META|LINK)$/.test(element.tagName)) found.push(`<${element.tagName}>`);
  }
  return found;
}"""


@dataclass
class Planted:
    """Where pages show what was stored."""

    sessions: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    """Their slugs."""
    comparisons: list[str] = field(default_factory=list)

    def places(self) -> list[str]:
        """The addresses of all pages that show any of it."""
        lists = ["/", "/runs", "/agents", "/agents?trash=1", "/compare", "/tools", "/tools/calculator"]
        return [
            *lists,
            *(f"/playground/{one}" for one in self.sessions),
            *(f"/runs/{one}" for one in self.runs),
            *(f"/agents/{one}" for one in self.agents),
            *(f"/compare?agent={one}" for one in self.agents),
            *(f"/compare/{one}" for one in self.comparisons),
        ]


def run(payloads: tuple[str, ...] = PAYLOADS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as temporary, collector() as (address, hits):
        hostile = tuple(
            payload.replace(ELSEWHERE, address).replace("//evil.example", address[5:]) for payload in payloads
        )
        folder = Path(temporary) / "data"
        places = asyncio.run(plant(folder, hostile)).places()
        found, shown = look_at_everything(folder, places, hostile[:: max(1, len(hostile) // LIVE)])
    scripts = f"{len(found)} in {shown} pages with {len(payloads)} payloads"
    for danger in found[:5]:
        print(danger)
    return [
        Figure("R6 scripts run and dangerous elements", scripts, "0", not found),
        Figure("R6 requests to another origin", str(len(hits)), "0", not hits),
    ]


def look_at_everything(folder: Path, places: list[str], live: tuple[str, ...]) -> tuple[list[str], int]:
    """The dangers found, and on how many pages was looked."""
    with provider() as model, sync_playwright() as playwright:
        app = AppProcess(folder, environment={"OPENAI_BASE_URL": model, "OPENAI_API_KEY": "sk-bench"})
        app.start()
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        try:
            page.goto(app.address)
            expect(page.get_by_test_id("agent-card").first).to_be_visible()
            found = stream_live(page, live)
            for place in places:
                page.goto(app.url + place)
                expect(page.locator("main").get_by_role("heading").first).to_be_visible()
                expect(page.get_by_test_id("trouble")).to_have_count(0)
                found += [f"{place}: {danger}" for _ in open_all(page) for danger in page.evaluate(DANGERS)]
        finally:
            browser.close()
            app.stop()
    return found, len(places) + len(live)


def stream_live(page: Page, payloads: tuple[str, ...]) -> list[str]:
    """Let the model say each payload while the page looks on."""
    found: list[str] = []
    page.get_by_test_id("agent-card").filter(has_text="Echo").click()
    for number, payload in enumerate(payloads, start=1):
        page.get_by_test_id("chat-input").fill(payload.replace("\x00", ""))
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("user-message")).to_have_count(number)
        expect(page.get_by_test_id("message-streaming")).to_have_count(0, timeout=30_000)
        found += [f"live: {danger}" for danger in page.evaluate(DANGERS)]
    return found


def open_all(page: Page) -> Iterator[None]:
    """Unfold what is folded, the way a reader would; stops whenever there is something to look at."""
    page.wait_for_load_state("networkidle")
    for test_id in ("tool-call", "reasoning", "compare-steps"):
        for folded in page.get_by_test_id(test_id).all()[:30]:
            folded.locator("summary, button, [role=button]").first.click(timeout=2000)
    for test_id in ("prompt-mode-both", "prompt-preview-tab"):
        if page.get_by_test_id(test_id).is_visible():
            page.get_by_test_id(test_id).click()
    page.wait_for_timeout(200)
    if page.get_by_test_id("side-panel").is_visible():
        expect(page.get_by_test_id("changes-chip")).to_be_visible()
    yield
    for test_id in ("diff-button", "changes-chip"):
        for opens in page.get_by_test_id(test_id).locator("visible=true").all()[:6]:
            opens.click()
            expect(page.get_by_test_id("variant-diff")).to_be_visible()
            yield
            page.keyboard.press("Escape")
            expect(page.get_by_test_id("variant-diff")).to_have_count(0)


async def plant(folder: Path, payloads: tuple[str, ...]) -> Planted:
    """Store each payload in every field that a page shows."""
    planted = Planted()
    for number, payload in enumerate(payloads):
        entries = trace_of(*events(number, payload), run_id=f"hostile-{number}")
        await seed_trace(folder, entries, draft=Draft(text=payload, reasoning=payload) if number % 2 else None)
        planted.runs.append(entries[0].run_id)
    data = DataFolder.open(folder)
    for start in range(0, len(payloads), 20):
        told = [Told(*one) for one in zip(planted.runs, payloads, strict=True)][start : start + 20]
        agent = await plant_agent(data, [one.payload for one in told])
        runs = tuple(one.run_id for one in told)
        session = hostile_session(start, agent.id, agent.slug, payloads[start], runs)
        planted.sessions.append((await data.sessions.create(session)).id)
        planted.agents.append(agent.slug)
        planted.comparisons.append((await plant_comparison(data, agent, told)).id)
    deleted = await plant_agent(data, payloads[:2])
    await data.agents.delete(deleted.id)
    await plant_tool(data, payloads)
    echo = new_agent("Echo", Behaviour(model="openai/echo-0-0"), taken_slugs=data.agents.slugs())
    await data.agents.create(echo)
    await data.close()
    return planted


async def plant_tool(data: DataFolder, payloads: tuple[str, ...]) -> None:
    """Say each payload of the calculator, and in the names and arguments of calls that were saved for it."""
    await data.tool_settings.save("calculator", ToolSetting(description=well_formed("\n".join(payloads))))
    for number, payload in enumerate(map(well_formed, payloads)):
        saved = SavedCall(id=str(number), tool="calculator", name=payload, arguments={"x": payload}, created_at=now())
        await data.saved_calls.save(saved)


def hostile_session(number: int, agent_id: str, slug: str, payload: str, runs: tuple[str, ...]) -> Session:
    return Session(
        id=f"hostile-session-{number}",
        agent_id=agent_id,
        agent_slug=slug,
        variant=1,
        title=payload,
        runs=runs,
        composer=payload,
        composer_attachments=hostile_attachments(payload),
        queue=(hostile_queued(payload),),
        created_at=now(),
        updated_at=now(),
    )


def hostile_queued(payload: str) -> QueuedMessage:
    attachments = hostile_attachments(payload)
    return QueuedMessage(id=payload, text=payload, attachments=attachments, created_at=now(), refusal=payload)


def hostile_attachments(payload: str) -> tuple[ImagePart, FilePart]:
    name = well_formed(payload)
    picture = ImagePart(artifact="0" * 64, media_type="image/png", alt=name)
    return picture, FilePart(artifact=name, media_type=name, filename=name, size=1)


def events(number: int, payload: str) -> Iterator[Event]:
    agent = AgentRef(id="a1", slug="hostile", name=payload, variant=1)
    call = ToolCall(call_id="c1", name=payload[:60], arguments={payload: payload})
    yield RunStarted(session_id=f"hostile-session-{number - number % 20}", agent=agent, model=payload)
    yield MessageAdded(message=user_message(payload, *hostile_attachments(payload)), origin="user")
    thought = (ReasoningPart(text=payload), TextPart(text=payload), call)
    yield MessageAdded(message=Message(role="assistant", parts=thought, model=payload), origin="model")
    yield ToolCalled(call_id="c1", name=payload[:60], arguments={payload: payload})
    yield FileChanged(call_id="c1", path=f"/{payload}", before=None, after="0" * 64)
    result = ToolResult(
        call_id="c1", name=payload[:60], status="error" if number % 3 else "ok", parts=(TextPart(text=payload),)
    )
    yield ToolReturned(call_id="c1", result=result, printed=payload, ms=1, traceback=payload)
    if number % 2 == 0:
        answer = Message(role="assistant", parts=(TextPart(text=payload),), model=payload)
        yield MessageAdded(message=answer, origin="model")
        yield RunFinished(status="failed", error=ErrorInfo(failure="internal", text=payload, traceback=payload))


@contextmanager
def collector() -> Iterator[tuple[str, list[str]]]:
    """Another origin on this machine, and the requests it got."""
    hits: list[str] = []

    class Collect(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hits.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collect)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", hits
    finally:
        server.shutdown()
