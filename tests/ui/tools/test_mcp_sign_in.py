"""Signing out of an MCP server, whose provider takes its time."""

from pathlib import Path

from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from app.domain.tool_settings import HttpTransport, McpServer
from app.ui.elements.addresses import mcp_server_address
from tests.leaving import held, leave
from tests.ui.runs.test_runs_pages import visitor
from tests.waiting import until


async def sign_out(user: User) -> None:
    """Press it, seen or not: nobody is signed in."""
    page, testid = user.current_layout, "sign-out-button"
    [found] = await until(lambda: [one for one in page.descendants() if one.props.get("data-testid") == testid])
    UserInteraction(user, {found}, None).click()
    await until(lambda: "loading" in found.props)


async def test_a_sign_out_that_is_done_when_its_page_was_left_is_told_on_the_next(tmp_path: Path, monkeypatch):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.mcp.add(McpServer(name="far", transport=HttpTransport(url="http://127.0.0.1:9/mcp")))
        revoked = held(monkeypatch, workbench.mcp, "sign_out")
        await user.open(mcp_server_address("far"))
        await sign_out(user)
        told = await leave(user)
        revoked.set()
        [words] = await until(lambda: told)
        assert words.startswith("Signed out")
