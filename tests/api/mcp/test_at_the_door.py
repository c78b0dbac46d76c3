"""What the door makes of those who ask for tools."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.api.mcp.serving import SUM, TOKEN, agent_with, client_of, mcp_at_a_port

BEGIN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
READS = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
async def visitor(workbench) -> AsyncIterator[httpx.AsyncClient]:
    async with mcp_at_a_port(workbench) as base, httpx.AsyncClient(base_url=base, headers=READS) as visitor:
        yield visitor


async def test_nobody_is_led_to_a_place_to_sign_in(visitor):
    refused = await visitor.post("/mcp", json=BEGIN)
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    for path in ("oauth-protected-resource", "oauth-protected-resource/mcp", "oauth-authorization-server/mcp"):
        nothing = await visitor.get(f"/.well-known/{path}")
        assert nothing.status_code == 404 and "API key" in nothing.text
    assert (await visitor.get("/mcp/.well-known/openid-configuration")).status_code == 404


async def test_a_key_opens_the_address_itself_and_nothing_that_begins_so(visitor):
    shown = {"Authorization": f"Bearer {TOKEN}"}
    assert (await visitor.post("/mcp", json=BEGIN, headers=shown)).status_code == 200
    assert (await visitor.get("/mcpx", headers=shown)).status_code == 401
    for wrong, status in (({"Host": "evil.example"}, 421), ({"Origin": "http://evil.example"}, 403)):
        assert (await visitor.post("/mcp", json=BEGIN, headers=shown | wrong)).status_code == status


async def test_a_session_is_not_there_for_another_key(visitor, workbench):
    begun = await visitor.post("/mcp", json=BEGIN, headers={"Authorization": f"Bearer {TOKEN}"})
    session = {"Mcp-Session-Id": begun.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
    other = (await workbench.keys.create("other")).secret
    asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    stolen = await visitor.post("/mcp", json=asked, headers=session | {"Authorization": f"Bearer {other}"})
    assert stolen.status_code == 404


async def test_what_is_too_large_is_refused_before_it_is_read(visitor, workbench):
    key = (await workbench.keys.create("K", agents=["assistant"])).secret
    large = await visitor.post("/mcp", content=b"x" * 1_100_000, headers={"Authorization": f"Bearer {key}"})
    assert large.status_code == 413


async def test_the_bridge_may_less_than_the_owner_whose_token_it_sends(workbench):
    await agent_with(workbench, "Mine")
    async with mcp_at_a_port(workbench) as base, httpx.AsyncClient(base_url=base) as visitor:
        shown = {"Authorization": f"Bearer {TOKEN}", "X-Started-From": "mcp"}
        assert (await visitor.get("/api/v1/keys", headers=shown)).status_code == 403
        told = await visitor.post("/api/v1/agents/mine/run", json={"input": SUM}, headers=shown)
        row = workbench.rows.get(told.json()["data"]["run_id"])
        assert (row.trigger.name, row.trigger.kind) == ("agent-playground mcp", "api_key")
        async with client_of(base) as owner:
            theirs = await owner.call_tool("run_mine", {"input": SUM})
        hidden = await visitor.get(f"/api/v1/runs/{theirs.structured_content['run_id']}", headers=shown)
        assert hidden.status_code == 404
