"""Servers at an address: those that are not there, refuse, or speak something else."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from app.domain.errors import ToolError
from app.domain.tool_settings import HttpTransport, McpServer
from app.tools.http.trust import usual_trust
from app.tools.mcp.reading import read_servers
from tests.tools.certificates import certificate_of
from tests.tools.mcp.hubs import called, hub_of, reached, text_of


class Place:
    """A small MCP server over HTTP whose manners can be changed."""

    def __init__(self) -> None:
        self.status = 200
        self.page = ""
        self.headers: list[str] = []
        self.address = ""

    async def answer(self, request: web.Request) -> web.Response:
        if request.method != "POST":
            return web.Response(status=405)
        self.headers.append(request.headers.get("Authorization", ""))
        message = await request.json()
        if self.status != 200:
            return web.Response(status=self.status)
        if self.page:
            return web.Response(text=self.page, content_type="text/html")
        if "id" not in message:
            return web.Response(status=202)
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": self.result(message)})

    def result(self, message: dict) -> dict:
        match message["method"]:
            case "initialize":
                name = {"name": "place", "version": "1"}
                return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": name}
            case "tools/list":
                return {"tools": [{"name": "hello", "inputSchema": {"type": "object"}}]}
            case _:
                return {"content": [{"type": "text", "text": "hello"}]}


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    place = Place()
    async with served(place) as place.address:
        yield place


@asynccontextmanager
async def served(place: Place, context: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_route("*", "/mcp", place.answer)
    if isinstance(place, OldPlace):
        app.router.add_post("/messages", place.told)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    host, port = runner.addresses[0][:2]
    yield f"http://{host}:{port}/mcp"
    await runner.cleanup()


def server_at(address: str, **headers: str) -> McpServer:
    return McpServer(name="bad", transport=HttpTransport(url=address, headers=headers))


async def test_a_key_is_read_from_the_environment(tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PLACE_KEY", "s3cret")
    async with hub_of(tmp_path, server_at(place.address, Authorization="Bearer $PLACE_KEY")) as hub:
        await reached(hub, "ready")
        assert text_of(await called(hub, "bad__hello")) == "hello"
        assert set(place.headers) == {"Bearer s3cret"}
        assert "s3cret" not in repr(hub.states())


async def test_a_certificate_that_the_system_trusts_is_trusted(tmp_path: Path):
    place, pem = Place(), certificate_of("localhost", tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    usual_trust().load_verify_locations(pem)
    try:
        async with served(place, context) as address:
            server = server_at(address.replace("http://127.0.0.1", "https://localhost"))
            async with hub_of(tmp_path, server) as hub:
                await reached(hub, "ready")
    finally:
        usual_trust.cache_clear()


async def test_nobody_there(tmp_path: Path):
    async with hub_of(tmp_path, server_at("http://127.0.0.1:1/mcp")) as hub:
        state = await reached(hub, "failed")
        assert state.problem.startswith("Nothing answers at http://127.0.0.1:1/mcp")
        findings = [finding async for finding in hub.doctor("bad")]
        assert [(finding.step, finding.ok) for finding in findings] == [("command found", True), ("starts", False)]


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (401, "The server answered 401 Unauthorized. Sign in on its page, or check the key in its headers."),
        (404, "The server answered 404 Not Found. Check the address: the path is often /mcp."),
        (500, "The server answered 500 Internal Server Error. Look into the server's own log."),
    ],
)
async def test_a_refusal(tmp_path: Path, place: Place, status: int, told: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PLACE_KEY", "wrong")
    place.status = status
    async with hub_of(tmp_path, server_at(place.address, Authorization="Bearer $PLACE_KEY")) as hub:
        assert (await reached(hub, "failed")).problem == told


async def test_a_page_instead_of_a_server(tmp_path: Path, place: Place):
    place.page = "<h1>Welcome</h1>"
    async with hub_of(tmp_path, server_at(place.address)) as hub:
        state = await reached(hub, "failed")
        assert state.problem.startswith("It does not speak MCP as it should: Unexpected content type: text/html")


class OldPlace(Place):
    """One from before streamable HTTP: it answers on a stream of events, and is told elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.stream: web.StreamResponse | None = None
        self.refusal = 405

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if request.method != "GET":
            return web.Response(status=self.refusal)
        self.headers.append(request.headers.get("Authorization", ""))
        stream = self.stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        await stream.write(b"event: endpoint\ndata: /messages\n\n")
        await asyncio.Event().wait()
        return stream

    async def told(self, request: web.Request) -> web.Response:
        message = await request.json()
        assert self.stream is not None
        if "id" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": self.result(message)}
            await self.stream.write(f"event: message\ndata: {json.dumps(reply)}\n\n".encode())
        return web.Response(status=202)


@pytest.mark.parametrize("refusal", [400, 404, 405])
async def test_a_server_that_speaks_sse_only_is_found(tmp_path: Path, refusal: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PLACE_KEY", "s3cret")
    place = OldPlace()
    place.refusal = refusal
    [server] = read_servers(json.dumps({"bad": {"url": "http://x/mcp", "type": "sse"}}))
    async with served(place) as address:
        transport = HttpTransport(url=address, headers={"Authorization": "Bearer $PLACE_KEY"})
        async with hub_of(tmp_path, server.model_copy(update={"transport": transport})) as hub:
            await reached(hub, "ready")
            assert text_of(await called(hub, "bad__hello")) == "hello"
            assert set(place.headers) == {"Bearer s3cret"}
            findings = [finding async for finding in hub.doctor("bad")]
            assert all(finding.ok for finding in findings)


async def test_a_server_that_forgot_us_is_connected_again(tmp_path: Path, place: Place):
    async with hub_of(tmp_path, server_at(place.address)) as hub:
        await reached(hub, "ready")
        place.status = 404
        with pytest.raises(ToolError, match="was lost during the call: The connection to http"):
            await called(hub, "bad__hello")
        await reached(hub, "failed")
        place.status = 200
        assert text_of(await called(hub, "bad__hello")) == "hello"
