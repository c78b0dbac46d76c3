"""What the executable has to do on a computer that has nothing else of the app."""

import asyncio
import base64
import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import psutil
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.app_process import ROOT, AppProcess
from tests.e2e import test_sign_in_at_servers as sign_in_servers
from tests.e2e.complaints import Complaints
from tests.e2e.playground import SUM, ask, finished, send, start_session
from tests.e2e.test_build import created
from tests.e2e.test_mcp import agree, has_status, opened, paste, run
from tests.e2e.test_settings import card, save
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.bedrock import FakeBedrock
from tests.fakes.gemini import FakeGemini
from tests.fakes.ollama import FakeOllama
from tests.fakes.openai import FakeOpenAI
from tests.fakes.process import openai_process
from tests.fakes.server import FakeServer
from tests.llm.sending import picture
from tests.oauth_servers import Manners, beside
from tests.packaged.built import TOLD_TO_END
from tests.view_servers import ours
from tests.waiting import wait_until

USER_TOOL = '''\
import ctypes, decimal, sqlite3, xml.etree.ElementTree, zoneinfo

from agent_playground import tool


@tool
def metres(feet: float) -> str:
    """Convert feet into metres."""
    return str(decimal.Decimal(str(feet)) * decimal.Decimal("0.3048"))
'''
ANSWER_SECONDS = 60
KEY = "sk-saved-0123456789-WXYZ"


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    """The address of a provider that takes that key alone."""
    with openai_process(KEY) as address:
        yield f"{address}/v1"


def post(app: AppProcess, path: str, body: object) -> httpx.Response:
    headers = {"Authorization": f"Bearer {app.token}"}
    return httpx.post(f"{app.url}/api/v1/{path}", json=body, headers=headers, timeout=ANSWER_SECONDS)


def asked(app: AppProcess, provider: str, model: str) -> dict[str, object]:
    """What an agent with that model answers."""
    agent = {"name": f"With {provider}", "provider": provider, "model": model, "system_prompt": "", "tools": []}
    slug = post(app, "agents", agent).json()["data"]["slug"]
    return post(app, f"agents/{slug}/run", {"input": "Say hello"}).json()["data"]


def called(app: AppProcess, tool: str, **arguments: object) -> str:
    """What a call of the tool by hand gives."""
    reply = post(app, f"tools/{tool}/call", {"arguments": arguments})
    return str(reply.json()["data"]["output"]) if reply.is_success else ""


def test_it_checks_itself_and_says_its_version(executable: Path) -> None:
    for option, expected in (("--check", "ok"), ("--version", "Agent Playground ")):
        said = subprocess.run([executable, option], capture_output=True, text=True, timeout=60, check=True)
        assert said.stdout.startswith(expected)


def test_the_guide_leads_a_newcomer_to_the_sum_from_the_demo_model(page: Page) -> None:
    page.goto("/")
    page.get_by_test_id("offer-demo").click()
    page.get_by_test_id("setup-agent").filter(has_text="Assistant").click()
    page.get_by_test_id("setup-question").filter(has_text=SUM).click()
    answer = page.get_by_test_id("assistant-message").last
    expect(answer).to_contain_text("45", timeout=ANSWER_SECONDS * 1000)
    finished(page)
    expect(answer.get_by_test_id("tool-call")).to_have_count(2)


def test_every_page_shows_itself(page: Page, app_process: AppProcess) -> None:
    names = ("", "agents", "agents/assistant", "build", "tools", "compare", "runs", "evals", "review", "monitoring")
    for name in (*names, "resources", "jobs", "integrations", "settings", "setup"):
        page.goto(f"{app_process.url}/{name}")
        expect(page.locator("main h1").first).to_be_visible()


