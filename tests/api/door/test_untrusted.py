"""The second origin: contents of signed addresses, and nothing else, at a port that opens when it is first needed."""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from app.api.door.untrusted import UntrustedOrigin
from app.domain.apps import Domains
from app.store.contents.artifacts import Artifacts
from app.store.contents.contents import HOLDS, Contents, SignedLinks

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
HOME = "http://127.0.0.1:8765/"
OTHER_NAMES = ("localhost", "evil.example", "[::1]", "127.0.0.1.", "127.1", "user@127.0.0.1")
APP_ADDRESSES = (
    "/",
    "/?token=x",
    "/health",
    "/runs",
    "/favicon.ico",
    "/api/v1/agents",
    "/v1/models",
    "/_nicegui_ws/socket.io/?EIO=4&transport=polling",
    "/../../journal",
    "//evil.example",
    "/%2e%2e/%2e%2e/journal",
    "http://evil.example/",
)
"""Where the app answers, or an attacker would look."""


class Origin:
    """One over a folder of its own, with a clock that a test may turn on."""

    def __init__(self, folder: Path) -> None:
        self.time = float(HOLDS)
        self.artifacts = Artifacts(folder)
        self.served = UntrustedOrigin(lambda: self.contents, home=HOME)
        self.contents = Contents(self.artifacts, self.served.open, SignedLinks(lambda: self.time))


@pytest.fixture
async def origin(tmp_path: Path) -> AsyncIterator[Origin]:
    origin = Origin(tmp_path)
    yield origin
    await origin.served.close()


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient() as client:
        yield client


