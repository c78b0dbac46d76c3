"""What whoever has a key for certain agents gets to see of the API, and what anyone gets to see."""

from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.door.caller import ANYONE, CALLER, Caller, with_key
from app.domain.keys import ApiKey, secret_digest
from app.domain.values import now

SHORT = "What is 5 + 10?"


class As:
    """The API as the door hands it a request of that caller."""

    def __init__(self, app: ASGIApp, caller: Caller) -> None:
        self._app = app
        self._caller = caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, CALLER: self._caller}, receive, send)


def client_as(app: ASGIApp, caller: Caller) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=As(app, caller))
    return httpx.AsyncClient(transport=transport, base_url="http://here/api/v1", timeout=30)


@pytest.fixture
async def guest(app, client) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody with a key for one agent out of several, which has one tool."""
    mine = (await client.post("/agents", json={"name": "Mine", "tools": ["calculator"]})).json()["data"]
    key = ApiKey(
        id="k", name="guest", agents=(mine["id"],), secret_digest=secret_digest("s"), last_four="s", created_at=now()
    )
    async with client_as(app, with_key(key)) as guest:
        yield guest


async def test_only_their_agents_runs_sessions_and_tools_are_there(client, guest):
    theirs = (await guest.post("/agents/mine/run", json={"input": SHORT})).json()["data"]
    other = (await client.post("/agents/assistant/run", json={"input": SHORT})).json()["data"]
    assert [agent["slug"] for agent in (await guest.get("/agents")).json()["data"]] == ["mine"]
    runs = (await guest.get("/runs")).json()
    assert (runs["count"], [run["id"] for run in runs["data"]]) == (1, [theirs["run_id"]])
    assert (await guest.get("/runs", params={"agent": "assistant"})).json()["count"] == 0
    assert (await client.get("/runs")).json()["count"] == 2
    sessions = (await guest.get("/sessions")).json()
    assert (sessions["count"], [one["id"] for one in sessions["data"]]) == (1, [theirs["session_id"]])
    assert [tool["name"] for tool in (await guest.get("/tools")).json()["data"]] == ["calculator"]
    assert (await guest.get(f"/runs/{theirs['run_id']}")).json()["data"]["triggered_by"] == "api_key:guest"
    for method, path in (
        ("GET", "/agents/assistant"),
        ("POST", "/agents/assistant/run"),
        ("GET", "/agents/assistant/runs"),
        ("GET", f"/runs/{other['run_id']}"),
        ("GET", f"/runs/{other['run_id']}/events"),
        ("DELETE", f"/runs/{other['run_id']}"),
        ("POST", f"/runs/{other['run_id']}/stop"),
        ("POST", f"/runs/{other['run_id']}/retry"),
        ("POST", f"/runs/{other['run_id']}/resume"),
        ("POST", f"/runs/{other['run_id']}/pauses/x"),
        ("GET", f"/sessions/{other['session_id']}"),
        ("DELETE", f"/sessions/{other['session_id']}"),
        ("POST", f"/sessions/{other['session_id']}/queue"),
        ("GET", "/tools/execute_python"),
        ("POST", "/tools/execute_python/call"),
    ):
        body = {"input": "hi"} if path.endswith("run") else {"message": "hi"} if path.endswith("queue") else {}
        body = {"decision": "deny"} if "pauses" in path else body
        reply = await guest.request(method, path, json=body)
        assert (reply.status_code, reply.json()["code"]) == (404, "not_found"), path
        assert "assistant" not in reply.json()["error"].replace("'assistant'", "", 1)
    named = await guest.post("/chat", json={"message": "hi", "session": other["session_id"]})
    assert named.status_code == 404


async def test_they_change_neither_agents_nor_tools(guest, workbench):
    for method, path, body in (
        ("POST", "/agents", {"name": "New"}),
        ("PUT", "/agents/mine", {"system_prompt": "x"}),
        ("DELETE", "/agents/mine", None),
        ("GET", "/agents/mine/variants", None),
        ("POST", "/agents/mine/variants", {}),
        ("POST", "/agents/mine/variants/1/promote", None),
        ("PUT", "/tools/calculator", {"enabled": False}),
        ("POST", "/tools/calculator/call", {"arguments": {"operation": "add", "x": 1, "y": 1}}),
    ):
        reply = await guest.request(method, path, json=body)
        assert (reply.status_code, reply.json()["code"]) == (403, "forbidden"), path
    assert workbench.agents.by_slug("mine").active == 1
    assert (await guest.get("/agents/mine")).json()["data"]["system_prompt"] is None


async def test_content_is_not_read_by_its_sha256_where_only_some_agents_are_theirs(client, guest, workbench):
    digest = await workbench.artifacts.put(b"a file of another agent")
    reply = await guest.get(f"/artifacts/{digest}")
    assert (reply.status_code, reply.json()["code"]) == (403, "forbidden")
    assert "/export" in reply.json()["error"]
    assert (await client.get(f"/artifacts/{digest}")).content == b"a file of another agent"


async def test_anyone_sees_and_runs_public_agents_only(app, client):
    await client.post("/agents", json={"name": "Open", "is_public": True, "tools": ["calculator"]})
    async with client_as(app, ANYONE) as anyone:
        assert [agent["slug"] for agent in (await anyone.get("/agents")).json()["data"]] == ["open"]
        run = (await anyone.post("/agents/open/run", json={"input": SHORT})).json()["data"]
        assert run["status"] == "completed"
        assert (await anyone.post("/agents/assistant/run", json={"input": SHORT})).status_code == 404
        assert (await anyone.post("/chat", json={"message": SHORT})).json()["data"]["status"] == "completed"
        await client.delete("/agents/open")
        assert (await anyone.get(f"/runs/{run['run_id']}")).status_code == 404
        nobody = await anyone.post("/chat", json={"message": SHORT})
        assert (nobody.status_code, nobody.json()["code"]) == (404, "not_found")