def test_every_component_in_javascript_is_there_and_runs(page: Page, app_process: AppProcess) -> None:
    loaded: set[str] = set()
    page.on(
        "response", lambda answer: loaded.add(answer.url.partition("?")[0].rpartition("/")[2]) if answer.ok else None
    )
    (app_process.data / "tools" / "looked_at.py").write_text(USER_TOOL.replace("metres", "yards"))
    page.goto("/playground")
    start_session(page)
    ask(page, "Show me Markdown")
    send(page, "Fail with rate limit")
    expect(page.get_by_test_id("retry-card")).to_be_visible(timeout=ANSWER_SECONDS * 1000)
    page.get_by_test_id("retry-card").get_by_role("button", name="Give up").click()
    page.get_by_role("link", name="See this run step by step").first.click()
    for view in ("waterfall", "raw"):
        page.get_by_test_id(f"tab-{view}").click()
        expect(page.locator(f".run-panel-{view}")).to_be_visible()
    for name in ("runs", "agents/assistant", "tools/file/looked_at.py"):
        page.goto(f"{app_process.url}/{name}")
        expect(page.locator("main h1, main h2").first).to_be_visible()
    expect(page.locator(".cm-content")).to_be_visible()
    created(page, "Packed", template="Three tools side by side")
    page.get_by_test_id("workflow-run-button").click()
    expect(page.get_by_test_id("try-chat").locator("textarea")).to_be_focused()
    page.keyboard.type("30 April 2027 14:00")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("try-chat")).to_contain_text("is a Friday in week", timeout=ANSWER_SECONDS * 1000)
    with_views = {"app_frame.js"}  # asked for by views of MCP Apps alone, which have a test of their own
    ours = {file.name for file in (ROOT / "app").rglob("*.js")} - with_views
    assert ours <= loaded, ours - loaded


def test_a_key_is_saved_and_the_doctor_says_that_it_works(page: Page, app_process: AppProcess, provider: str) -> None:
    page.goto("/settings")
    expect(page.get_by_test_id("key-place")).to_contain_text("kept in")
    openai = card(page, "openai")
    save(openai, KEY, provider)
    expect(openai.get_by_test_id("provider-note")).to_contain_text("It works", timeout=ANSWER_SECONDS * 1000)
    expect(openai.get_by_test_id("key-state")).to_contain_text("Kept in")
    assert asked(app_process, "openai", "text")["status"] == "completed"


def test_a_tool_file_with_parts_of_the_standard_library_is_called(app_process: AppProcess) -> None:
    (app_process.data / "tools" / "lengths.py").write_text(USER_TOOL)
    assert wait_until(lambda: called(app_process, "metres", feet=10)) == "3.04800"


def test_python_runs_in_the_sandbox(app_process: AppProcess) -> None:
    assert "1099511627776" in called(app_process, "execute_python", code="print(2**40)")


