"""Who opens connections and says nothing keeps nobody out, and who is signed out loses theirs."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from app.api.door.connections import Connections
from app.api.door.security import Door
from app.store.keys.sign_ins import SIGN_OUT, SignIns
from tests.api.door.test_security import OneKey
from tests.api.over import served
from tests.app_process import free_port
from tests.door import SOCKET_HEADERS

KEY = {"X-API-Key": "key-of-a-script"}
AT_MOST = 5


async def front(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"{len(await request.body())} bytes")


async def echo(socket: WebSocket) -> None:
    await socket.accept()
    async for text in socket.iter_text():
        await socket.send_text(text)


HOUSE = Starlette(
    routes=[
        Route("/", front, methods=["GET", "POST"]),
        Route("/api/v1/runs", front, methods=["GET", "POST"]),
        WebSocketRoute("/live", echo),
    ]
)


class House:
    """The small app behind its door, and the connections to it that a test opened."""

    def __init__(self, port: int, connections: Connections, sign_ins: SignIns) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.connections = connections
        self.sign_ins = sign_ins
        self._opened: list[asyncio.StreamWriter] = []

    def cookie(self, shown: str) -> dict[str, str]:
        return {"Cookie": f"agent_playground_{self.port}={shown}", "Origin": self.url}

    async def opened(self, said: bytes = b"") -> asyncio.StreamReader:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self._opened.append(writer)
        writer.write(said)
        await writer.drain()
        return reader

    async def strangers(self, number: int, said: bytes = b"") -> list[asyncio.StreamReader]:
        return [await self.opened(said) for _ in range(number)]

    def request(self, method: str, path: str, headers: dict[str, str]) -> bytes:
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}"]
        return "\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items()), "", ""]).encode()

    def close(self) -> None:
        for writer in self._opened:
            writer.close()


@asynccontextmanager
async def standing() -> AsyncIterator[House]:
    connections, sign_ins, port = Connections(AT_MOST), SignIns(), free_port()
    ways_in: Callable[..., Door] = Door
    door = ways_in(HOUSE, port=port, token="t" * 40, sign_ins=sign_ins, connections=connections, guests=OneKey())
    async with served(door, port=port, connections=connections):
        house = House(port, connections, sign_ins)
        try:
            yield house
        finally:
            house.close()


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with standing() as house:
        yield house


def over(readers: list[asyncio.StreamReader]) -> list[bool]:
    return [reader.at_eof() or reader.exception() is not None for reader in readers]


async def ended(reader: asyncio.StreamReader) -> bytes:
    """What came before its end."""
    said = b""
    async with asyncio.timeout(30):
        while True:
            try:
                piece = await reader.read(1000)
            except ConnectionError:
                return said
            if not piece:
                return said
            said += piece


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost:", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n"])
async def test_the_oldest_stranger_makes_room_for_the_next(house: House, said: bytes):
    strangers = await house.strangers(AT_MOST, said)
    async with httpx.AsyncClient(base_url=house.url) as owner:
        for _ in range(3):
            assert (await owner.get("/api/v1/runs", headers=KEY)).status_code == 200
    await ended(strangers[0])
    if not said.startswith(b"POST"):  # which is answered, and over then
        assert over(strangers[1:]) == [False] * (AT_MOST - 1)


async def test_who_has_shown_a_credential_stays_however_many_come(house: House):
    key = house.request("GET", "/api/v1/runs", KEY)
    browser = house.request("GET", "/live", house.cookie(await house.sign_ins.sign_in()) | dict(SOCKET_HEADERS))
    known = [await house.opened(said) for said in (key, browser)]
    heads = [await reader.readuntil(b"\r\n\r\n") for reader in known]
    assert [head.split()[1] for head in heads] == [b"200", b"101"]
    strangers = await house.strangers(4 * AT_MOST)
    for stranger in strangers[: 3 * AT_MOST]:
        await ended(stranger)
    assert over(known) == [False, False]


async def test_what_needs_no_credential_makes_nobody_known(house: House):
    asked = await house.opened(house.request("GET", "/health", {}))
    assert b"200 OK" in await asked.readline()
    await house.strangers(AT_MOST)
    await ended(asked)


async def test_who_signs_everyone_out_stays_and_all_others_are_hung_up(house: House):
    mine, theirs = await house.sign_ins.sign_in(), await house.sign_ins.sign_in()
    sockets = [
        await house.opened(house.request("GET", "/live", house.cookie(shown) | dict(SOCKET_HEADERS)))
        for shown in (mine, theirs)
    ]
    program = await house.opened(house.request("GET", "/api/v1/runs", KEY))
    for reader in (*sockets, program):
        await reader.readuntil(b"\r\n\r\n")
    async with httpx.AsyncClient(base_url=house.url) as browser:
        answer = await browser.post(SIGN_OUT, headers=house.cookie(mine))
        assert answer.status_code == 204 and mine not in answer.headers["set-cookie"]
        for shown, status in ((mine, 401), (theirs, 401)):
            browser.cookies.clear()
            assert (await browser.get("/", headers=house.cookie(shown))).status_code == status
        anew = answer.headers["set-cookie"].partition(";")[0].partition("=")[2]
        assert (await browser.get("/", headers=house.cookie(anew))).status_code == 200
    for socket in sockets:
        await ended(socket)
    assert over([program]) == [False]


@pytest.mark.parametrize(
    ("headers", "status"),
    [({}, 403), ({"Origin": "http://evil.example"}, 403), ({"X-API-Key": "key-of-a-script"}, 403)],
)
async def test_nobody_else_signs_the_owner_out(house: House, headers: dict[str, str], status: int):
    shown = await house.sign_ins.sign_in()
    cookie = {"Cookie": house.cookie(shown)["Cookie"]}
    async with httpx.AsyncClient(base_url=house.url) as browser:
        assert (await browser.post(SIGN_OUT, headers=cookie | headers)).status_code == status
        assert (await browser.post(SIGN_OUT, headers={"Origin": house.url, **headers})).status_code in (401, 403)
        assert (await browser.get(SIGN_OUT, headers=cookie)).status_code == 404
    assert house.sign_ins.is_signed_in(shown)
