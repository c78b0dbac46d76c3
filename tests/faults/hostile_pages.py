"""R6: hostile text in every place where a page shows what models, tools, people and files say."""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import httpx
from playwright.sync_api import Page, expect, sync_playwright

from app.domain.agents import PromptBehaviour, new_agent
from app.domain.events import Entry
from app.domain.streaming import Draft
from app.store.folder.folder import DataFolder
from tests.app_process import AppProcess
from tests.browser import chromium
from tests.e2e.conftest import FLAGS
from tests.figures import Figure
from tests.hostile import PAYLOADS
from tests.hostile_agents import Told, plant_agent, plant_comparison
from tests.hostile_browser import Watch
from tests.hostile_runs import hostile_run, hostile_session
from tests.hostile_servers import REFUSE, collector, echo
from tests.hostile_settings import FILE, REQUEST, SERVER, plant_settings, plant_tools
from tests.seeds import seed_trace, seed_traces
from tests.traces import trace_of

ELSEWHERE = "https://evil.example"
PATIENCE = 120_000
"""Milliseconds for whatever a machine that does much else is slow with."""
LIVE = 5
"""Payloads that are also streamed while the page looks on; as many come as errors of the provider."""
TURNS = 30
"""Runs of one session: as many as its page shows."""
AT_ONCE = 50
"""Payloads of one long run."""
VIEWS = ("trajectory", "waterfall", "messages", "review", "raw")
LISTS = (
    *("/", "/playground", "/runs", "/runs?page=2", "/runs?page=3", "/agents", "/agents?trash=1", "/agents?new=1"),
    *("/build", "/monitoring", "/resources", "/evals", "/matrix", "/review"),
    *("/compare", "/jobs", "/integrations", "/integrations?new=1", "/settings", "/setup", "/tools"),
    *("/tools/sources/all", "/tools/calculator", "/tools/http_get", "/tools/web_search", "/tools/new/request"),
    *(f"/tools/server/{SERVER}", f"/tools/request/{REQUEST}", f"/tools/{REQUEST}", f"/tools/file/{FILE}"),
)
ECHOES = (
    *("/playground/{}", "/runs/{}", "/runs?q={}", "/runs?agent={}&model={}", "/agents/{}", "/agents?q={}"),
    *("/tools/{}", "/tools/file/{}.py", "/tools/server/{}", "/tools/request/{}", "/compare/{}", "/compare?agent={}"),
    *("/build/{}", "/build?new={}", "/evals/{}", "/matrix/{}", "/review?queue={}", "/monitoring?over={}"),
    *("/settings?provider={}", "/integrations?agent={}", "/jobs?show={}", "/no/{}"),
)
"""Addresses that say again, or look for, what stands in them."""
CLICK = "element => element.click()"
UNFOLD = "main details:not([open]) > summary"
FOLDED = ("tool-call", "reasoning", "compare-steps")


@dataclass
class Planted:
    """Where pages show what was stored."""

    sessions: list[str] = field(default_factory=list)
    long_runs: list[str] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    """Their slugs."""
    comparisons: list[str] = field(default_factory=list)

    def places(self) -> list[str]:
        """The addresses of all pages that show any of it, but the long runs."""
        return [
            *LISTS,
            *(f"/playground/{one}" for one in self.sessions),
            *(f"/agents/{one}" for one in self.agents),
            *(f"/compare?agent={one}" for one in self.agents),
            *(f"/compare/{one}" for one in self.comparisons),
        ]


def run(payloads: tuple[str, ...] = PAYLOADS, *, brief: bool = False) -> list[Figure]:
    if not brief:
        expect.set_options(timeout=PATIENCE)
    with tempfile.TemporaryDirectory() as temporary, collector() as (address, hits):
        hostile = tuple(
            payload.replace(ELSEWHERE, address).replace("//evil.example", address[5:]) for payload in payloads
        )
        folder = Path(temporary) / "data"
        planted = asyncio.run(plant(folder, hostile))
        watch = look_around(folder, planted, hostile, elsewhere=address.rpartition(":")[2], brief=brief)
    for words in list(dict.fromkeys([*watch.found, *watch.left, *hits]))[:12]:
        print(f"  {words[:300]}")
    scripts = f"{len(watch.found)} at {watch.looks} looks at pages with {len(payloads)} payloads"
    leaks = f"{len(watch.left)} asked for by the browser, {len(hits)} arrived"
    return [
        Figure("R6 scripts run and dangerous elements", scripts, "0", not watch.found),
        Figure("R6 requests off this origin", leaks, "0", not hits and not watch.left),
    ]


