"""Views of MCP Apps in a real browser: shown, used, moved about, brought back, and said why not where they are not."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, FrameLocator, Locator, Page, expect

from tests.app_process import AppProcess
from tests.browser import chromium
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on
from tests.e2e.complaints import LOST, Complaints
from tests.e2e.conftest import FLAGS, WINDOW
from tests.e2e.playground import finished, send, start_session
from tests.e2e.test_accessible import PHONE, STILL
from tests.e2e.test_mcp import has_status
from tests.view_servers import ours
from tests.view_servers.hands import press_in

FRAME_SECONDS = 30_000
TILES = "https://tiles.example"
KEEPS_KEYBOARD = "--enable-blink-features=BlockingFocusWithoutUserActivation"
CLOSE_AND_OPEN = """async (app) => {
  const press = (name) => app.querySelector(`[data-testid=mcp-app-${name}]`).click();
  press("close");
  while (!app.querySelector("[data-testid=mcp-app-open]")) await Promise.resolve();
  press("open");
}"""
"""Sooner than the view can say that it has ended."""
GRABS = """if (parent !== top) setInterval(() => {
  window.focus();
  document.querySelector("button")?.focus();
}, 20)"""
"""A view that takes the keyboard by itself, again and again."""


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What reached the server, a line each."""
    return tmp_path_factory.mktemp("calls") / "calls.jsonl"


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory, calls: Path) -> Iterator[AppProcess]:
    folder = tmp_path_factory.mktemp("apps")
    with app_on(
        folder, module="tests.view_servers.obeying_app", environment={"SERVERS": json.dumps(ours(calls))}
    ) as app:
        yield app


@pytest.fixture(scope="module", autouse=True)
def ready_server(context: BrowserContext) -> None:
    """With its tools, before the first test; who switches it off switches it on again."""
    tab = context.new_page()
    tab.goto("/tools/server/ours")
    has_status(tab, "ready")
    tab.close()


def made(calls: Path, tool: str) -> int:
    lines = calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []
    return sum(json.loads(line)["name"] == tool for line in lines)


def call(page: Page, tool: str, **arguments: object) -> Locator:
    """The whole answer to a message that makes this call."""
    answer = send(page, json.dumps({"name": f"ours__{tool}", "arguments": arguments}))
    finished(page)
    return answer


def shown(page: Page, tool: str, **arguments: object) -> FrameLocator:
    """The view that the call brings, once it lives."""
    start_session(page, "Shower")
    call(page, tool, **arguments)
    return view(page)


def view(page: Page, place: int = -1) -> FrameLocator:
    app = page.get_by_test_id("mcp-app").nth(place)
    expect(app).to_have_attribute("data-state", "live", timeout=FRAME_SECONDS)
    return app.frame_locator("iframe").frame_locator("iframe")


def is_in(page: Page, mode: str) -> None:
    expect(page.get_by_test_id("mcp-app").last).to_have_attribute("data-mode", mode)


def switch(page: Page, *, on: bool) -> None:
    page.goto("/tools/server/ours")
    page.get_by_test_id("server-switch").click()
    has_status(page, "ready" if on else "off")


