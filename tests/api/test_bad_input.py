"""What nobody should send: each gets an envelope and a status that says whose fault it is, never a 500."""

import json

import httpx
import pytest

from app.api.application import BUG
from tests.api.over import api_over
from tests.parts import having

JSON = {"Content-Type": "application/json"}
TEXTS = [
    "\x00",
    "\ufffe",
    "\u202e",
    "x" * 100_000,
    "{{" * 5000,
    "'; DROP TABLE",
    "../../etc/passwd",
    "\U0001f9ea" * 100,
]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"\xff\xfe",
        b'{"input": "\\ud800"}',
        b'{"input": NaN}',
        b'{"input": "x", "data": [NaN]}',
        b'{"input": "x", "data": [1e309]}',
        b'{"input": "x", "data": -1' + b"0" * 309 + b".0}",
        b'{"input": ' + b"9" * 5000 + b"}",
        b'{"input": "x", "data": ' + b"[" * 5000 + b"]" * 5000 + b"}",
        b'{"input": "x", "variant": ' + b"9" * 400 + b"}",
        b'{"input": "x", "variables": {"a": [1]}}',
        b'{"input": "x", "session": {}}',
        b'{"input": {"$ne": null}}',
    ],
)
async def test_a_body_that_is_none_is_told(client, body):
    reply = await client.post("/agents/assistant/run", content=body, headers=JSON)
    assert (reply.status_code, reply.json()["success"], reply.json()["code"]) == (422, False, "invalid")
    assert reply.json()["error"]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "x"])
async def test_another_kind_of_body_is_told_which_to_send(client, kind):
    reply = await client.post("/agents/assistant/run", content=b'{"input": "hi"}', headers={"Content-Type": kind})
    assert reply.status_code == 422
    assert "Content-Type: application/json" in reply.json()["error"]


@pytest.mark.parametrize("text", TEXTS)
async def test_any_text_is_taken_or_refused_in_words(client, text):
    for method, path, body in (
        ("POST", "/agents", {"name": text}),
        ("POST", "/agents", {"name": "Fine", "system_prompt": text, "description": text}),
        ("POST", "/agents", {"name": "A", "tools": [text], "model": text}),
        ("POST", "/agents", {"name": "A", "provider": text}),
        ("POST", "/agents/assistant/variants", {"note": text}),
        ("POST", "/agents/assistant/run", {"input": "hi", "variables": {text: text}}),
        ("POST", "/agents/assistant/run", {"input": "hi", "session": text}),
        ("PUT", "/tools/calculator", {"description": text}),
        ("POST", "/tools/calculator/call", {"arguments": {text: text}}),
        ("POST", "/runs/x/pauses/y", {"decision": text}),
    ):
        reply = await client.request(method, path, content=json.dumps(body), headers=JSON)
        assert reply.status_code in (200, 201, 404, 409, 413, 422), (path, reply.status_code, reply.text)
        assert reply.json()["success"] is (reply.status_code < 300)


@pytest.mark.parametrize("name", ["%00", "%ff", "..", "%2e%2e%2f", "x" * 3000, "%F0%9F%A7%AA", "a%0d%0ab", "%ED%A0%80"])
async def test_any_id_is_not_found(client, name):
    for path in ("agents", "runs", "sessions", "tools", "artifacts"):
        reply = await client.get(f"/{path}/{name}")
        if ".." in str(reply.url.path) or reply.url.path.count("/") < 4:
            continue
        assert (reply.status_code, reply.json()["code"]) == (404, "not_found"), (path, name, reply.text)


async def test_what_is_not_there_or_not_so_is_told_in_the_envelope(client):
    nothing = await client.get("/nothing/at/all")
    assert (nothing.status_code, nothing.json()["code"]) == (404, "not_found")
    assert "/api/v1/nothing/at/all" in nothing.json()["error"]
    wrong = await client.patch("/agents")
    assert (wrong.status_code, wrong.json()["code"]) == (405, "method_not_allowed")
    assert {method.strip() for method in wrong.headers["allow"].split(",")} <= {"GET", "POST"}
    assert (await client.get("/agents/")).status_code == 404


async def test_a_bug_is_told_in_the_shape_that_who_asks_reads_and_says_nothing_of_the_app(workbench, caplog):
    broken = httpx.ASGITransport(app=api_over(having(workbench, agents=None)), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=broken, base_url="http://here") as client:
        ours = await client.get("/api/v1/agents")
        openais = await client.get("/v1/models")
    assert (ours.status_code, ours.json()) == (500, {"success": False, "error": BUG, "code": "internal"})
    told = {"message": BUG, "type": "server_error", "param": None, "code": "internal"}
    assert (openais.status_code, openais.json()) == (500, {"error": told})
    assert caplog.text.count("Traceback") == 2