def look_around(folder: Path, planted: Planted, payloads: Sequence[str], *, elsewhere: str, brief: bool) -> Watch:
    """Look at all there is, or briefly at one page of each kind, with what is wrong noted."""
    with echo() as model, sync_playwright() as playwright:
        environment = {"OPENAI_BASE_URL": model, "OPENAI_API_KEY": "sk-bench"}
        app = AppProcess(folder, environment=environment, options=("--trust-tools",))
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        try:
            app.start()
            context = browser.new_context(viewport={"width": 1280, "height": 720}, base_url=app.url)
            watch = Watch(context, app, elsewhere)
            page = context.new_page()
            page.goto(app.playground)
            expect(page.get_by_test_id("agent-card").first).to_be_visible()
            if brief:
                look_briefly(page, watch, planted)
            else:
                look_at_everything(page, watch, planted, payloads, app)
        finally:
            browser.close()
            app.stop()
    return watch


def look_briefly(page: Page, watch: Watch, planted: Planted) -> None:
    visit(page, watch, "/monitoring")
    visit(page, watch, f"/playground/{planted.sessions[0]}")
    look_at_run(page, watch, planted.long_runs[0], views=())


def look_at_everything(page: Page, watch: Watch, planted: Planted, payloads: Sequence[str], app: AppProcess) -> None:
    stream_live(page, watch, payloads[:: max(1, len(payloads) // LIVE)])
    for one in planted.long_runs:
        look_at_run(page, watch, one)
    for place in (*planted.places(), *tool_pages(page)):
        visit(page, watch, place)
    for place in echoes(payloads):
        page.goto(place)
        expect(page.locator("main").first).to_be_visible()
        watch.look(page, place)
    look_at_exports(page, watch, planted.long_runs, app)
    page.goto("/settings")
    page.get_by_test_id("settings-mode-user").evaluate(CLICK)
    expect(page.get_by_test_id("settings-mode-user")).to_have_attribute("aria-pressed", "true")
    for place in planted.places()[:: 2 if len(planted.sessions) > 1 else 1]:
        visit(page, watch, place)
    look_at_run(page, watch, planted.long_runs[0], views=("review",))


def tool_pages(page: Page) -> list[str]:
    """The pages of a tool of the file and of one of the server."""
    page.goto("/tools")
    expect(page.get_by_test_id("tool-row").first).to_be_visible()
    links = page.locator("[data-tool-list] a.tool-link")
    addresses = [str(link) for link in links.evaluate_all("links => links.map(link => link.getAttribute('href'))")]
    of_others = [one for one in addresses if "bad" in one or one.endswith("f0")]
    assert of_others, addresses
    return of_others[:2] + of_others[-1:]


def visit(page: Page, watch: Watch, place: str) -> None:
    """Open the page and what is folded on it, the way a reader would."""
    page.goto(place)
    expect(page.locator("main").get_by_role("heading").first).to_be_visible()
    expect(page.get_by_test_id("trouble"), place).to_have_count(0)
    watch.look(page, place)
    unfold(page)
    for test_id in ("prompt-mode-both", "prompt-preview-tab", "more-filters"):
        if page.get_by_test_id(test_id).is_visible():
            page.get_by_test_id(test_id).evaluate(CLICK)
    watch.look(page, f"{place}, unfolded")
    page.keyboard.press("Escape")
    for opens in page.get_by_test_id("diff-button").locator("visible=true").all()[:2]:
        opens.evaluate(CLICK)
        expect(page.get_by_test_id("variant-diff")).to_be_visible()
        watch.look(page, f"{place}, differences")
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("variant-diff")).to_have_count(0)


def unfold(page: Page) -> None:
    """A click of the page's own, for all at once: a long page has hundreds."""
    page.evaluate("folded => document.querySelectorAll(folded).forEach((one) => one.click())", UNFOLD)
    for test_id in FOLDED:
        for folded in page.get_by_test_id(test_id).all()[:6]:
            folded.locator("summary, button, [role=button]").first.evaluate(CLICK)
    page.evaluate("document.querySelectorAll('.q-expansion-item .q-item').forEach((one) => one.click())")


def look_at_run(page: Page, watch: Watch, run_id: str, views: Sequence[str] = VIEWS) -> None:
    """The run's page in every view, and its dialogs."""
    place = f"/runs/{run_id}"
    visit(page, watch, place)
    page.get_by_test_id("fork-button").first.evaluate(CLICK)
    expect(page.get_by_test_id("fork-dialog")).to_be_visible()
    watch.look(page, f"{place}, fork")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("fork-dialog")).to_have_count(0)
    page.get_by_test_id("run-export").evaluate(CLICK)
    expect(page.get_by_test_id("export-dialog")).to_be_visible()
    watch.look(page, f"{place}, export")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("export-dialog")).to_have_count(0)
    for view in views:
        page.goto(f"{place}?view={view}")
        expect(page.locator("main").get_by_role("heading").first).to_be_visible()
        watch.look(page, f"{place}, {view}")
        unfold(page)
        watch.look(page, f"{place}, {view}, unfolded")