async def raw(origin: Origin, *lines: str) -> str:
    """What is answered to a request written by hand, up to the end of the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", origin.served.port)
    writer.write("\r\n".join((*lines, "Connection: close", "", "")).encode())
    answer = await reader.read()
    writer.close()
    return answer.decode(errors="replace")


async def test_nobody_listens_before_a_page_links_something(origin: Origin, client: httpx.AsyncClient):
    with pytest.raises(httpx.ConnectError):
        await client.get(origin.served.address)
    heard = signal.getsignal(signal.SIGTERM)
    address = origin.contents.picture(await origin.artifacts.put(PNG))
    assert (await client.get(address)).content == PNG
    assert signal.getsignal(signal.SIGTERM) is heard
    assert origin.contents.picture("0" * 64).startswith(origin.served.address + "/")


async def test_its_port_belongs_to_nobody_else_and_is_let_go_of(tmp_path: Path):
    served = UntrustedOrigin(lambda: Contents(Artifacts(tmp_path)), home=HOME)
    with socket.socket() as other, pytest.raises(OSError):
        other.bind(("127.0.0.1", served.port))
    served.open()
    await served.close()
    with socket.socket() as other:
        other.bind(("127.0.0.1", served.port))


async def test_a_picture_is_shown_in_the_pages_of_the_app_alone(origin: Origin, client: httpx.AsyncClient):
    shown = await client.get(origin.contents.picture(await origin.artifacts.put(PNG)))
    assert (shown.status_code, shown.content, shown.headers["content-type"]) == (200, PNG, "image/png")
    assert "content-disposition" not in shown.headers
    assert shown.headers["cross-origin-resource-policy"] == "cross-origin"
    check_inert(shown)


async def test_anything_else_is_saved_whatever_it_is_linked_as(origin: Origin, client: httpx.AsyncClient):
    for content in (SVG, b"<script>alert(1)</script>", b"%PDF-1.7", b"GIF8", b""):
        digest = await origin.artifacts.put(content)
        for name, address in {
            digest: origin.contents.picture(digest),
            "a.html": origin.contents.download(digest, "a.html"),
        }.items():
            saved = await client.get(address)
            assert saved.content == content
            assert saved.headers["content-type"] == "application/octet-stream"
            assert saved.headers["content-disposition"] == f"attachment; filename*=UTF-8''{name}"
            assert saved.headers["cross-origin-resource-policy"] == "same-origin"
            check_inert(saved)


def check_inert(answer: httpx.Response) -> None:
    headers = answer.headers
    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'; sandbox"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "private, no-store"
    assert "set-cookie" not in headers and "access-control-allow-origin" not in headers


async def test_a_name_stays_in_its_header(origin: Origin, client: httpx.AsyncClient):
    digest = await origin.artifacts.put(PNG)
    saved = await client.get(origin.contents.download(digest, 'é"\r\nX: 1.svg'))
    assert saved.headers["content-disposition"] == "attachment; filename*=UTF-8''%C3%A9%22__X%3A%201.svg"


async def test_only_the_head_is_given_to_who_asks_for_it(origin: Origin, client: httpx.AsyncClient):
    address = origin.contents.download(await origin.artifacts.put(PNG), "a.png")
    head = await client.head(address)
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(PNG)))


async def test_nothing_can_be_changed_there(origin: Origin, client: httpx.AsyncClient):
    address = origin.contents.picture(await origin.artifacts.put(PNG))
    for method in ("OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"):
        refused = await client.request(method, address)
        assert refused.status_code == 405, method
        assert PNG not in refused.content


async def test_only_what_was_signed_is_there(origin: Origin):
    digest = await origin.artifacts.put(PNG)
    other = await origin.artifacts.put(b"other")
    origin.served.open()
    signed = origin.contents.links.address(digest)
    signature, until, _ = signed.strip("/").split("/")
    for target in (
        *APP_ADDRESSES,
        f"/artifacts/{digest}",
        f"/api/v1/artifacts/{digest}",
        f"/{digest}",
        f"/{signature}/{until}/{other}",
        f"/{signature}/{int(until) + 1}/{digest}",
        f"/{signature}/%{ord(until[0]):x}{until[1:]}/{digest}",
        f"/{signature}/x/../{until}/{digest}",
        f"/{signed}",
        f"{signed}/",
        f"{signed}?x",
        f"{signed}?%00",
        f"{signed}%0a",
    ):
        answer = await raw(origin, f"GET {target} HTTP/1.1", f"Host: 127.0.0.1:{origin.served.port}")
        assert answer.startswith("HTTP/1.1 404 "), target
        assert "PNG" not in answer and "other" not in answer


async def test_it_answers_to_one_name_only(origin: Origin):
    address = origin.contents.picture(await origin.artifacts.put(PNG)).removeprefix(origin.served.address)
    port = origin.served.port
    names = ("127.0.0.1", "127.0.0.1:8765", "evil.example", *(f"{name}:{port}" for name in OTHER_NAMES))
    for name in names:
        answer = await raw(origin, f"GET {address} HTTP/1.1", f"Host: {name}")
        assert answer.startswith("HTTP/1.1 421 "), name
        assert "PNG" not in answer


async def test_two_names_or_none_are_refused(origin: Origin):
    address = origin.contents.picture(await origin.artifacts.put(PNG)).removeprefix(origin.served.address)
    here = f"Host: 127.0.0.1:{origin.served.port}"
    for names in ((here, "Host: evil.example"), (here, here), ()):
        answer = await raw(origin, f"GET {address} HTTP/1.{'1' if names else '0'}", *names)
        assert answer.startswith("HTTP/1.1 4")
        assert "PNG" not in answer


async def test_another_site_gets_nothing_and_no_socket_opens(origin: Origin, client: httpx.AsyncClient):
    address = origin.contents.picture(await origin.artifacts.put(PNG))
    assert (await client.get(address, headers={"Sec-Fetch-Site": "cross-site"})).status_code == 403
    assert (await client.get(address, headers={"Sec-Fetch-Site": "same-site"})).status_code == 200
    key = ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
    here = f"Host: 127.0.0.1:{origin.served.port}"
    answer = await raw(origin, "GET / HTTP/1.1", here, "Upgrade: websocket", "Connection: Upgrade", *key)
    assert " 404 " in answer.splitlines()[0]


async def test_a_link_that_has_expired_says_so_and_leads_back(origin: Origin, client: httpx.AsyncClient):
    address = origin.contents.download(await origin.artifacts.put(PNG), "a.png")
    origin.time += 2 * HOLDS
    answer = await client.get(address)
    assert answer.status_code == 410
    assert "This link has expired" in answer.text and "Load the page that showed it again" in answer.text
    assert f'<a href="{HOME}">Back to Agent Playground</a>' in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


async def test_a_damaged_or_lost_file_is_not_given(origin: Origin, client: httpx.AsyncClient):
    digest = await origin.artifacts.put(PNG)
    address = origin.contents.picture(digest)
    origin.artifacts.path(digest).write_bytes(b"something else")
    damaged = await client.get(address)
    assert damaged.status_code == 500 and "damaged" in damaged.text
    origin.artifacts.path(digest).unlink()
    assert (await client.get(address)).status_code == 404


async def test_a_large_file_is_given_in_pieces(origin: Origin, client: httpx.AsyncClient):
    content = bytes(range(256)) * 20_000
    address = origin.contents.download(await origin.artifacts.put(content), "large.bin")
    async with client.stream("GET", address) as answer:
        pieces = [piece async for piece in answer.aiter_raw()]
    assert b"".join(pieces) == content
    assert max(map(len, pieces)) <= 256 * 1024


async def test_a_view_gets_a_page_of_its_own_policy_and_nothing_else_stands_there(
    origin: Origin, client: httpx.AsyncClient
):
    sandboxes = origin.contents.sandboxes
    address = sandboxes.address(Domains(connect=("https://a.example",)), page=HOME.rstrip("/"))
    page = await client.get(address)
    assert page.status_code == 200 and page.headers["content-type"].startswith("text/html")
    assert page.headers["content-security-policy"] == sandboxes.get(address.removeprefix(origin.served.address)).policy
    assert "x-frame-options" not in page.headers and "set-cookie" not in page.headers
    assert 'setAttribute("sandbox", "allow-scripts allow-forms")' in page.text
    assert (await client.post(address)).status_code == 405
    for path in ("/app/", "/app/x", "/app/../", f"{address}/", f"{address}?x", "/app/x/reported"):
        answer = await client.get(path if path.startswith("http") else origin.served.address + path)
        assert answer.status_code == 404, path
    refused = await raw(origin, f"GET {address.removeprefix(origin.served.address)} HTTP/1.1", "Host: evil.example")
    assert " 421 " in refused.splitlines()[0]


async def test_what_a_policy_kept_a_view_from_is_heard(origin: Origin, client: httpx.AsyncClient):
    address = origin.contents.sandboxes.address(Domains(), page=HOME)
    report = {"csp-report": {"blocked-uri": "https://cdn.example", "effective-directive": "script-src-elem"}}
    assert (await client.post(f"{address}/reported", json=report)).status_code == 204
    for other in (b"[]", b"{", b"{" * 10_000, b"x" * 20_000, b'{"csp-report": 7}'):
        assert (await client.post(f"{address}/reported", content=other)).status_code == 204
    assert origin.contents.sandboxes.reports(address) == ("https://cdn.example (script-src-elem)",)
    assert (await client.post(f"{origin.served.address}/app/unknown/reported", json=report)).status_code == 404