def test_a_view_is_used_behind_the_gates_of_the_model_and_comes_back(page: Page, calls: Path) -> None:
    before = made(calls, "show_board")
    board = shown(page, "show_board", title="Groceries")
    expect(board.get_by_role("heading")).to_have_text("Groceries")
    expect(board.locator("#state")).to_have_text("shown, only the view knows")
    press_in(page, board.get_by_label("Line"))
    page.keyboard.type("Milk")
    press_in(page, board.get_by_role("button", name="Write"))
    expect(page.get_by_test_id("approval-card")).to_contain_text("Milk")
    assert made(calls, "add_line") == 0
    page.get_by_test_id("approve-button").click()
    expect(board.locator("#said")).to_contain_text("1 lines")
    assert made(calls, "add_line") == 1

    press_in(page, board.get_by_role("button", name="Write"))
    page.get_by_test_id("deny-button").click()
    expect(board.locator("#said")).not_to_contain_text("1 lines")
    assert made(calls, "add_line") == 1

    press_in(page, board.get_by_role("button", name="Look"))
    page.get_by_test_id("approve-button").click()
    expect(board.locator("#said")).to_have_text('["Milk"]')
    press_in(page, board.get_by_role("button", name="Clear"))
    expect(board.locator("#said")).not_to_have_text('["Milk"]')
    press_in(page, board.get_by_role("button", name="Look"))  # agreed to for this view
    expect(board.locator("#said")).to_have_text('["Milk"]')
    expect(page.get_by_test_id("approval-card")).to_have_count(0)
    assert made(calls, "clear_board") == 0

    page.reload()
    expect(view(page).get_by_role("heading")).to_have_text("Groceries")
    expect(view(page).locator("#state")).to_have_text("shown, only the view knows")
    elsewhere = page.context.new_page()
    elsewhere.goto(page.url)
    expect(view(elsewhere).get_by_role("heading")).to_have_text("Groceries")
    assert made(calls, "show_board") == before + 1


def test_the_protocol_is_spoken_as_it_is_written(page: Page) -> None:
    board = shown(page, "show_board", title="Spoken")
    body = board.locator("body")
    expect(board.locator("#state")).to_have_text("shown, only the view knows")
    told = [line for line in body.evaluate("() => heard") if line.startswith(("answer", "ui/notifications/tool"))]
    assert told == ["answer 1", "ui/notifications/tool-input", "ui/notifications/tool-result"]
    assert body.evaluate("() => given") == [{"title": "Spoken"}]
    [result] = body.evaluate("() => results")
    assert result["structuredContent"]["supported"]  # the client told the server that it shows views, and of which type
    welcome = body.evaluate("() => welcome")
    assert welcome["protocolVersion"] == "2026-01-26"
    assert {"openLinks", "serverTools", "serverResources", "message", "updateModelContext"} <= set(
        welcome["hostCapabilities"]
    )
    assert welcome["hostContext"]["toolInfo"]["tool"]["name"] == "show_board"
    assert "--color-text-primary" in welcome["hostContext"]["styles"]["variables"]
    listed = body.evaluate("() => ask('resources/list')")
    assert "ui://ours/board" in json.dumps(listed["result"])
    assert body.evaluate("() => ask('sampling/createMessage', {})")["error"]["code"] == -32601
    assert body.evaluate("() => [origin, parent !== top, top !== window]") == ["null", True, True]
    page.evaluate("Quasar.Dark.set(true)")
    expect(board.locator("html")).to_have_attribute("data-theme", "dark")
    body.evaluate("() => { window.slow = true; }")
    page.get_by_test_id("mcp-app-close").click()
    page.wait_for_timeout(100)
    assert "ui/resource-teardown" in body.evaluate("() => heard")  # and is there until it has answered
    expect(page.get_by_test_id("mcp-app").locator("iframe")).to_have_count(0)


@pytest.mark.long
def test_a_view_is_told_that_its_call_failed_or_was_stopped(page: Page) -> None:
    start_session(page, "Shower")
    call(page, "show_failed")
    expect(view(page).locator("#state")).to_have_text("failed")
    send(page, json.dumps({"name": "ours__show_late", "arguments": {"title": "Late"}}))
    expect(page.get_by_test_id("question-card")).to_be_visible()
    page.get_by_test_id("stop-button").click()
    for _ in range(2):
        expect(view(page).get_by_role("heading")).to_have_text("Late")
        expect(view(page).locator("#state")).to_contain_text("cancelled: This call was cancelled")
        page.reload()


@pytest.mark.long
@pytest.mark.blank
def test_a_tool_for_views_is_no_tool_of_the_model(page: Page, calls: Path) -> None:
    page.goto("/tools")
    expect(page.locator("[data-testid=tool-row][data-tool=ours__clear_board]")).to_be_visible()
    page.goto("/playground")
    start_session(page, "Shower")
    before = made(calls, "board_state")
    answer = call(page, "board_state")
    expect(answer).to_contain_text("board_state")
    assert made(calls, "board_state") == before


