"""HTTP requests to real servers, and to those that mean no good."""

import asyncio
import gzip
import ssl
import time
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web

from app.domain.errors import ToolError
from app.tools.http.message import Received, Sent
from app.tools.http.net import MOST_BYTES, Unpacker, fetch
from app.tools.http.net_guard import OWN_PORTS, Guard, host_of
from tests.tools.answering import WAY_OUT, Names, answering, here, never, redirecting, saying
from tests.tools.certificates import certificate_of


async def test_what_the_address_answers_comes_back() -> None:
    async with answering({"/a": saying("hello", "text/plain; charset=utf-8")}) as server:
        received = await fetch(Sent(server.url("/a?q=1#part")), here())
        url = server.url("/a?q=1")
    assert (received.status, received.reason, received.content) == (200, "OK", b"hello")
    assert (received.url, received.headers["content-type"], received.cut) == (url, "text/plain; charset=utf-8", False)
    assert server.requests == ["GET /a?q=1"]


async def test_method_headers_and_body_are_sent() -> None:
    async with answering({"/": saying("")}) as server:
        await fetch(Sent(server.url(), "PUT", {"X-Own": "yes", "Content-Type": "application/json"}, b"{}"), here())
    assert (server.requests, server.bodies) == (["PUT /"], [b"{}"])
    assert (server.headers[0]["X-Own"], server.headers[0]["Content-Type"]) == ("yes", "application/json")


async def test_an_error_status_is_an_answer_too() -> None:
    async with answering({}) as server:
        assert (await fetch(Sent(server.url("/x")), here())).status == 404


async def test_this_computer_is_not_asked() -> None:
    async with answering({"/": saying("secret")}) as server:
        for url in (server.url(), server.url(host="localhost"), server.url(host="2130706433")):
            with pytest.raises(ToolError, match="not a public address"):
                await fetch(Sent(url), Guard(hosts=("*",), way_out=WAY_OUT))
    assert server.requests == []


async def test_a_public_name_that_leads_to_this_computer_is_not_asked() -> None:
    guard = Guard(hosts=("*",), way_out=WAY_OUT, resolve=Names({"example.org": ["127.0.0.1"]}))
    async with answering({"/": saying("secret")}) as server:
        with pytest.raises(ToolError, match=r"example.org leads to 127.0.0.1, which is not a public address"):
            await fetch(Sent(server.url(host="example.org")), guard)
    assert server.requests == []


async def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    guard = here("example.org", names={"example.org": ["127.0.0.1", "192.0.2.1"]})
    async with answering({"/": saying("hello")}) as server:
        received = await fetch(Sent(server.url(host="example.org")), guard)
    assert isinstance(guard.resolve, Names)
    assert (received.content, guard.resolve.asked) == (b"hello", ["example.org"])
    assert server.headers[0]["Host"] == f"example.org:{server.port}"


async def test_a_name_that_changes_to_this_computer_is_found_out_at_the_redirect() -> None:
    """At first the name is a private host that was allowed, then one whose address nobody may ask."""
    guard = here("example.org", names={"example.org": ["127.0.0.1", "169.254.169.254"]})
    async with answering({"/": redirecting("/more"), "/more": saying("secret")}) as server:
        with pytest.raises(ToolError, match=r"leads to 169.254.169.254"):
            await fetch(Sent(server.url(host="example.org")), guard)
    assert server.requests == ["GET /"]


@pytest.mark.parametrize(
    "target", ["localhost", "[::1]", "10.0.0.1", "169.254.169.254", "2130706433", "[::ffff:7f00:1]"]
)
async def test_a_redirect_to_a_private_address_is_not_followed(target: str) -> None:
    guard = Guard(hosts=("*",), way_out=WAY_OUT, private_hosts=frozenset(["127.0.0.1"]))
    async with answering({}) as inner, answering({"/": redirecting(f"http://{target}:{inner.port}/")}) as server:
        with pytest.raises(ToolError, match="not a public address"):
            await fetch(Sent(server.url()), guard)
    assert (len(server.requests), inner.requests) == (1, [])


@pytest.fixture
def own_ports() -> Iterator[set[int]]:
    """Where this process is told to serve; taken back afterwards."""
    before = set(OWN_PORTS)
    yield OWN_PORTS
    OWN_PORTS.intersection_update(before)


HERE = ["127.0.0.1", "localhost", "LOCALHOST.", "2130706433", "0x7f.1", "127.1", "[::1]", "[::ffff:127.0.0.1]"]


@pytest.mark.parametrize("host", HERE)
async def test_the_app_itself_is_never_asked_also_where_this_computer_may_be(host: str, own_ports: set[int]) -> None:
    async with answering({"/": saying("the app")}) as app:
        own_ports.add(app.port)
        address = f"http://{host}:{app.port}/"
        with pytest.raises(ToolError, match=r"is Agent Playground itself|is not a public address|is not known"):
            await fetch(Sent(address), Guard(("*",), WAY_OUT, private_hosts=frozenset([host_of(address)])))
    assert app.requests == []


