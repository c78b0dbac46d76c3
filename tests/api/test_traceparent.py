"""A caller's `traceparent` is where the run it starts belongs."""

import httpx
import pytest
from starlette.types import ASGIApp

from app.workbench import Workbench
from tests.api.mcp.serving import TOKEN, mcp_at_a_port
from tests.waiting import PATIENCE

TRACEPARENT = f"00-{'ab' * 16}-{'cd' * 8}-01"
HEADER = {"traceparent": TRACEPARENT}
BAD = (f"ff-{'ab' * 16}-{'cd' * 8}-01", "x" * 5000, f"00-{'0' * 32}-{'cd' * 8}-01", f"{TRACEPARENT}-more")
ASKED = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "run_assistant", "arguments": {"input": "hi"}},
}
BEGIN = {
    **{"jsonrpc": "2.0", "id": 1, "method": "initialize"},
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "tester", "version": "1"},
    },
}


def newest(workbench: Workbench) -> str:
    return workbench.rows.get(next(workbench.rows.stamps())[0]).trigger.traceparent


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/v1/agents/assistant/run", {"input": "hi"}),
        ("/api/v1/chat", {"message": "hi"}),
        ("/v1/chat/completions", {"model": "assistant", "messages": [{"role": "user", "content": "hi"}]}),
        ("/v1/responses", {"model": "assistant", "input": "hi"}),
    ],
)
async def test_runs_of_a_request_say_below_which_span_they_are(app: ASGIApp, workbench: Workbench, path: str, body):
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://here", timeout=30) as client:
        assert (await client.post(path, json=body, headers=HEADER)).is_success
        assert newest(workbench) == TRACEPARENT
        assert (await client.post(path, json=body)).is_success
        assert newest(workbench) == ""


@pytest.mark.parametrize("headers", [*([("traceparent", bad)] for bad in BAD), [("traceparent", TRACEPARENT)] * 2])
async def test_a_header_that_cannot_be_read_is_passed_over(client: httpx.AsyncClient, workbench: Workbench, headers):
    assert (await client.post("/chat", json={"message": "hi"}, headers=headers)).is_success
    assert newest(workbench) == ""


async def test_calls_of_mcp_say_it_each_for_itself(workbench: Workbench):
    async with mcp_at_a_port(workbench) as base, httpx.AsyncClient(base_url=base, timeout=PATIENCE) as client:
        known = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {TOKEN}"}
        begun = await client.post("/mcp", json=BEGIN, headers=known)
        known |= {"Mcp-Session-Id": begun.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
        for headers, expected in (({}, ""), (HEADER, TRACEPARENT), ({}, "")):
            assert (await client.post("/mcp", json=ASKED, headers=known | headers)).is_success
            assert newest(workbench) == expected