@pytest.mark.long
def test_a_view_is_found_by_the_key_of_before_too(page: Page) -> None:
    expect(shown(page, "show_old_board", title="Old").get_by_role("heading")).to_have_text("Old")


@pytest.mark.long
def test_what_a_view_wants_of_a_person_is_asked(page: Page, context: BrowserContext, complaints: Complaints) -> None:
    complaints.expect("request off this origin: https://example.com/a")
    context.route("https://example.com/**", lambda route: route.fulfill(body="outside"))
    desk = shown(page, "show_desk")
    expect(desk.locator("#said")).to_have_text("ready")
    press_in(page, desk.get_by_role("button", name="Link", exact=True))
    expect(page.get_by_test_id("app-ask")).to_contain_text("https://example.com/a?b=c")
    page.get_by_test_id("app-ask-deny").click()
    expect(desk.locator("#said")).to_contain_text("link")
    assert len(context.pages) == 2
    press_in(page, desk.get_by_role("button", name="Link", exact=True))
    with context.expect_page() as opened:
        page.get_by_test_id("app-ask-allow").click()
    assert opened.value.url == "https://example.com/a?b=c"
    assert opened.value.evaluate("window.opener") is None
    opened.value.close()
    for button, name, content in (
        ("Download", "notes.txt", b"noted"),
        ("Download by a link", "report.csv", b"a,b\n1,2\n"),
    ):
        press_in(page, desk.get_by_role("button", name=button, exact=True))
        expect(page.get_by_test_id("app-ask")).to_contain_text(name)
        with page.expect_download() as download:
            page.get_by_test_id("app-ask-allow").click()
        assert download.value.suggested_filename == name
        assert download.value.path().read_bytes() == content
    page.goto(f"/runs/{run_of(page)}")
    below = page.get_by_test_id("child-steps")
    below.locator("summary").first.click()
    expect(below.get_by_test_id("artifact-download")).to_have_count(2)


@pytest.mark.long
def test_what_a_view_reports_is_on_its_servers_page_for_developers(page: Page) -> None:
    desk = shown(page, "show_desk")
    press_in(page, desk.get_by_role("button", name="Log", exact=True))
    beside = page.context.new_page()  # the view goes on meanwhile
    beside.goto("/tools/server/ours")
    log = beside.get_by_test_id("view-log")
    expect(log).to_contain_text('warning: {"row":50}')
    expect(log).to_contain_text("20 more were left out")


@pytest.mark.long
def test_a_message_of_a_view_is_a_draft_and_its_context_goes_along(page: Page, app_process: AppProcess) -> None:
    desk = shown(page, "show_desk")
    press_in(page, desk.get_by_role("button", name="Message"))
    expect(page.get_by_test_id("chat-input")).to_have_value("Please add it up.")
    expect(page.get_by_test_id("user-message")).to_have_count(1)
    press_in(page, desk.get_by_role("button", name="Context"))
    expect(page.get_by_test_id("app-context")).to_contain_text("Row 7 is chosen.")
    desk.locator("body").evaluate("() => ask('ui/update-model-context', { content: text('Row 8 is chosen.') })")
    expect(page.get_by_test_id("app-context")).to_contain_text("Row 8 is chosen.")
    page.reload()
    expect(page.get_by_test_id("app-context")).to_contain_text("Row 8 is chosen.")
    call(page, "show_desk", note="again")
    expect(page.get_by_test_id("app-context")).to_have_count(0)
    api = {"Authorization": f"Bearer {app_process.token}"}
    runs = httpx.get(f"{app_process.url}/api/v1/runs", headers=api, params={"limit": 1}).json()["data"]
    run_id = (runs if isinstance(runs, list) else runs["runs"])[0]["id"]
    events = httpx.get(f"{app_process.url}/api/v1/runs/{run_id}/events", headers=api)
    assert "Row 8 is chosen." in events.text
    assert "Row 7 is chosen." not in events.text


