"""Tools of one's own in a real browser: Python files, and requests made by a form."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app_process import AppProcess
from tests.e2e.playground import ask

pytestmark = pytest.mark.blank

SHOUT = '''from agent_playground import tool


@tool(title="Shout")
def {name}(text: str) -> str:
    """Say a text loudly, with {mark}."""
    return text.upper() + "{mark}"
'''
LOAD_SECONDS = 20_000
"""What a file's process gets to come up on a machine that does much else."""


class Items(BaseHTTPRequestHandler):
    """A service that says back what it was asked."""

    def do_GET(self) -> None:
        said = json.dumps({"path": self.path, "key": self.headers.get("X-Key")}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        """Nothing: the test's output is for failures."""


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Items)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def folder(app_process: AppProcess) -> Path:
    return app_process.data / "tools"


def new_tool(page: Page, name: str) -> None:
    """A file from the template, opened."""
    page.goto("/tools")
    page.get_by_test_id("new-tool-button").click()
    page.get_by_test_id("question-input").fill(name)
    page.get_by_test_id("question-confirm").click()
    expect(page.locator(f"[data-file-shown='{name}.py']")).to_be_visible()
    expect(source(page)).to_contain_text("Tools of your own")


def given(page: Page, folder: Path, name: str, text: str) -> None:
    """A file that another program wrote, allowed to run and opened."""
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    page.goto("/tools/sources/all")
    page.locator(f"[data-file='{name}.py'] .source-name").click()
    page.get_by_test_id("allow-file").click()
    has_status(page, "ready")


def has_status(page: Page, status: str) -> None:
    chip = page.locator(f".tool-heading-words [data-testid=file-status][data-status={status}]")
    expect(chip).to_be_visible(timeout=LOAD_SECONDS)


def source(page: Page) -> Locator:
    return page.get_by_test_id("code-editor").locator(".cm-content")


def write(page: Page, text: str) -> None:
    """Put that text in the place of what stands in the editor."""
    source(page).focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
    expect(page.get_by_test_id("source-state")).to_contain_text("Not saved yet")


def called(page: Page, tool: str, text: str) -> Locator:
    """The result of a call by hand with that text."""
    page.goto(f"/tools/{tool}")
    expect(page.get_by_test_id("tool-run-button")).to_be_enabled()
    page.get_by_test_id("tool-form").get_by_label("text", exact=True).fill(text)
    page.get_by_test_id("tool-run-button").click()
    return page.get_by_test_id("tool-call-by-hand-result")


@pytest.mark.long
def test_a_tool_from_the_template_is_allowed_called_edited_and_used_by_an_agent(
    page: Page, folder: Path, screenshot: Callable[[str], Path]
) -> None:
    new_tool(page, "words")
    has_status(page, "untrusted")
    expect(page.get_by_test_id("file-tool").filter(has_text="words_table")).to_be_visible()
    expect(page.get_by_test_id("sources-waiting")).to_have_text("1 waiting for you")
    expect(page.locator("[data-testid=tool-row][data-tool=words]")).to_have_count(0)
    screenshot("tool-file-untrusted")
    page.get_by_test_id("allow-file").click()
    has_status(page, "ready")
    expect(page.locator("[data-testid=tool-row][data-tool=words]")).to_be_visible()
    expect(called(page, "words", "one two three")).to_contain_text("3")
    page.get_by_test_id("source-link").click()
    write(page, SHOUT.format(name="words", mark="!"))
    page.keyboard.press("Control+s")
    expect(page.get_by_test_id("source-state")).to_contain_text("Saved")
    expect(page.get_by_test_id("file-tool").filter(has_text="Say a text loudly")).to_be_visible(timeout=LOAD_SECONDS)
    assert (folder / "words.py").read_text(encoding="utf-8") == SHOUT.format(name="words", mark="!")
    expect(called(page, "words", "hello")).to_contain_text("HELLO!")
    page.goto("/agents/assistant?tab=tools")
    page.get_by_test_id("policy-group").filter(has_text="Your").click()
    page.locator("[data-tool=words]").get_by_test_id("policy-auto").check()
    page.get_by_test_id("save-variant-button").click()
    page.get_by_role("button", name="New session with variant 2").click()
    expect(page.get_by_test_id("chat-input")).to_be_focused()
    answer = ask(page, 'Call words with text="from an agent"')
    expect(answer.get_by_test_id("tool-result")).to_contain_text("FROM AN AGENT!")
    expect(answer).to_contain_text("I called words")


