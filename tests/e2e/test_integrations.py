"""Agents for other programs: keys made and revoked, and snippets that run as they stand on the page."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app_process import AppProcess, plain_environment
from tests.e2e.accessible import violations

pytestmark = pytest.mark.blank

SLUG = "ada-s-sums"
SUM = "What is 2 + 3?"
MESSAGE = 'It\'s "urgent" & costs $5:\n`what` is ${HOME} \\n and $(id)? \\o/'
PYTHON = [sys.executable, "-"]
COMMANDS = {"python": PYTHON, "openai": PYTHON, "websocket": PYTHON}
if os.name == "posix" and shutil.which("curl"):
    COMMANDS["curl"] = ["sh"]
if shutil.which("node"):
    COMMANDS["javascript"] = ["node", "--input-type=module", "-"]
CUSTOMER = 'Ada "the first"\n& Söhne'


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    app = AppProcess(tmp_path_factory.mktemp("integrations"))
    app.start()
    prompt = "You work for {{customer}} and use the calculator."
    agent = {"name": 'Ada\'s "sums"', "provider": "demo", "model": "agent", "system_prompt": prompt}
    with api(app, app.token) as owner:
        owner.post("/api/v1/agents", json=agent | {"tools": ["calculator"]}).raise_for_status()
    yield app
    app.stop()


def api(app: AppProcess, key: str) -> httpx.Client:
    return httpx.Client(base_url=app.url, headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=30)


def run(app: AppProcess, key: str) -> httpx.Response:
    with api(app, key) as client:
        return client.post(f"/api/v1/agents/{SLUG}/run", json={"input": SUM})


def open_page(page: Page, query: str = f"?agent={SLUG}") -> Locator:
    """The program that is shown."""
    page.goto(f"/integrations{query}")
    program = page.get_by_test_id("snippet-code")
    expect(program).to_be_visible()
    return program


def turn_to(page: Page, way: str) -> str:
    """The program of that name, as it stands on the page."""
    page.get_by_test_id(f"way-{way}").click()
    expect(page.get_by_test_id(f"way-{way}")).to_have_attribute("aria-pressed", "true")
    return page.get_by_test_id("snippet-code").inner_text()


def make_key(page: Page, name: str) -> str:
    """Fill in the dialog that is open; the key that it shows."""
    page.get_by_test_id("key-name-input").fill(name)
    page.get_by_test_id("make-key-button").click()
    expect(page.get_by_test_id("key-dialog")).to_contain_text("never shown again")
    secret = page.get_by_test_id("new-key").inner_text()
    page.get_by_test_id("key-done-button").click()
    expect(page.get_by_test_id("key-dialog")).to_have_count(0)
    return secret


def printed(command: list[str], program: str, key: str) -> str:
    """What a program writes that reads the key from its environment."""
    environment = plain_environment() | {"AGENT_PLAYGROUND_KEY": key, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        command, input=program.encode(), capture_output=True, env=environment, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_a_key_is_made_for_an_agent_shown_once_used_and_revoked(page: Page, app_process: AppProcess) -> None:
    open_page(page)
    expect(page.get_by_text("No keys yet")).to_be_visible()
    page.get_by_test_id("wish-key").click()
    secret = make_key(page, "nightly")
    row = page.get_by_test_id("key-row")
    expect(row).to_contain_text(secret[-4:])
    expect(row).to_contain_text('Ada\'s "sums"')
    expect(page.get_by_test_id("api-reach")).to_contain_text("nightly")
    assert secret not in page.content()

    revoke = row.get_by_test_id("revoke-key")
    revoke.focus()
    assert run(app_process, secret).status_code == 200
    expect(row.locator("[data-label='Last used']")).to_have_text("just now")
    expect(revoke).to_be_focused()
    with api(app_process, secret) as client:
        assert client.get("/api/v1/agents/assistant").status_code == 404
    revoke.click()
    page.get_by_test_id("question-confirm").click()
    revoked = page.get_by_test_id("revoked-keys")
    expect(revoked).to_have_text("1 revoked key")
    assert run(app_process, secret).status_code == 401
    revoked.click()
    page.get_by_test_id("new-key-button").click()
    make_key(page, "weekly")
    expect(page.locator("[data-key=weekly]")).to_be_visible()
    expect(row.filter(has_text="nightly")).to_be_visible()


@pytest.mark.long
def test_what_a_key_may_is_ticked_when_it_is_made_and_changed_later(
    page: Page, app_process: AppProcess, screenshot: Callable[[str], Path]
) -> None:
    open_page(page)
    page.get_by_test_id("new-key-button").click()
    expect(page.get_by_test_id("key-may-variants")).to_be_hidden()  # a key for all agents may everything
    page.get_by_test_id("key-scope").click()
    page.get_by_role("option", name="Only these").click()
    page.get_by_test_id("key-agents").click()
    page.get_by_role("option", name='Ada\'s "sums"').click()
    page.keyboard.press("Escape")
    page.get_by_test_id("key-may-variants").click()
    screenshot("key-rights-made")
    secret = make_key(page, "ticked")
    row = page.locator("[data-key=ticked]")
    expect(row.locator("[data-label='May also']")).to_have_text("Choose variants")

    row.get_by_test_id("key-rights").click()
    expect(page.get_by_test_id("key-may-variants")).to_have_attribute("aria-checked", "true")
    expect(page.get_by_test_id("key-may-approve")).to_have_attribute("aria-checked", "false")
    page.get_by_test_id("key-may-variants").click()
    page.get_by_test_id("key-may-approve").click()
    screenshot("key-rights-changed")
    page.get_by_test_id("save-rights-button").click()
    expect(row.locator("[data-label='May also']")).to_have_text("Approve and answer")
    with api(app_process, secret) as client:
        other = client.post(f"/api/v1/agents/{SLUG}/run", json={"input": SUM, "variant": 2})
        assert other.status_code == 403 and "'Choose variants'" in other.json()["error"]
    row.get_by_test_id("key-rights").click()
    page.get_by_test_id("key-may-approve").click()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("key-rights-dialog")).to_have_count(0)
    expect(row.locator("[data-label='May also']")).to_have_text("Approve and answer")


@pytest.mark.long
def test_what_cannot_be_made_is_told_and_a_key_may_have_a_last_day(page: Page) -> None:
    open_page(page)
    page.get_by_test_id("new-key-button").click()
    page.get_by_test_id("make-key-button").click()
    expect(page.get_by_test_id("key-note")).to_contain_text("A key needs a name")
    page.get_by_test_id("key-expiry").click()
    page.get_by_role("option", name="On a date…").click()
    page.get_by_test_id("key-day").fill("2001-02-03")
    page.get_by_test_id("key-name-input").fill("dated")
    page.get_by_test_id("make-key-button").click()
    expect(page.get_by_test_id("key-note")).to_contain_text("has passed")
    page.get_by_test_id("key-day").fill("2030-02-03")
    expect(page.get_by_test_id("key-day")).to_have_value("2030-02-03")
    make_key(page, "dated")
    expect(page.locator("[data-key=dated]")).to_contain_text("3 Feb 2030")


@pytest.mark.long
def test_the_programs_on_the_page_run_as_they_stand(page: Page, app_process: AppProcess) -> None:
    program = open_page(page)
    page.get_by_test_id("new-key-button").click()
    key = make_key(page, "programs")
    page.get_by_test_id("api-message").fill(MESSAGE)
    page.get_by_test_id("variable-input").fill(CUSTOMER)
    expect(program).to_contain_text("Söhne")
    expect(program).to_contain_text("o/")
    programs = {way: turn_to(page, way) for way in COMMANDS}
    with ThreadPoolExecutor() as beside:
        outputs = list(beside.map(lambda way: printed(COMMANDS[way], programs[way], key), programs))

    asked = runs_of(app_process, "programs")
    assert [run["user_query"] for run in asked] == [MESSAGE] * len(programs)
    for way, output in zip(programs, outputs, strict=True):
        assert any(written(run["output_text"]) in output or run["output_text"] in output for run in asked), way
    filled_in = [written(CUSTOMER) in events(app_process, run["id"]) for run in asked]
    assert sum(filled_in) == len(COMMANDS.keys() - {"openai", "websocket"})

    page.get_by_test_id("fill-in-key").click()
    expect(program).to_contain_text(key)
    assert printed(COMMANDS["python"], turn_to(page, "python"), "")


def runs_of(app: AppProcess, key: str) -> list[dict[str, str]]:
    """The runs that were started with the key of that name, in full."""
    with api(app, app.token) as owner:
        rows = owner.get("/api/v1/runs").json()["data"]
        ours = [row["id"] for row in rows if row["triggered_by"] == f"api_key:{key}"]
        return [owner.get(f"/api/v1/runs/{run_id}").json()["data"] for run_id in ours]


def events(app: AppProcess, run_id: str) -> str:
    with api(app, app.token) as owner:
        return written(owner.get(f"/api/v1/runs/{run_id}/events").json())


def written(value: object) -> str:
    """As JSON has it, without the quotes of a text."""
    return json.dumps(value, ensure_ascii=False).strip('"')


@pytest.mark.long
def test_each_snippet_is_tried_from_the_page(page: Page, screenshot: Callable[[str], Path]) -> None:
    program = open_page(page)
    page.get_by_test_id("api-message").fill(SUM)
    expect(program).to_contain_text(SUM)
    for way in ("openai", "websocket", "n8n"):
        turn_to(page, way)
        expect(page.get_by_test_id("trial")).to_be_empty()
        page.get_by_test_id("try-snippet").click()
        words = "Answered over the socket" if way == "websocket" else "HTTP 200"
        expect(page.get_by_test_id("trial-status")).to_contain_text(words)
    expect(page.get_by_test_id("trial-answer")).to_contain_text('"output_text"')
    screenshot("integrations")
    expect(page).to_have_url(re.compile(r"/integrations\?agent=ada-s-sums&with=n8n$"))
    page.get_by_test_id("trial-run").click()
    expect(page.get_by_test_id("status-pill")).to_have_text("Completed")


def test_an_agent_is_opened_to_anyone_and_closed_again(page: Page, app_process: AppProcess) -> None:
    program = open_page(page, f"?agent={SLUG}&with=curl")
    expect(program).to_contain_text("AGENT_PLAYGROUND_KEY")
    assert run(app_process, "").status_code == 401
    page.get_by_test_id("access-anyone").click()
    expect(page.get_by_test_id("api-reach")).to_contain_text("Every program on this computer")
    expect(program).not_to_contain_text("Authorization")
    assert run(app_process, "").status_code == 200
    page.get_by_test_id("try-snippet").click()
    expect(page.get_by_test_id("trial-status")).to_contain_text("Sent without a key")
    page.get_by_test_id("access-key").click()
    expect(program).to_contain_text("AGENT_PLAYGROUND_KEY")
    assert run(app_process, "").status_code == 401


@pytest.mark.long
def test_another_agent_is_chosen_and_stands_in_the_address(page: Page) -> None:
    program = open_page(page, "")
    page.get_by_test_id("agent-select").click()
    page.get_by_role("option", name="Math tutor").click()
    expect(program).to_contain_text("/agents/math-tutor/run")
    expect(page).to_have_url(re.compile(r"\?agent=math-tutor$"))
    page.reload()
    expect(program).to_contain_text("/agents/math-tutor/run")
    page.keyboard.press("ControlOrMeta+k")
    page.get_by_test_id("palette-input").fill("New API key")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("key-name-input")).to_be_focused()


@pytest.mark.long
@pytest.mark.parametrize("way", ["claude-desktop", "cursor"])
def test_what_clients_of_mcp_are_told_is_tried(page: Page, way: str) -> None:
    program = open_page(page, f"?agent={SLUG}&with={way}")
    expect(program).to_contain_text("mcpServers")
    page.get_by_test_id("api-message").fill(SUM)
    page.get_by_test_id("try-snippet").click()
    expect(page.get_by_test_id("trial-status")).to_contain_text("Answered over MCP", timeout=60_000)
    expect(page.get_by_test_id("trial-answer")).to_contain_text("5")
    expect(page.get_by_test_id("trial-run")).to_be_visible()
    assert violations(page) == []