def test_a_view_moves_by_mouse_and_is_never_loaded_again(page: Page) -> None:
    desk = shown(page, "show_desk")
    desk.locator("body").evaluate("body => { body.dataset.mark = 'kept'; }")
    page.get_by_test_id("mcp-app-fullscreen").click()
    is_in(page, "fullscreen")
    expect(desk.locator("html")).to_have_attribute("data-mode", "fullscreen")
    box = page.get_by_test_id("mcp-app").bounding_box()
    assert box is not None
    assert (box["width"], box["height"]) == (WINDOW["width"], WINDOW["height"])
    page.get_by_test_id("mcp-app-inline").click()
    is_in(page, "inline")
    page.get_by_test_id("mcp-app-beside").click()
    is_in(page, "beside")
    expect(page.get_by_test_id("chat-input")).to_be_visible()
    divider = page.get_by_test_id("mcp-app-divider").bounding_box()
    assert divider is not None
    page.mouse.move(divider["x"] + 3, 400)
    page.mouse.down()
    page.mouse.move(divider["x"] - 200, 400)
    page.mouse.up()
    moved = page.get_by_test_id("mcp-app-divider").bounding_box()
    assert moved is not None
    assert abs(moved["x"] - (divider["x"] - 203)) < 8
    expect(desk.locator("body")).to_have_attribute("data-mark", "kept")
    page.reload()
    view(page)
    page.get_by_test_id("mcp-app-beside").click()
    again = page.get_by_test_id("mcp-app-divider").bounding_box()
    assert again is not None
    assert abs(again["x"] - moved["x"]) < 3
    page.get_by_test_id("mcp-app-close").click()
    expect(page.get_by_test_id("mcp-app")).to_have_attribute("data-state", "closed")
    expect(page.get_by_test_id("mcp-app").locator("iframe")).to_have_count(0)
    page.get_by_test_id("mcp-app-open").click()
    view(page)


@pytest.mark.long
def test_a_view_moves_by_keyboard_alone_and_at_its_own_wish(page: Page) -> None:
    desk = shown(page, "show_desk")
    page.get_by_test_id("mcp-app-fullscreen").focus()
    page.keyboard.press("Enter")
    is_in(page, "fullscreen")
    expect(page.get_by_test_id("mcp-app-inline")).to_be_focused()
    page.keyboard.press("Escape")
    is_in(page, "inline")
    expect(page.get_by_test_id("mcp-app-fullscreen")).to_be_focused()
    page.get_by_test_id("mcp-app-beside").focus()
    page.keyboard.press("Enter")
    is_in(page, "beside")
    divider = page.get_by_test_id("mcp-app-divider")
    before = divider.get_attribute("aria-valuenow")
    divider.focus()
    page.keyboard.press("ArrowLeft")
    expect(divider).not_to_have_attribute("aria-valuenow", before or "")
    page.get_by_test_id("mcp-app-inline").focus()
    page.keyboard.press("Enter")
    is_in(page, "inline")
    press_in(page, desk.get_by_role("button", name="Larger"))
    is_in(page, "fullscreen")
    expect(desk.locator("#said")).to_contain_text("fullscreen")
    press_in(page, desk.get_by_role("button", name="Apart"))
    expect(desk.locator("#said")).to_have_text('pip: {"mode":"fullscreen"}')
    press_in(page, desk.get_by_role("button", name="Smaller"))
    is_in(page, "inline")


def test_a_view_gets_no_key_where_the_browser_keeps_the_keyboard_from_it(
    browser: Browser, app_process: AppProcess
) -> None:
    with browser.browser_type.launch(executable_path=chromium(), args=[*FLAGS, KEEPS_KEYBOARD]) as keeping:
        page = keeping.new_page(base_url=app_process.url)
        page.add_init_script(GRABS)
        page.goto(app_process.playground)
        kept = []
        page.on("console", lambda message: kept.append(message) if "Blocked focus" in message.text else None)
        shown(page, "show_desk")
        page.get_by_test_id("chat-input").click()
        page.keyboard.type("My own words", delay=40)
        expect(page.get_by_test_id("chat-input")).to_have_value("My own words")
        expect(page.get_by_test_id("mcp-app")).to_have_attribute("data-state", "live")
        assert len(kept) > 9