@pytest.mark.parametrize("second", ["pages", "files"])
async def test_a_redirect_to_the_app_itself_is_not_followed(second: str, own_ports: set[int]) -> None:
    guard = here("other.example", "127.0.0.1", names={"other.example": ["127.0.0.1"], "127.0.0.1": ["127.0.0.1"]})
    async with answering({"/": saying(second)}) as app:
        own_ports.add(app.port)
        async with answering({"/": redirecting(app.url())}) as server:
            with pytest.raises(ToolError, match=f"127.0.0.1:{app.port} is Agent Playground itself"):
                await fetch(Sent(server.url(host="other.example")), guard)
    assert (len(server.requests), app.requests) == (1, [])


async def test_a_redirect_to_a_host_that_is_not_allowed_is_not_followed() -> None:
    guard = Guard(hosts=("127.0.0.1",), way_out=WAY_OUT, private_hosts=frozenset(["127.0.0.1"]))
    async with answering({"/": redirecting("https://other.example/")}) as server:
        with pytest.raises(ToolError, match=f"^other.example is not among the allowed hosts. {WAY_OUT}"):
            await fetch(Sent(server.url()), guard)


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/", "http://a:b@127.0.0.1/", "https://"])
async def test_a_redirect_elsewhere_than_http_is_not_followed(target: str) -> None:
    async with answering({"/": redirecting(target)}) as server:
        with pytest.raises(ToolError, match=r"no address|user name or password"):
            await fetch(Sent(server.url()), here())


async def test_six_redirects_are_too_many() -> None:
    hops = {f"/{step}": redirecting(f"/{step + 1}") for step in range(9)}
    async with answering({**hops, "/9": saying("there")}) as server:
        assert (await fetch(Sent(server.url("/4")), here())).content == b"there"
        with pytest.raises(ToolError, match="redirects more than 5 times"):
            await fetch(Sent(server.url("/3")), here())


async def test_headers_stay_with_their_host() -> None:
    guard = here("127.0.0.1", "other.example", names={"other.example": ["127.0.0.1"]})
    secret = {"Authorization": "Bearer key", "X-Api-Key": "key", "Cookie": "a=b"}
    async with answering({"/": saying("")}) as other:
        away = {"/same": redirecting("/away"), "/away": redirecting(other.url(host="other.example"))}
        async with answering(away) as server:
            await fetch(Sent(server.url("/same"), headers=secret), guard)
    assert [headers.get("X-Api-Key") for headers in server.headers] == ["key", "key"]
    assert "key" not in " ".join(other.headers[0].values())
    assert "Cookie" not in other.headers[0]


async def test_a_body_follows_on_the_same_host_only() -> None:
    async with answering({"/": saying("")}) as other:
        routes = {
            "/307": redirecting("/end", 307),
            "/303": redirecting("/end", 303),
            "/away": redirecting(other.url(), 307),
        }
        async with answering({**routes, "/end": saying("")}) as server:
            await fetch(Sent(server.url("/307"), "POST", {}, b"x"), here())
            await fetch(Sent(server.url("/303"), "POST", {}, b"x"), here())
            with pytest.raises(ToolError, match=r"redirects the POST to 127.0.0.1. Ask that address instead"):
                await fetch(Sent(server.url("/away"), "POST", {}, b"x"), here())
    assert server.requests == ["POST /307", "POST /end", "POST /303", "GET /end", "POST /away"]
    assert (server.bodies, other.requests) == ([b"x", b"x", b"x", b"", b"x"], [])


@pytest.mark.parametrize(
    "url",
    ["example.org", "file:///etc/passwd", "ftp://example.org/", "http://", "http://a:99999/", "http://xn--/", "\0"],
)
async def test_what_is_no_http_address_is_told(url: str) -> None:
    with pytest.raises(ToolError, match="is no address"):
        await fetch(Sent(url), here())


async def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ToolError, match=r"on 127.0.0.1 holds a user name or password") as error:
        await fetch(Sent("http://me:hunter2@127.0.0.1/"), here())
    assert "hunter2" not in str(error.value)


async def big(request: web.Request) -> web.StreamResponse:
    """50 MB, unless the other side goes away."""
    response = web.StreamResponse(headers={"Content-Type": "text/plain"})
    await response.prepare(request)
    for _ in range(50):
        await response.write(b"x" * 1_000_000)
    return response


async def test_a_body_of_50_mb_is_cut_at_the_limit() -> None:
    async with answering({"/": big}) as server:
        received = await fetch(Sent(server.url()), here())
    assert (len(received.content), received.cut) == (MOST_BYTES, True)


def packed(kind: str, content: bytes) -> bytes:
    if kind == "gzip":
        return gzip.compress(content)
    return zlib.compress(content) if kind == "deflate" else zlib.compress(content)[2:-4]