@pytest.mark.long
def test_a_broken_file_says_where_while_its_last_version_is_used(
    page: Page, folder: Path, screenshot: Callable[[str], Path]
) -> None:
    given(page, folder, "shout", SHOUT.format(name="shout", mark="1"))
    (folder / "shout.py").write_text(SHOUT.format(name="shout", mark="2") + "\n\nnothing()\n", encoding="utf-8")
    has_status(page, "broken")
    expect(page.get_by_test_id("file-problem")).to_contain_text("Line 10: NameError: name 'nothing' is not defined")
    expect(page.get_by_test_id("last-good")).to_contain_text("Its last good version is still used")
    page.get_by_text("Traceback", exact=True).click()
    expect(page.get_by_test_id("file-traceback")).to_contain_text("nothing()")
    page.get_by_test_id("show-line").click()
    expect(source(page)).to_be_focused()
    expect(page.locator(".cm-activeLine")).to_have_text("nothing()")
    screenshot("tool-file-broken")
    expect(called(page, "shout", "a")).to_contain_text("A1")
    (folder / "shout.py").write_text(SHOUT.format(name="shout", mark="3"), encoding="utf-8")
    page.get_by_test_id("source-link").click()
    has_status(page, "ready")
    expect(called(page, "shout", "a")).to_contain_text("A3")


def test_nothing_is_lost_when_two_write_the_same_file(page: Page, folder: Path) -> None:
    first, mine, theirs = (SHOUT.format(name="both", mark=mark) for mark in ("first", "mine", "theirs"))
    given(page, folder, "both", first)
    (folder / "both.py").write_text(first + "# later\n", encoding="utf-8")
    expect(source(page)).to_contain_text("# later")
    write(page, mine)
    (folder / "both.py").write_text(theirs, encoding="utf-8")
    expect(page.get_by_test_id("source-conflict")).to_be_visible()
    expect(source(page)).to_contain_text("mine")
    page.get_by_test_id("take-theirs").click()
    expect(source(page)).to_contain_text("theirs")
    expect(page.get_by_test_id("source-conflict")).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(source(page)).to_contain_text("mine")
    page.get_by_role("link", name="All sources").click()
    page.locator("[data-file='both.py'] .source-name").click()
    expect(source(page)).to_contain_text("mine")
    page.get_by_test_id("save-source").click()
    expect(page.get_by_test_id("file-tool")).to_contain_text("with mine", timeout=LOAD_SECONDS)
    expect(called(page, "both", "a")).to_contain_text("Amine")


@pytest.mark.long
def test_a_file_is_renamed_deleted_and_had_back(page: Page, folder: Path) -> None:
    given(page, folder, "gone", SHOUT.format(name="gone", mark="!"))
    page.get_by_test_id("rename-file").click()
    page.get_by_test_id("question-input").fill("texts/gone")
    page.get_by_test_id("question-confirm").click()
    expect(page.get_by_test_id("file-title")).to_have_text("texts/gone.py")
    has_status(page, "ready")
    page.get_by_test_id("delete-file").click()
    expect(page.get_by_test_id("sources-overview")).to_be_visible()
    expect(page.locator("[data-file='texts/gone.py']")).to_have_count(0)
    assert not (folder / "texts" / "gone.py").exists()
    page.get_by_test_id("undo-button").click()
    expect(page.get_by_test_id("file-title")).to_have_text("texts/gone.py")
    has_status(page, "ready")


