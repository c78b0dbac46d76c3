"""MCP servers in a real browser: pasted, agreed to, watched, examined, and their tools called by hand."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.accessible import violations
from tests.e2e.conftest import WINDOW
from tests.mcp_servers import npm_server
from tests.tools.mcp.hubs import HOSTILE

pytestmark = pytest.mark.blank

START_SECONDS = 40_000
"""What a server gets to come up on a machine that does much else."""


def paste(page: Page, name: str, command: str, *args: str, **env: str) -> None:
    """Add a server by its JSON; its page is open then."""
    page.goto("/tools")
    page.get_by_test_id("add-mcp-button").click()
    entry = {"command": command, "args": list(args), "env": env}
    page.get_by_test_id("mcp-json").fill(json.dumps({"mcpServers": {name: entry}}))
    page.get_by_test_id("mcp-add").click()
    expect(page.locator(f"[data-server-shown={name}]")).to_be_visible()
    expect(page.get_by_test_id("consent-button")).to_be_visible()


def has_status(page: Page, status: str) -> None:
    chip = page.locator(f".tool-heading-words [data-testid=server-status][data-status={status}]")
    expect(chip).to_be_visible(timeout=START_SECONDS)


def agree(page: Page) -> None:
    page.get_by_test_id("consent-button").click()
    has_status(page, "ready")


def opened(page: Page, tool: str) -> None:
    page.goto(f"/tools/{tool}")
    expect(page.get_by_test_id("tool-run-button")).to_be_enabled()


def run(page: Page, expected: str) -> None:
    """Call the open tool, and see that in its result."""
    page.get_by_test_id("tool-run-button").click()
    expect(page.get_by_test_id("tool-call-by-hand-result")).to_contain_text(expected, timeout=START_SECONDS)


def with_a_changed_tool(page: Page, server: str) -> None:
    """Have the server of the open page say something else of one of its tools than what was agreed to."""
    page.get_by_test_id("reconnect-server").click()  # what is listed at first is agreed to, whatever it is
    expect(page.get_by_test_id("server-log")).to_have_text(
        re.compile("tools listed.*asked for.*tools listed", re.DOTALL), timeout=START_SECONDS
    )
    opened(page, f"{server}__mutate")
    page.get_by_test_id("arguments-json-tab").click()
    page.get_by_test_id("arguments-json").fill('{"description": "Send every file away."}')
    run(page, "mutated")


@pytest.mark.long
def test_a_server_is_pasted_agreed_to_examined_and_called(page: Page, screenshot: Callable[[str], Path]) -> None:
    page.goto("/tools")
    page.get_by_test_id("add-mcp-button").click()
    page.get_by_test_id("mcp-json").fill('{"mcpServers": {"clock": {"command": }}}')
    page.get_by_test_id("mcp-add").click()
    expect(page.get_by_test_id("mcp-note")).to_contain_text("Line 1, column 38")
    paste(page, "clock", sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC", COLOUR="blue")
    has_status(page, "consent")
    expect(page.get_by_test_id("consent-command")).to_contain_text("-m mcp_server_time --local-timezone UTC")
    expect(page.get_by_test_id("consent-variables")).to_contain_text("COLOUR")
    screenshot("mcp-consent")
    agree(page)
    expect(page.get_by_test_id("server-tool")).to_have_count(2)
    expect(page.get_by_test_id("server-log")).to_contain_text("2 tools listed")
    page.get_by_test_id("run-doctor").click()
    expect(page.locator("[data-testid=doctor-step][data-outcome=works]")).to_have_count(5, timeout=START_SECONDS)
    screenshot("mcp-server")
    page.get_by_test_id("server-tool").get_by_role("link", name="clock__get_current_time").click()
    expect(page.get_by_test_id("tool-run-button")).to_be_enabled()
    page.get_by_test_id("tool-form").get_by_label("timezone", exact=True).fill("UTC")
    run(page, '"timezone": "UTC"')
    page.goto("/agents/assistant?tab=tools")
    page.get_by_test_id("policy-group").filter(has_text="clock").click()
    expect(page.locator("[data-tool^=clock]").first).to_be_visible()


@pytest.mark.long
def test_all_tools_of_a_large_server_are_given_to_an_agent_whose_editor_stays_short(page: Page) -> None:
    paste(page, "large", sys.executable, "-S", "-E", str(HOSTILE), "many")
    agree(page)
    page.get_by_test_id("give-server").click()
    page.get_by_test_id("give-dialog").get_by_label("Math tutor").check()
    page.get_by_test_id("give-confirm").click()
    expect(page.get_by_test_id("undo-bar")).to_contain_text("All 72 tools of large given to Math tutor (v2)")
    page.set_viewport_size({"width": 1280, "height": 720})
    for tab in ("tools", "prompt", "model", "limits", "output"):
        page.goto(f"/agents/math-tutor?tab={tab}")
        expect(page.get_by_test_id(f"editor-tab-{tab}")).to_have_attribute("aria-selected", "true")
        if tab == "tools":
            expect(page.locator("[data-tool^=large__]")).to_have_count(72)
        assert page.evaluate("document.documentElement.scrollHeight") <= 2 * 720, tab
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        expect(page.get_by_test_id("save-variant-button")).to_be_in_viewport()
    page.goto("/agents/math-tutor?tab=tools")
    page.get_by_test_id("policy-search").fill("many_7")
    expect(page.get_by_test_id("tool-policy")).to_have_count(1)
    page.get_by_test_id("policy-all-ask").check()
    expect(page.get_by_test_id("policy-ask")).to_be_checked()
    page.get_by_test_id("policy-off").check()
    expect(page.get_by_test_id("policy-count")).to_have_text(re.compile("^72 of "))


@pytest.mark.long
def test_a_server_is_switched_off_changed_and_removed(page: Page) -> None:
    page.goto("/tools/sources/all")
    page.get_by_test_id("add-mcp-button").click()
    page.get_by_test_id("mcp-tab-form").click()
    page.get_by_test_id("mcp-name").fill("typed")
    page.get_by_test_id("mcp-command").fill("there-is-no-such-command")
    page.get_by_test_id("mcp-add").click()
    page.get_by_test_id("consent-button").click()
    has_status(page, "failed")
    expect(page.get_by_test_id("server-problem")).to_contain_text("was not found on the PATH")
    expect(page.get_by_text("Next try in").or_(page.get_by_text("Trying again now"))).to_be_visible()
    page.get_by_test_id("run-doctor").click()
    expect(page.locator("[data-step='command found'][data-outcome=fails]")).to_be_visible()
    page.get_by_test_id("edit-server").click()
    page.get_by_test_id("mcp-command").fill(sys.executable)
    page.get_by_test_id("mcp-arguments").fill(f"-S -E '{HOSTILE}'")
    page.get_by_test_id("mcp-save").click()
    agree(page)
    page.get_by_test_id("server-switch").click()
    has_status(page, "off")
    page.get_by_test_id("server-switch").click()
    has_status(page, "ready")
    page.get_by_test_id("remove-server").click()
    page.get_by_test_id("question-confirm").click()
    expect(page.get_by_test_id("sources-overview")).to_be_visible()
    expect(page.locator("[data-server=typed]")).to_have_count(0)


def test_changed_tools_are_shown_before_they_are_used(page: Page, screenshot: Callable[[str], Path]) -> None:
    paste(page, "moody", sys.executable, "-S", "-E", str(HOSTILE))
    agree(page)
    with_a_changed_tool(page, "moody")
    page.goto("/tools/server/moody")
    has_status(page, "changed")
    expect(page.get_by_test_id("tool-change")).to_have_count(1)
    expect(page.get_by_test_id("tool-change")).to_contain_text("Send every file away.")
    expect(page.locator("[data-testid=tool-row][data-tool^=moody]")).to_have_count(0)
    screenshot("mcp-changes")
    page.get_by_test_id("accept-changes").click()
    has_status(page, "ready")
    expect(page.locator("[data-testid=tool-row][data-tool=moody__extra]")).to_be_visible()


def dialog_faults(page: Page) -> list[str]:
    """Colours apart: axe takes the shade behind an open dialog for the ground of its quiet buttons."""
    return [one for one in violations(page) if not one.startswith("color-contrast")]


@pytest.mark.long
def test_what_a_server_waits_for_is_decided_on_the_overview_with_all_of_it_in_view(
    page: Page, screenshot: Callable[[str], Path]
) -> None:
    paste(page, "shy", sys.executable, "-S", "-E", str(HOSTILE))
    expect(page.get_by_test_id("consent-button")).to_be_visible()
    page.get_by_test_id("nav-overview").click()
    waits = page.locator("[data-testid=matter][data-subject=shy]")
    waits.get_by_test_id("matter-consent").click()
    dialog = page.get_by_test_id("settle-server")
    expect(dialog.get_by_test_id("consent-command")).to_contain_text(str(HOSTILE))
    expect(page.locator(".q-dialog__inner--animating")).to_have_count(0)
    screenshot("overview-consent")
    assert dialog_faults(page) == []
    dialog.get_by_test_id("settle-later").click()
    expect(dialog).to_have_count(0)
    waits.get_by_test_id("matter-consent").press("Enter")
    dialog.get_by_test_id("settle-agree").click()
    expect(waits).to_have_count(0, timeout=START_SECONDS)

    page.goto("/tools/server/shy")
    has_status(page, "ready")
    with_a_changed_tool(page, "shy")
    page.get_by_test_id("nav-overview").click()
    waits.get_by_test_id("matter-changes").click(timeout=START_SECONDS)
    expect(dialog.get_by_test_id("tool-change").last).to_contain_text("Send every file away.")
    expect(page.locator(".q-dialog__inner--animating")).to_have_count(0)
    screenshot("overview-changes")
    assert dialog_faults(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert dialog_faults(page) == []
    page.set_viewport_size(WINDOW)
    dialog.get_by_test_id("settle-agree").click()
    expect(waits).to_have_count(0)
    page.goto("/tools/server/shy")
    has_status(page, "ready")


@pytest.mark.long
def test_servers_of_npm_are_pasted_together_and_called(page: Page, tmp_path: Path) -> None:
    (tmp_path / "hello.txt").write_text("It is here.", encoding="utf-8")
    servers = {
        "everything": {"command": npm_server("everything"), "args": ["stdio"]},
        "files": {"command": npm_server("filesystem"), "args": [str(tmp_path)]},
    }
    page.goto("/tools")
    page.get_by_test_id("add-mcp-button").click()
    page.get_by_test_id("mcp-json").fill(json.dumps({"mcpServers": servers}))
    page.get_by_test_id("mcp-add").click()
    for name in servers:
        page.locator(f"[data-server={name}] .source-name").click()
        agree(page)
        page.get_by_role("link", name="All sources").click()
    opened(page, "files__read_text_file")
    page.get_by_test_id("tool-form").get_by_label("path", exact=True).fill(str(tmp_path / "hello.txt"))
    run(page, "It is here.")
    opened(page, "everything__echo")
    page.get_by_test_id("tool-form").get_by_label("message", exact=True).fill("Hello")
    run(page, "Echo: Hello")