def stream_live(page: Page, watch: Watch, payloads: Sequence[str]) -> None:
    """Let a model say each payload while the page looks on, then refuse with it; look at the palette on the way."""
    page.get_by_test_id("agent-card").filter(has_text="Echo").last.click()
    told = [*payloads, *(REFUSE + payload for payload in payloads)]
    for number, payload in enumerate(told, start=1):
        page.get_by_test_id("chat-input").fill(payload.replace("\x00", ""))
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("user-message")).to_have_count(number)
        expect(page.get_by_test_id("message-streaming")).to_have_count(0, timeout=2 * PATIENCE)
        watch.look(page, "live")
    page.keyboard.press("Control+k")
    expect(page.get_by_test_id("command-palette")).to_be_visible()
    watch.look(page, "palette")
    page.keyboard.press("Escape")


def echoes(payloads: Sequence[str]) -> list[str]:
    """Every address that says again what stands in it, each with some of the payloads."""
    said = [quote(payload, safe="")[:1500] for payload in payloads if "\n" not in payload and "\r" not in payload]
    return [
        address.replace("{}", said[(number * 7 + again * 31) % len(said)])
        for number, address in enumerate(ECHOES)
        for again in range(2)
    ]


def look_at_exports(page: Page, watch: Watch, run_ids: Sequence[str], app: AppProcess) -> None:
    """Web pages opened from the disk, a bundle brought back, and the documentation of the API."""
    headers = {"Authorization": f"Bearer {app.token}"}
    with httpx.Client(base_url=f"{app.url}/api/v1", headers=headers, timeout=60) as client:
        for run_id in run_ids:
            exported = client.get(f"/runs/{run_id}/export", params={"format": "html"}).raise_for_status()
            file = app.data.parent / f"{run_id}.html"
            file.write_bytes(exported.content)
            page.goto(file.as_uri())
            page.evaluate("document.body.classList.add('exported')")
            watch.look(page, f"{run_id}.html")
        bundle = client.get(f"/runs/{run_ids[0]}/export", params={"format": "bundle"}).raise_for_status()
        imported = client.post("/runs/import", content=bundle.content).raise_for_status().json()["data"]["run_id"]
    visit(page, watch, f"/runs/{imported}")
    page.goto("/api/v1/docs")
    page.evaluate("document.body.classList.add('exported')")
    watch.look(page, "/api/v1/docs")


async def plant(folder: Path, payloads: tuple[str, ...]) -> Planted:
    """Store each payload in every field that a page shows."""
    planted = Planted()
    short = {f"hostile-{number}": payload for number, payload in enumerate(payloads)}
    await seed_traces(folder, [_trace(run_id, number, (one,)) for number, (run_id, one) in enumerate(short.items())])
    for start in range(0, len(payloads), AT_ONCE):
        entries = _trace(f"long-{start}", 3 + start // AT_ONCE, payloads[start : start + AT_ONCE])
        joined = "\n\n".join(payloads[start : start + AT_ONCE])
        planted.long_runs.append(await seed_trace(folder, entries, draft=Draft(text=joined, reasoning=joined)))
    data = DataFolder.open(folder)
    for start in range(0, len(payloads), TURNS):
        told = [Told(*one) for one in short.items()][start : start + TURNS]
        agent = await plant_agent(data, [one.payload for one in told])
        runs = tuple(one.run_id for one in told)
        session = hostile_session(f"session-{start}", agent.id, agent.slug, told[0].payload, runs)
        planted.sessions.append((await data.sessions.create(session)).id)
        planted.agents.append(agent.slug)
        planted.comparisons.append((await plant_comparison(data, agent, told)).id)
    await data.agents.delete((await plant_agent(data, payloads[:2])).id)
    await plant_tools(data, payloads)
    await plant_settings(data, payloads)
    echo_agent = new_agent("Echo", PromptBehaviour(model="openai/echo"), taken_slugs=data.agents.slugs())
    await data.agents.create(echo_agent)
    await data.close()
    return planted


def _trace(run_id: str, number: int, payloads: Sequence[str]) -> list[Entry]:
    """A run that belongs to the session in which it is shown."""
    session = f"session-{number - number % TURNS}"
    return trace_of(*hostile_run(number, payloads, session), run_id=run_id)