@pytest.mark.parametrize("mode", ["fullscreen", "beside", "inline"])
def test_escape_brings_the_keyboard_back_out_of_a_view_that_holds_it(page: Page, mode: str) -> None:
    desk = shown(page, "show_desk")
    desk.locator("body").evaluate("""() => addEventListener("keydown", (event) => {
      event.preventDefault();
      event.stopImmediatePropagation();
    }, true)""")
    if mode != "inline":
        page.get_by_test_id(f"mcp-app-{mode}").click()
    is_in(page, mode)
    press_in(page, desk.get_by_role("heading"))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "IFRAME"
    page.keyboard.press("Escape")
    is_in(page, "inline")
    expect(page.get_by_test_id(f"mcp-app-{'fullscreen' if mode == 'inline' else mode}")).to_be_focused()
    page.get_by_test_id("chat-input").focus()  # where a view that says so by itself does not take it from
    desk.locator("body").evaluate("() => { parent.postMessage('escape', '*'); return ask('ping'); }")
    expect(page.get_by_test_id("chat-input")).to_be_focused()


@pytest.mark.long
def test_three_views_live_at_once_and_share_the_screen_by_tabs(page: Page) -> None:
    shown(page, "show_board", title="One")
    for title in ("Two", "Three", "Four"):
        call(page, "show_board", title=title)
        expect(view(page).get_by_role("heading")).to_have_text(title)
    apps = page.get_by_test_id("mcp-app")
    expect(apps).to_have_count(4)
    expect(page.locator("[data-testid=mcp-app][data-state=live]")).to_have_count(3)
    expect(apps.first).to_have_attribute("data-state", "card")
    page.locator(".transcript-scroll").press("Home")
    expect(page.get_by_test_id("jump-to-latest")).to_be_visible()
    apps.first.get_by_test_id("mcp-app-open").click()
    expect(view(page, 0).get_by_role("heading")).to_have_text("One")
    expect(page.locator("[data-testid=mcp-app][data-state=live]")).to_have_count(3)
    apps.first.get_by_test_id("mcp-app-fullscreen").click()
    tabs = apps.first.get_by_role("tab")
    expect(tabs).to_have_count(3)
    tabs.last.click()
    expect(apps.first).to_have_attribute("data-mode", "inline")
    expect(page.locator("[data-testid=mcp-app][data-mode=fullscreen]")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("[data-testid=mcp-app][data-mode=fullscreen]")).to_have_count(0)


def test_a_view_that_is_opened_while_it_still_goes_comes_once(page: Page) -> None:
    shown(page, "show_board", title="Once")
    app = page.get_by_test_id("mcp-app")
    app.evaluate(CLOSE_AND_OPEN)
    expect(view(page).get_by_role("heading")).to_have_text("Once")
    expect(app.locator("iframe")).to_have_count(1)


@pytest.mark.parametrize(
    ("tool", "reason", "result"),
    [
        ("show_large", "8 MiB", "Much is shown."),
        ("show_web_page", "text/html;profile=mcp-app", "A web page would be shown."),
        ("show_nothing", "ui://ours/nothing", "Nothing is there."),
    ],
)
def test_a_view_that_cannot_be_shown_says_why_beside_the_result(
    page: Page, tool: str, reason: str, result: str
) -> None:
    start_session(page, "Shower")
    answer = call(page, tool)
    expect(page.get_by_test_id("mcp-app")).to_have_attribute("data-state", "failed")
    expect(page.get_by_test_id("mcp-app-note")).to_contain_text(reason)
    expect(answer.get_by_test_id("tool-result").first).to_contain_text(result)


def test_an_address_is_no_view(page: Page) -> None:
    start_session(page, "Shower")
    answer = call(page, "show_address")
    expect(answer.get_by_test_id("tool-result").first).to_contain_text("An address is no view.")
    expect(page.locator("[data-testid=mcp-app] iframe")).to_have_count(0)