def test_an_mcp_server_is_started_and_called(page: Page) -> None:
    paste(page, "clock", sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC")
    agree(page)
    opened(page, "clock__get_current_time")
    page.get_by_test_id("tool-form").get_by_label("timezone").fill("UTC")
    run(page, "UTC")


def test_the_view_of_an_app_is_shown(
    page: Page, provider: str, start_app: Callable[..., AppProcess], tmp_path: Path
) -> None:
    app = start_app(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=provider)
    profile = page.context.browser.new_context(base_url=app.url)
    profile.request.get(app.address, max_redirects=0)
    tab = profile.new_page()
    server = ours(tmp_path / "calls.jsonl")["ours"]
    paste(tab, "ours", server["command"], *server["args"], **server["env"])
    agree(tab)
    agent = {"name": "Shower", "provider": "openai", "model": "asks-ours__show_board", "tools": ["ours__show_board"]}
    assert post(app, "agents", agent | {"system_prompt": ""}).status_code == 201
    tab.goto("/playground")
    start_session(tab, "Shower")
    send(tab, '{"title": "Groceries"}')
    finished(tab)
    view = tab.get_by_test_id("mcp-app")
    expect(view).to_have_attribute("data-state", "live", timeout=ANSWER_SECONDS * 1000)
    heading = view.frame_locator("iframe").frame_locator("iframe").get_by_role("heading")
    expect(heading).to_have_text("Groceries")
    profile.close()
    assert app.stop() == TOLD_TO_END


PROVIDERS: list[tuple[type[FakeServer], str, str, dict[str, str]]] = [
    (FakeOpenAI, "openai", "text", {"OPENAI_API_KEY": "sk-none", "OPENAI_BASE_URL": "{url}/v1"}),
    (FakeAnthropic, "anthropic", "text", {"ANTHROPIC_API_KEY": "sk-none", "ANTHROPIC_BASE_URL": "{url}"}),
    (FakeGemini, "gemini", "ok", {"GEMINI_API_KEY": "none", "GEMINI_BASE_URL": "{url}"}),
    (FakeOllama, "ollama", "text", {"OLLAMA_HOST": "{url}"}),
    (
        *(FakeBedrock, "bedrock", "anthropic.claude-3-haiku-20240307-v1:0"),
        {
            "AWS_BEDROCK_RUNTIME_ENDPOINT": "{url}",
            "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_REGION": "us-east-1",
        },
    ),
]


def test_models_answer_through_litellm(start_app: Callable[..., AppProcess]) -> None:
    with ThreadPoolExecutor(1) as another_loop:  # the browser's has this thread
        another_loop.submit(asyncio.run, ask_all(start_app)).result()


async def ask_all(start_app: Callable[..., AppProcess]) -> None:
    async with AsyncExitStack() as stack:
        fakes = [await stack.enter_async_context(fake()) for fake, *_ in PROVIDERS]
        variables: dict[str, str] = {}
        for provider, (_, _, _, named) in zip(fakes, PROVIDERS, strict=True):
            variables |= {name: value.format(url=provider.url) for name, value in named.items()}
        app = start_app(**variables)
        for provider, (_, name, model, _) in zip(fakes, PROVIDERS, strict=True):
            reply = await asyncio.to_thread(asked, app, name, model)
            assert reply["status"] == "completed", (name, reply)
            assert provider.seen.hits, name
        assert await asyncio.to_thread(app.stop) == TOLD_TO_END


def test_a_photo_is_made_smaller_before_it_is_sent(start_app: Callable[..., AppProcess]) -> None:
    with ThreadPoolExecutor(1) as another_loop:
        another_loop.submit(asyncio.run, send_a_photo(start_app)).result()


async def send_a_photo(start_app: Callable[..., AppProcess]) -> None:
    photo = picture((2400, 1200), "JPEG", turned=6)
    async with FakeOpenAI() as fake:
        app = start_app(OPENAI_API_KEY="sk-fake", OPENAI_BASE_URL=fake.base)
        run = await asyncio.to_thread(sent_with, app, photo)
        [_, sent] = fake.seen.last["messages"][-1]["content"]
        assert await asyncio.to_thread(app.stop) == TOLD_TO_END
    assert (run["status"], run["warnings"]) == ("completed", [])
    arrived = base64.b64decode(sent["image_url"]["url"].partition(";base64,")[2])
    assert Image.open(io.BytesIO(arrived)).size == (784, 1568)


def sent_with(app: AppProcess, photo: bytes) -> dict[str, object]:
    """The run of an agent that sees what is attached."""
    headers = {"Authorization": f"Bearer {app.token}"}
    address = f"{app.url}/api/v1/uploads?filename=photo.jpg"
    kept = httpx.post(address, content=photo, headers=headers, timeout=ANSWER_SECONDS).json()["data"]
    agent = {"name": "Seer", "provider": "openai", "model": "ok", "system_prompt": "", "tools": []}
    assert post(app, "agents", agent).status_code == 201
    wanted = {"input": "Look", "attachments": [{"sha256": kept["sha256"]}]}
    run: dict[str, object] = post(app, "agents/seer/run", wanted).json()["data"]
    return run


def test_one_signs_in_at_a_server_that_asks_for_it_and_calls_its_tool(page: Page, complaints: Complaints) -> None:
    with beside(Manners(shows_a_page=True)) as servers:
        complaints.expect(rf"request off this origin: {servers.issuer}/(authorize|consent)\?")
        sign_in_servers.paste(page, servers)
        page.get_by_test_id("sign-in-button").click()
        link = page.get_by_test_id("mcp-sign-in").get_by_test_id("sign-in-link")
        assert sign_in_servers.decide(page, link, "allow") == "Thank you"
        has_status(page, "ready")
        opened(page, "guarded__whoami")
        run(page, "read")
        servers.expire()
        run(page, "read")
        assert wait_until(lambda: servers.asked["refresh"] == 1)


def test_it_goes_on_after_a_kill_where_it_was(start_app: Callable[..., AppProcess]) -> None:
    app = start_app()
    first = post(app, "agents/assistant/run", {"input": SUM}).json()["data"]
    app.kill()
    app.start()
    address, headers = f"{app.url}/api/v1/runs/{first['run_id']}", {"X-API-Key": app.token}
    stored = httpx.get(address, headers=headers, timeout=ANSWER_SECONDS)
    assert stored.json()["data"]["output_text"] == first["output_text"]
    assert app.stop() == TOLD_TO_END


def test_a_run_is_exported_in_every_format(app_process: AppProcess) -> None:
    stored = post(app_process, "agents/assistant/run", {"input": SUM}).json()["data"]
    headers = {"X-API-Key": app_process.token}
    for format in ("markdown", "html", "jsonl", "otel", "bundle"):
        address = f"{app_process.url}/api/v1/runs/{stored['run_id']}/export?format={format}"
        assert httpx.get(address, headers=headers, timeout=ANSWER_SECONDS).raise_for_status().content, format


def test_a_second_start_finds_the_first(app_process: AppProcess) -> None:
    command = [*app_process.command, "--no-browser", "--data", str(app_process.data)]
    second = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert second.returncode == 0
    assert app_process.url in second.stdout


def test_quit_ends_it_and_the_next_start_has_everything_there(
    page: Page, app_process: AppProcess, complaints: Complaints
) -> None:
    complaints.expect("ERR_CONNECTION_REFUSED|WebSocket")
    post(app_process, "agents/assistant/run", {"input": SUM}).raise_for_status()
    page.get_by_test_id("quit-button").click()
    expect(page.get_by_test_id("app-ended")).to_be_visible()
    assert app_process.ended() == 0
    assert "is up at port" in (app_process.data / "logs" / "agent-playground.log").read_text()
    app_process.start()
    page.goto(app_process.address)
    page.wait_for_url(f"{app_process.url}/")  # where it leads by itself
    page.goto("/runs")
    expect(page.get_by_test_id("run-row").first).to_be_visible()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows removes no file of a program that still runs")
def test_whoever_ends_the_starter_by_force_ends_the_app_which_tidies_up(
    start_app: Callable[..., AppProcess], tmp_path: Path
) -> None:
    app = start_app(TMPDIR=str(tmp_path))
    processes = [psutil.Process(app.pid), *psutil.Process(app.pid).children()]
    processes[0].kill()
    assert not psutil.wait_procs(processes, timeout=20)[1]
    assert wait_until(lambda: not list(tmp_path.glob("_MEI*")))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot ask a process to end, so nothing is tidied up")
def test_nothing_of_it_is_left_in_the_folder_for_temporary_files(
    start_app: Callable[..., AppProcess], tmp_path: Path
) -> None:
    app = start_app(TMPDIR=str(tmp_path))
    assert app.stop() == TOLD_TO_END
    assert not list(tmp_path.glob("_MEI*"))