def test_the_list_of_sources_follows_the_folder_without_losing_the_keyboards_place(page: Page, folder: Path) -> None:
    (folder / "aside.py").write_text(SHOUT.format(name="aside", mark="!"), encoding="utf-8")
    page.goto("/tools/sources/all")
    link = page.locator("[data-file='aside.py'] .source-name")
    link.focus()
    (folder / "aside_too.py").write_text("def broken(:\n", encoding="utf-8")
    expect(page.locator("[data-file='aside_too.py']")).to_contain_text("line 1")
    expect(link).to_be_focused()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_test_id("tools-folder").get_by_role("button").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == str(folder)


@pytest.mark.long
def test_a_request_becomes_a_tool_by_a_form(
    page: Page, app_process: AppProcess, service: str, screenshot: Callable[[str], Path]
) -> None:
    page.goto("/tools/new/request")
    page.get_by_test_id("save-request").click()
    expect(page.get_by_test_id("fault-name")).to_contain_text("A tool cannot be called ''")
    page.get_by_test_id("http-name").fill("get_item")
    page.get_by_test_id("http-description").fill("Get an item of the shop.")
    page.get_by_test_id("http-address").fill(f"{service}/items/{{text}}")
    page.get_by_test_id("http-description").focus()
    expect(page.get_by_test_id("http-field")).to_have_count(1)
    page.get_by_test_id("add-http-field").click()
    second = page.get_by_test_id("http-field").nth(1)
    second.get_by_label("Field name").fill("full")
    second.get_by_label("Type").select_option("yes or no")
    second.get_by_label("Place").select_option("in the body")
    page.get_by_test_id("http-allow-private").click()
    page.get_by_test_id("save-request").click()
    expect(page.get_by_test_id("fault-fields")).to_contain_text("A GET sends no body")
    screenshot("http-tool-form")
    second.get_by_label("Place").select_option("in the query")
    page.get_by_test_id("save-request").click()
    expect(page.get_by_test_id("tool-title")).to_have_text("Get item")
    page.get_by_test_id("tool-form").get_by_label("full").select_option("Yes (true)")
    page.get_by_test_id("tool-form").get_by_label("text", exact=True).fill("a b")
    page.get_by_test_id("tool-run-button").click()
    expect(page.get_by_test_id("tool-call-by-hand-result")).to_contain_text("/items/a%20b?full=true")
    page.get_by_test_id("source-link").click()
    page.get_by_test_id("delete-request").click()
    expect(page.locator("[data-form=get_item]")).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(page.locator("[data-form=get_item]")).to_be_visible()

    posted = {"name": "get_posted", "description": "Get it.", "address": f"{service}/posted", "allow_private": True}
    key = {"X-API-Key": app_process.token}
    assert httpx.post(f"{app_process.url}/api/v1/tools/http", json=posted, headers=key).status_code == 201
    row = page.locator("[data-form=get_posted]")
    expect(row).to_contain_text("It was posted and waits for you")
    row.get_by_role("link", name="get_posted").click()
    expect(page.get_by_test_id("save-request")).to_contain_text("Allow and save")
    screenshot("http-tool-posted")
    page.get_by_test_id("save-request").click()
    expect(page.get_by_test_id("tool-title")).to_have_text("Get posted")


@pytest.mark.long
def test_hosts_and_search_are_set_on_their_tools_pages(page: Page) -> None:
    page.goto("/tools/http_get")
    page.get_by_test_id("http-hosts").fill("https://example.org/page\n*.example.net")
    page.get_by_test_id("save-hosts").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_test_id("http-hosts")).to_have_value("example.org\n*.example.net")
    page.goto("/tools/web_search")
    search = page.get_by_test_id("web-search-form")
    search.get_by_role("combobox").select_option("SearXNG")
    expect(page.get_by_test_id("search-address")).to_be_visible()  # what follows moves down for it
    page.get_by_test_id("save-search").click()
    expect(page.get_by_test_id("search-note")).to_contain_text("Say where SearXNG answers")
    page.get_by_test_id("search-address").fill("https://searx.example.org")
    page.get_by_test_id("save-search").click()
    expect(page.get_by_test_id("search-note")).to_contain_text("Saved.")
    page.reload()
    expect(page.get_by_test_id("search-address")).to_have_value("https://searx.example.org")
