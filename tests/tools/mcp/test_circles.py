"""Agents that would call themselves through MCP."""

from collections.abc import Iterator

import pytest

from app.domain.errors import WorkbenchError
from app.domain.tool_settings import HttpTransport, McpServer
from app.domain.tools import Workspace
from app.domain.trace import RunFilter
from app.tools.http.net_guard import OWN_PORTS, refuse_itself
from tests.api.mcp.serving import SUM, TOKEN, mcp_at_a_port
from tests.api.over import opened
from tests.tools.context import Context
from tests.tools.mcp.hubs import called, hub_of, reached


@pytest.fixture
def own_port() -> Iterator[int]:
    OWN_PORTS.add(8765)
    yield 8765
    OWN_PORTS.discard(8765)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST.", "[::1]", "127.1.2.3", "0.0.0.0"])
async def test_the_app_itself_is_no_server_of_its_own(own_port, host):
    with pytest.raises(WorkbenchError, match="Agent Playground itself"):
        await refuse_itself(f"http://{host}:{own_port}/mcp")
    await refuse_itself(f"http://{host}:{own_port + 1}/mcp")


async def test_it_is_said_where_servers_are_listed(own_port, tmp_path):
    server = McpServer(name="me", transport=HttpTransport(url=f"http://localhost:{own_port}/mcp"))
    async with hub_of(tmp_path, server) as hub:
        state = await reached(hub, "failed", name="me")
    assert "Agent Playground itself" in state.problem


async def test_another_app_is_told_how_deep_a_call_is(tmp_path, monkeypatch):
    monkeypatch.setenv("KEY_OF_OTHER", TOKEN)
    workbench = opened(tmp_path)
    await workbench.start()
    async with mcp_at_a_port(workbench) as base:
        transport = HttpTransport(url=f"{base}/mcp", headers={"Authorization": "Bearer $KEY_OF_OTHER"})
        async with hub_of(tmp_path, McpServer(name="other", transport=transport)) as hub:
            await reached(hub, "ready", name="other")
            await called(hub, "other__run_assistant", Context(began_with=Workspace(depth=2)), input=SUM)
    [row] = workbench.rows.find(RunFilter()).rows
    [first, *_] = (await workbench.runs.trace(row.run_id)).entries
    await workbench.close()
    assert first.event.depth == 3
