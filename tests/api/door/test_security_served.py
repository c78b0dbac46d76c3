"""The door around NiceGUI as `ui.run` serves it: its own middleware, its static files, its sockets, its uploads."""

import http.client
import json
from collections.abc import Iterator

import pytest
from aiohttp import ClientSession, WSServerHandshakeError

from app.api.door.security import API_BODY, ENVELOPE
from app.export.limits import LARGEST_AGENT
from tests.app_process import AppProcess
from tests.door import SOCKET, Owner, Target, ask

SOCKET_IO = "/_nicegui_ws/socket.io/?EIO=4&transport="


@pytest.fixture(scope="module")
def small_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    folder = tmp_path_factory.mktemp("small")
    storage = {"NICEGUI_STORAGE_PATH": str(folder / "nicegui")}
    app = AppProcess(folder, module="tests.api.small_app", environment=storage)
    app.start()
    yield app
    app.stop()


@pytest.fixture
def owner(small_app: AppProcess) -> Owner:
    return Owner(small_app.port, small_app.token, small_app.sign_in())


@pytest.mark.parametrize("path", ["/", "/favicon.ico", "/_nicegui/3.18.0/static/nicegui.js", "/no/such/page"])
async def test_nothing_of_nicegui_stands_outside(owner: Owner, path: str) -> None:
    assert await ask(owner.port, Target("GET", path), owner.host) == 401
    assert await ask(owner.port, Target("GET", path), owner.cookie) == 421
    assert await ask(owner.port, Target("GET", path), (*owner.cookie, ("Host", "evil.example"))) == 421
    assert await ask(owner.port, Target("GET", path), owner.all) in (200, 404)


@pytest.mark.parametrize("transport", ["polling", "websocket"])
async def test_a_foreign_page_opens_no_socket(owner: Owner, transport: str) -> None:
    target = Target(SOCKET if transport == "websocket" else "GET", SOCKET_IO + transport)
    foreign = (("Origin", f"http://127.0.0.1:{owner.port + 1}"),)

    assert await ask(owner.port, target, owner.host + owner.cookie + foreign) == 403
    assert await ask(owner.port, target, owner.host + owner.origin) == 401
    assert await ask(owner.port, target, owner.all) in (200, 101)


async def test_a_program_opens_a_socket_of_the_api_with_a_key(small_app: AppProcess) -> None:
    bearer = {"Authorization": f"Bearer {small_app.token}"}
    async with ClientSession() as client:
        async with client.ws_connect(f"{small_app.url}/api/echo", headers=bearer) as socket:
            await socket.send_str("hello")
            assert await socket.receive_str() == "hello"
        with pytest.raises(WSServerHandshakeError) as refused:
            await client.ws_connect(f"{small_app.url}/api/echo")
    assert refused.value.status == 401


@pytest.mark.parametrize(("path", "allowed"), [("/api/length", API_BODY), ("/", LARGEST_AGENT + ENVELOPE)])
async def test_who_sends_too_much_still_hears_why(small_app: AppProcess, path: str, allowed: int) -> None:
    shown = {"Origin": small_app.url, "Cookie": f"agent_playground_{small_app.port}={small_app.sign_in()}"}
    client = http.client.HTTPConnection("127.0.0.1", small_app.port, timeout=20)
    client.request("POST", path, bytes(2 * allowed), shown)
    answer = client.getresponse()

    assert answer.status == 413
    assert "can be sent at once" in answer.read().decode()


async def test_a_body_that_hides_its_size_is_cut_off(small_app: AppProcess) -> None:
    shown = {"Authorization": f"Bearer {small_app.token}"}
    client = http.client.HTTPConnection("127.0.0.1", small_app.port, timeout=20)
    pieces = (bytes(1024**2) for _ in range(12))
    client.request("POST", "/api/length", pieces, shown, encode_chunked=True)

    assert client.getresponse().status == 413
    assert "Traceback" not in small_app.log


async def test_a_page_is_served_with_our_headers_once(small_app: AppProcess) -> None:
    shown = {"Cookie": f"agent_playground_{small_app.port}={small_app.sign_in()}"}
    async with ClientSession() as client, client.get(small_app.url, headers=shown) as answer:
        assert len(answer.headers.getall("Content-Security-Policy")) == 1
        assert answer.headers.getall("Cache-Control") == ["no-store"]
        assert "Hello, owner" in json.dumps(await answer.text())