@pytest.mark.long
def test_a_view_that_never_speaks_is_told_of_and_can_be_closed(page: Page) -> None:
    start_session(page, "Shower")
    call(page, "show_mute")
    expect(page.get_by_test_id("mcp-app-note")).to_contain_text("did not start", timeout=FRAME_SECONDS)
    expect(page.get_by_test_id("mcp-app")).to_have_attribute("data-state", "failed")


def test_a_view_reaches_what_its_servers_owner_allowed_and_no_more(page: Page, complaints: Complaints) -> None:
    complaints.expect(
        "Content Security Policy|ERR_NAME_NOT_RESOLVED|ERR_INTERNET|ERR_TUNNEL|reported$"
        f"|request off this origin: {TILES}/1.png"  # which was allowed
    )
    chart = shown(page, "show_map")
    session = page.url
    expect(chart.locator("#tile")).to_have_text("no tile")
    expect(page.get_by_test_id("mcp-app-note")).to_contain_text(TILES)
    page.goto("/tools/server/ours")
    consent = page.get_by_test_id("mcp-app-consent")
    expect(consent.get_by_role("checkbox", name=re.compile("^https:"))).to_have_count(2)
    expect(consent.get_by_role("checkbox", checked=True)).to_have_count(0)
    consent.get_by_role("checkbox", name=re.compile("tiles.example")).click()
    page.get_by_test_id("mcp-app-allow-save").click()
    before = len(complaints.heard)
    expect(page.get_by_text("Saved")).to_be_visible()
    with page.expect_response(
        lambda response: "frame-ancestors http" in response.headers.get("content-security-policy", "")
    ) as served:
        page.goto(session)
    policy = served.value.headers["content-security-policy"]
    assert re.search(rf"connect-src {re.escape(TILES)}[; ]", policy), policy
    assert "maps.example" not in policy
    expect(view(page).locator("#state")).to_have_text("shown")
    refused = [line for line in complaints.heard[before:] if "violates" in line]
    assert refused
    assert not any(f"{TILES}/1.png" in line for line in refused)  # it was asked for, though there is no such host


@pytest.mark.long
def test_a_view_grows_only_so_far(page: Page) -> None:
    board = shown(page, "show_board", title="Long")
    frame = page.get_by_test_id("mcp-app").locator("iframe")
    before = (frame.bounding_box() or {"height": 0})["height"]
    press_in(page, board.get_by_role("button", name="Grow"))
    page.wait_for_function(
        "before => document.querySelector('[data-testid=mcp-app] iframe').clientHeight > before", arg=before
    )
    height = (frame.bounding_box() or {"height": 0})["height"]
    assert before < height <= 602


@pytest.mark.long
@pytest.mark.parametrize("dark", [False, True])
def test_everybody_can_use_a_view_on_a_phone_too(page: Page, dark: bool) -> None:
    board = shown(page, "show_board", title="Phone")
    page.add_style_tag(content=STILL)
    page.evaluate("dark => Quasar.Dark.set(dark)", dark)
    expect(board.locator("html")).to_have_attribute("data-theme", "dark" if dark else "light")
    for width in (WINDOW, PHONE):
        page.set_viewport_size(width)
        assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(page.get_by_test_id("mcp-app-beside")).to_be_hidden()
    page.get_by_test_id("mcp-app-fullscreen").click()
    assert violations(page) == []
    box = page.get_by_test_id("mcp-app").bounding_box()
    assert box is not None
    assert (box["width"], box["height"]) == (PHONE["width"], PHONE["height"])
    page.keyboard.press("Escape")
    is_in(page, "inline")


def run_of(page: Page) -> str:
    """The id of the run that answered last in the session on the page."""
    link = page.get_by_role("link", name="See this run step by step").last.get_attribute("href") or ""
    return link.rsplit("/", 1)[1]


