"""What servers, and whatever stands between, answer on the direct route."""

import asyncio
import gzip
import json
import re
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest

from app.domain.errors import FailureClass
from app.llm.litellm import posting
from app.llm.litellm.direct import SWITCH
from app.llm.litellm.litellm_model import ensure_litellm
from tests.cancelling import AtAwait
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.ollama import FakeOllama
from tests.fakes.openai import SECRET, FakeOpenAI
from tests.fakes.server import FakeServer
from tests.llm.calling import Outcome, call
from tests.tools.certificates import certificate_of


@pytest.fixture(autouse=True)
async def litellm_is_there():
    await ensure_litellm()


def piece(finish: str | None = None, **delta: str) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps({"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})


def events(*pieces: str) -> bytes:
    return "".join(f"data: {said}\n\n" for said in pieces).encode()


def answer(body: bytes, kind: str = "text/event-stream", **headers: str) -> bytes:
    named = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{named}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


HELLO = (piece(content="Hel"), piece(content="lo"), piece("stop"), "[DONE]")
PLAIN = events(*HELLO)
USED = json.dumps({"id": "1", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}})
WHOLE = json.dumps(
    {
        "id": "1",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}],
    }
).encode()


def unended(body: bytes) -> bytes:
    """In chunks, behind which the last one is missing that says so."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"%x\r\n%b\r\n" % (len(body), body)


@asynccontextmanager
async def serving(
    said: bytes, trust: ssl.SSLContext | None = None, *, hangs_up: bool = False
) -> AsyncIterator[tuple[str, list[str]]]:
    """A server that says that to each request, and the first lines that it was sent."""
    asked: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                length = re.search(r"(?i)content-length: (\d+)", head)
                await reader.readexactly(int(length[1]) if length else 0)
                asked.append(head.partition("\r\n")[0])
                writer.write(said)
                if hangs_up:
                    break
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=trust)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", asked


async def outcome_of(said: bytes, name: str = "openai/x", *, hangs_up: bool = False) -> Outcome:
    async with serving(said, hangs_up=hangs_up) as (place, asked):
        outcome = await call(name, f"http://{place}")
        assert len(asked) == 1
    return outcome


@pytest.mark.parametrize(
    "said",
    [
        answer(PLAIN),
        answer(PLAIN.replace(b"\n", b"\r\n")),
        answer(PLAIN.replace(b"\n\n", b"\n")),
        answer(PLAIN.replace(b"data: ", b"data:")),
        answer(b"\xef\xbb\xbf" + PLAIN),
        answer(b": hello\nevent: message\nid: 3\nretry: 9\n" + PLAIN),
        answer(PLAIN.replace(b'"delta"', b'\ndata: "delta"')),
        answer(gzip.compress(PLAIN), Content_Encoding="gzip"),
        answer(WHOLE, "application/json"),
    ],
    ids=["plain", "CRLF", "no blank lines", "no blanks", "BOM", "named", "in several lines", "gzip", "in one piece"],
)
async def test_an_answer_is_read_however_it_is_written(said: bytes):
    outcome = await outcome_of(said)

    assert outcome.failure is None
    assert outcome.message.text == "Hello"


@pytest.mark.parametrize("route", ["", "litellm"])
@pytest.mark.parametrize(
    ("pieces", "is_estimated"),
    [((*HELLO[:3], USED, "[DONE]"), False), ((*HELLO[:3], USED), False), (HELLO, True), (HELLO[:3], True)],
    ids=["whole", "without an end", "without usage", "with neither"],
)
async def test_a_whole_answer_counts_though_its_server_hangs_up(
    pieces: tuple[str, ...], is_estimated: bool, route: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(SWITCH, route)
    outcome = await outcome_of(unended(events(*pieces)), hangs_up=True)

    assert outcome.failure is None
    assert outcome.message.text == "Hello"
    assert outcome.reply is not None and outcome.reply.usage.estimated == is_estimated


async def test_half_an_answer_is_a_failure_where_its_server_hangs_up():
    outcome = await outcome_of(unended(events(*HELLO[:2])), hangs_up=True)

    assert outcome.failure is not None and outcome.failure.failure == "network"


REFUSALS: dict[str, tuple[bytes, FailureClass, int | None, str]] = {
    "an error behind a 200": (
        answer(b'{"error": {"message": "No such model", "code": 404}}'), "model_unavailable", 404, "No such model"
    ),
    "an error in a word": (answer(events('{"error": "It crashed"}')), "provider_error", 500, "It crashed"),
    "vLLM's error": (
        answer(events('{"object": "error", "message": "It broke", "code": 400}')), "bad_request", 400, "It broke"
    ),
    "a page": (answer(b"<html>\n\n<h1>Sign in</h1>", "text/html"), "bad_response", None, ""),
    "half a gzip": (answer(gzip.compress(PLAIN)[:-40], Content_Encoding="gzip"), "bad_response", None, ""),
    "no gzip": (answer(b"hello hello", Content_Encoding="gzip"), "network", None, ""),
    "no HTTP": (b"220 mail.example ready\r\n\r\n", "bad_response", None, ""),
    "a head of nonsense": (b"HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n", "bad_response", None, ""),
    "no object": (answer(events("5", "[1]")), "bad_response", None, ""),
    "nothing": (b"HTTP/1.1 204 No Content\r\n\r\n", "bad_response", None, ""),
    "an event without an end": (answer(b"data: {\n" * 5_000), "bad_response", None, ""),
    "another place": (
        b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n"
        b"Location: https://me:" + SECRET.encode() + b"@other.example/v1?key=" + SECRET.encode() + b"\r\n\r\n",
        "bad_request", 302, "sends on to https://other.example/v1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
async def test_what_is_no_answer_is_a_failure_in_words(name: str):
    said, failure, status, words = REFUSALS[name]
    outcome = await outcome_of(said)

    assert outcome.failure is not None
    assert (outcome.failure.failure, outcome.failure.status) == (failure, status)
    assert words in outcome.failure.text
    assert SECRET not in outcome.failure.text


async def test_ollamas_error_in_mid_answer_is_told_in_its_words():
    begun = {"model": "x", "message": {"role": "assistant", "content": "Hel"}, "done": False}
    lines = [json.dumps(begun), json.dumps({"error": "The runner stopped"}), ""]
    outcome = await outcome_of(answer("\n".join(lines).encode(), "application/x-ndjson"), "ollama/x")

    assert [delta.text for delta in outcome.deltas] == ["Hel"]
    assert outcome.failure is not None
    assert (outcome.failure.failure, outcome.failure.status) == ("provider_error", 500)
    assert "The runner stopped" in outcome.failure.text


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_is_asked_and_its_password_never_told(scheme: str, monkeypatch: pytest.MonkeyPatch):
    refused = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    async with serving(refused) as (place, asked):
        monkeypatch.setenv(f"{scheme}_proxy", f"http://me:pass-word-1@{place}")
        monkeypatch.setenv("no_proxy", "inside.example")
        beyond = await call("openai/x", f"{scheme}://{scheme}.beyond.example")
        inside = await call("openai/x", f"{scheme}://inside.example")

    assert len(asked) == 1
    assert asked[0].startswith({"http": "POST http://http.beyond", "https": "CONNECT https.beyond"}[scheme])
    assert beyond.failure is not None and beyond.failure.failure in ("network", "provider_error")
    assert inside.failure is not None and inside.failure.failure == "network"
    assert "pass-word" not in beyond.failure.text


async def test_a_certificate_counts_where_the_environment_names_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pem = certificate_of("localhost", tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    async with serving(answer(PLAIN), context) as (place, _):
        url = f"https://{place.replace('127.0.0.1', 'localhost')}"
        refused = await call("openai/x", url)
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        trusted = await call("openai/x", url)

    assert refused.failure is not None and refused.failure.failure == "network"
    assert trusted.message.text == "Hello"


async def test_a_connection_is_kept_for_the_next_call():
    async with FakeOpenAI() as fake:
        await call("openai/ok", fake.url)
        [kept] = _kept(fake.url)
        await call("openai/ok", fake.url)

        assert _kept(fake.url) == [kept]


async def test_a_connection_that_its_server_has_closed_is_not_used_again():
    """Also where this loop had no time to hear of it. A request is never sent twice: it may have been served."""
    with _closing_server() as (url, close):
        first = await call("openai/x", url)
        close()
        second = await call("openai/x", url)

    assert first.message.text == second.message.text == "Hello"


@pytest.mark.parametrize(
    ("name", "fake_kind"),
    [("openai/ok", FakeOpenAI), ("anthropic/thinking-tools", FakeAnthropic), ("ollama/ok", FakeOllama)],
)
async def test_cancelled_at_every_await_a_call_leaves_no_connection_behind(
    name: str, fake_kind: Callable[[], FakeServer]
):
    loop = asyncio.get_running_loop()
    async with fake_kind() as fake:
        for nth in range(1, 200):
            at = AtAwait("call", nth)
            loop.set_task_factory(at)
            task = asyncio.create_task(call(name, fake.url))
            loop.set_task_factory(None)
            await asyncio.wait([task])
            connector = (await posting._session()).http.connector
            assert connector is not None and not connector._acquired, nth
            if not at.reached:
                break
            assert task.cancelled(), nth
        assert nth > 4
        await fake.wait(lambda seen: seen.streaming == 0)


@contextmanager
def _closing_server() -> Iterator[tuple[str, Callable[[], object]]]:
    """One in a thread of its own; what comes with it waits, as busy as can be, until its connection is closed."""
    read, closed = threading.Event(), threading.Event()

    def serve() -> None:
        for _ in range(2):
            connection, _ = listening.accept()
            with connection, connection.makefile("rb") as sent:
                length = 0
                while (line := sent.readline()) != b"\r\n":
                    length = int(line.partition(b":")[2]) if line.lower().startswith(b"content-length") else length
                sent.read(length)
                connection.sendall(answer(PLAIN))
                read.wait()
            closed.set()

    def close() -> None:
        read.set()
        closed.wait()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", close
        thread.join(5)


def _kept(url: str) -> list[object]:
    """The connections to that address that are idle."""
    connector = posting._open[asyncio.get_running_loop()][0].http.connector
    assert connector is not None
    port = int(url.rpartition(":")[2])
    return [one[0] for key, kept in connector._conns.items() if key.port == port for one in kept]