async def packed_answer(kind: str, content: bytes) -> Received:
    header = "gzip" if kind == "gzip" else "deflate"
    answer = saying(packed(kind, content), **{"Content-Encoding": header})
    async with answering({"/": answer}) as server:
        return await fetch(Sent(server.url()), here())


@pytest.mark.parametrize("kind", ["gzip", "deflate", "raw deflate"])
async def test_a_packed_body_is_unpacked(kind: str) -> None:
    received = await packed_answer(kind, b"hello" * 1000)
    assert (received.content, received.cut) == (b"hello" * 1000, False)


@pytest.mark.parametrize("kind", ["gzip", "deflate", "raw deflate"])
def test_a_bomb_is_unpacked_to_the_limit_only(kind: str) -> None:
    bomb = packed(kind, bytes(60_000_000))
    unpacker = Unpacker("gzip" if kind == "gzip" else "deflate", MOST_BYTES)
    tracemalloc.start()
    try:
        content = unpacker.take(bomb)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (len(content), unpacker.cut) == (MOST_BYTES, True)
    assert most < 5 * MOST_BYTES


async def test_a_server_that_sends_a_bomb_is_cut_off() -> None:
    received = await packed_answer("gzip", bytes(60_000_000))
    assert (len(received.content), received.cut) == (MOST_BYTES, True)


@pytest.mark.parametrize("encoding", ["br", "gzip, gzip", "compress"])
async def test_a_body_packed_otherwise_is_told(encoding: str) -> None:
    async with answering({"/": saying(b"xxx", **{"Content-Encoding": encoding})}) as server:
        with pytest.raises(ToolError, match=f"packed as '{encoding}', which was not asked for"):
            await fetch(Sent(server.url()), here())


async def test_a_damaged_body_is_told() -> None:
    async with answering({"/": saying(b"no gzip at all", **{"Content-Encoding": "gzip"})}) as server:
        with pytest.raises(ToolError, match="The answer is damaged"):
            await fetch(Sent(server.url()), here())


async def test_an_answer_that_never_ends_is_given_up() -> None:
    async with answering({"/": never}) as server:
        began = time.monotonic()
        with pytest.raises(ToolError, match=r"127.0.0.1 did not answer in full within 0.2 seconds"):
            await fetch(Sent(server.url()), here(), seconds=0.2)
    assert time.monotonic() - began < 10


async def test_a_server_that_does_not_speak_http_is_told() -> None:
    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"220 mail ready\r\n")
        writer.close()

    server = await asyncio.start_server(shout, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        for host, guard in (("127.0.0.1", here()), ("example.org", at_two_addresses("127.0.0.1", "::1"))):
            with pytest.raises(ToolError, match=f"{host} broke off the answer"):
                await fetch(Sent(f"http://{host}:{port}/"), guard)


async def test_a_server_that_is_down_is_told() -> None:
    async with answering({}) as server:
        url = server.url()
    with pytest.raises(ToolError, match=r"127.0.0.1 takes no connection"):
        await fetch(Sent(url), here())


async def test_the_next_address_is_tried_where_the_first_takes_no_connection() -> None:
    async with answering({"/": saying("hello")}) as server:
        received = await fetch(Sent(server.url(host="example.org")), at_two_addresses("::1", "127.0.0.1"))
    assert received.content == b"hello"


def at_two_addresses(*addresses: str) -> Guard:
    """The guard of who asks `example.org`, which has both."""

    async def both(_host: str, _port: int) -> tuple[str, ...]:
        return addresses

    return Guard(hosts=("*",), way_out=WAY_OUT, private_hosts=frozenset(["example.org"]), resolve=both)


async def test_a_header_with_a_line_break_is_not_sent() -> None:
    async with answering({"/": saying("")}) as server:
        with pytest.raises(ToolError, match="cannot be sent"):
            await fetch(Sent(server.url(), headers={"X-A": "1\r\nX-B: 2"}), here())
    assert server.requests == []


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with answering({"/": saying("proxied")}) as proxy, answering({"/": saying("direct")}) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.url())
        monkeypatch.setenv("ALL_PROXY", proxy.url())
        assert (await fetch(Sent(server.url()), here())).content == b"direct"


@pytest.fixture
def certificate(tmp_path: Path) -> Iterator[Path]:
    yield certificate_of("example.org", tmp_path)


async def test_a_certificate_is_checked_for_the_name_and_not_the_address(certificate: Path) -> None:
    guard = here("example.org", "other.example", names={"example.org": ["127.0.0.1"], "other.example": ["127.0.0.1"]})
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    trust = ssl.create_default_context(cafile=str(certificate))
    async with answering({"/": saying("hello")}, tls=tls) as server:
        assert (await fetch(Sent(server.url(host="example.org")), guard, trust=trust)).content == b"hello"
        with pytest.raises(ToolError, match=r"The certificate of other.example is not to be trusted"):
            await fetch(Sent(server.url(host="other.example")), guard, trust=trust)
        with pytest.raises(ToolError, match=r"The certificate of example.org is not to be trusted"):
            await fetch(Sent(server.url(host="example.org")), guard)