def test_the_page_of_a_run_shows_its_view_again_and_lets_it_call(page: Page, calls: Path) -> None:
    shown(page, "show_board", title="Told")
    before = made(calls, "show_board")
    page.goto(f"/runs/{run_of(page)}")
    step = page.locator("[data-testid=run-step][data-step-type=tool-result]")
    expect(step.get_by_test_id("mcp-app")).to_have_count(1)
    board = view(page)
    expect(board.get_by_role("heading")).to_have_text("Told")
    expect(board.locator("#state")).to_have_text("shown, only the view knows")
    press_in(page, board.get_by_role("button", name="Look"))
    page.get_by_test_id("approve-button").click()
    expect(board.locator("#said")).to_contain_text("[")
    page.get_by_test_id("mcp-app-beside").click()
    is_in(page, "beside")
    beside, heading = page.get_by_test_id("mcp-app").bounding_box(), page.locator(".run-heading").bounding_box()
    assert beside is not None and heading is not None
    assert heading["x"] + heading["width"] <= beside["x"]
    page.add_style_tag(content=STILL)
    assert violations(page) == []
    assert made(calls, "show_board") == before


@pytest.mark.long
def test_an_exported_page_leads_to_where_its_app_is_shown(
    page: Page, app_process: AppProcess, tmp_path: Path, complaints: Complaints
) -> None:
    complaints.expect("401|request off this origin: file:")  # no browser shows a file's link who one is
    shown(page, "show_board", title="Taken along")
    headers = {"Authorization": f"Bearer {app_process.token}"}
    exported = f"{app_process.url}/api/v1/runs/{run_of(page)}/export"
    document = tmp_path / "run.html"
    document.write_bytes(httpx.get(exported, headers=headers, params={"format": "html"}).content)
    assert app_process.token not in document.read_text()
    page.goto(document.as_uri())
    expect(page.locator(".card.ok")).to_contain_text("The board Taken along is shown.")
    page.get_by_role("link", name="Open in the app").click()
    page.get_by_role("link", name="Open it from here").click()
    expect(view(page).get_by_role("heading")).to_have_text("Taken along")


def test_a_view_of_an_imported_run_is_shown_and_calls_nothing(page: Page, app_process: AppProcess, calls: Path) -> None:
    shown(page, "show_board", title="Exported")
    before = (made(calls, "show_board"), made(calls, "add_line"))
    run_id = run_of(page)
    headers = {"Authorization": f"Bearer {app_process.token}"}
    with httpx.Client(base_url=f"{app_process.url}/api/v1", headers=headers, timeout=60) as client:
        bundle = client.get(f"/runs/{run_id}/export", params={"format": "bundle"}).content
        client.delete(f"/runs/{run_id}").raise_for_status()
        imported = client.post("/runs/import", content=bundle).raise_for_status().json()["data"]["run_id"]
    page.goto(f"/runs/{imported}")
    board = view(page)
    expect(board.get_by_role("heading")).to_have_text("Exported")
    expect(page.get_by_test_id("mcp-app-note")).to_contain_text("imported")
    press_in(page, board.get_by_label("Line"))
    page.keyboard.type("x")
    press_in(page, board.get_by_role("button", name="Write"))
    expect(board.locator("#said")).not_to_be_empty()
    assert (made(calls, "show_board"), made(calls, "add_line")) == before


@pytest.mark.long
def test_a_view_is_as_it_was_while_its_server_is_off_and_after_a_restart(
    page: Page, app_process: AppProcess, calls: Path, complaints: Complaints
) -> None:
    complaints.expect(LOST)
    shown(page, "show_board", title="Kept")
    session, run, before = page.url, f"/runs/{run_of(page)}", made(calls, "show_board")
    switch(page, on=False)
    for restarted in (False, True):
        if restarted:
            page.goto("about:blank")
            app_process.restart()
        page.goto(app_process.address)
        page.wait_for_url(f"{app_process.url}/")  # where it leads by itself
        page.goto(session)
        board = view(page)
        expect(board.get_by_role("heading")).to_have_text("Kept")
        expect(page.get_by_test_id("mcp-app-note")).to_contain_text("is off")
        press_in(page, board.get_by_role("button", name="Look"))
        expect(board.locator("#said")).not_to_be_empty()
        page.goto(run)
        expect(view(page).get_by_role("heading")).to_have_text("Kept")
        expect(page.get_by_test_id("mcp-app-note")).to_contain_text("is off")
    switch(page, on=True)
    assert made(calls, "show_board") == before
