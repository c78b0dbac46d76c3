"""One HTTP request to where a guard lets it go, with limits of time, size and redirects.

A name is looked up once for each hop, and the connection goes to the very address that was checked, so that a name
that changes its address meanwhile leads nowhere else. Nothing of the environment (proxies, `.netrc`) is used but
`SSL_CERT_FILE` and `SSL_CERT_DIR`. `web` loads this module when it is first needed.
"""

import asyncio
import ssl
import zlib
from collections.abc import AsyncIterable
from contextlib import suppress
from dataclasses import replace

import httpx

from app.domain.errors import ToolError
from app.tools.http.message import Received, Sent
from app.tools.http.net_guard import Guard, plain_host
from app.tools.http.trust import usual_trust

MOST_BYTES = 2 * 1024 * 1024
MOST_REDIRECTS = 5
CONNECT_SECONDS = 5
"""For each address of a host; `fetch` times the whole."""
REDIRECTS = (301, 302, 303, 307, 308)
USER_AGENT = "agent-playground"

ACCEPTED = "gzip, deflate"
"""For the header `Accept-Encoding`."""
PLAIN = ("", "identity")


class Unpacker:
    """Undoes gzip and deflate, and gives no more than `room` bytes in all, however small a bomb is packed."""

    def __init__(self, encoding: str, room: int) -> None:
        """Raises `ToolError` for an encoding that nobody asked for."""
        self._room = room
        self._packed = encoding not in PLAIN
        self._unpacking = _decompressor(encoding) if self._packed else None
        self._deflate = encoding == "deflate"
        self.cut = False
        """True when there was more."""

    def take(self, piece: bytes) -> bytes:
        """The next bytes. Raises `ToolError` for what is damaged."""
        plain = piece if self._unpacking is None else self._unpacked(piece)
        given, self.cut = plain[: self._room], self.cut or len(plain) > self._room
        self._room -= len(given)
        return given

    def _unpacked(self, piece: bytes) -> bytes:
        if self._unpacking is None:
            return b""
        try:
            return self._unpacking.decompress(piece, self._room + 1)
        except zlib.error as error:
            if self._deflate:
                return self._raw_deflate(piece)
            raise ToolError(f"The answer is damaged: {error}.") from error

    def _raw_deflate(self, piece: bytes) -> bytes:
        """Some servers leave out the two bytes at the head that the standard wants."""
        self._deflate = False
        self._unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
        return self._unpacked(piece)


async def fetch(
    sent: Sent, guard: Guard, *, seconds: float = 30, most: int = MOST_BYTES, trust: ssl.SSLContext | None = None
) -> Received:
    """What the address answers, whatever its status, after at most five redirects.

    `most` is in bytes, `trust` the certificates to believe in place of the usual ones. Raises `ToolError` for an
    address that may not be asked, and for what goes wrong on the way.
    """
    timer = asyncio.timeout(seconds)
    try:
        async with timer:
            believed = await asyncio.to_thread(usual_trust) if trust is None else trust
            return await _followed(sent, guard, most, believed)
    except TimeoutError as error:
        if not timer.expired():
            raise
        raise ToolError(f"{_host(sent.url)} did not answer in full within {seconds:g} seconds.") from error


async def _followed(sent: Sent, guard: Guard, most: int, trust: ssl.SSLContext) -> Received:
    asked = sent
    for _ in range(MOST_REDIRECTS + 1):
        received = await _hop(asked, guard, most, trust)
        target = received.headers.get("location") if received.status in REDIRECTS else None
        if target is None:
            return received
        asked = _redirected(asked, received.status, target)
    raise ToolError(f"{_host(sent.url)} redirects more than {MOST_REDIRECTS} times. Ask another address.")


async def _hop(sent: Sent, guard: Guard, most: int, trust: ssl.SSLContext) -> Received:
    """One request to the first address of the host that takes the connection."""
    url = checked_url(sent.url)
    host = plain_host(url.raw_host.decode("ascii"))
    guard.check_host(host)
    addresses = await guard.addresses(host, url.port or (443 if url.scheme == "https" else 80))
    try:
        for address in addresses[:-1]:
            with suppress(httpx.ConnectError, httpx.ConnectTimeout):
                return await _exchange(sent, url, address, most, trust)
        return await _exchange(sent, url, addresses[-1], most, trust)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ToolError(_failure(host, error)) from error


async def _exchange(sent: Sent, url: httpx.URL, address: str, most: int, trust: ssl.SSLContext) -> Received:
    host = url.raw_host.decode("ascii")
    headers = {"user-agent": USER_AGENT, "accept": "*/*", **{name.lower(): text for name, text in sent.headers.items()}}
    headers |= {"accept-encoding": ACCEPTED, "host": url.netloc.decode("ascii"), "connection": "close"}
    patience = httpx.Timeout(None, connect=CONNECT_SECONDS)
    transport = httpx.AsyncHTTPTransport(verify=trust, trust_env=False)
    async with httpx.AsyncClient(transport=transport, trust_env=False, timeout=patience) as client:
        request = client.build_request(
            sent.method,
            url.copy_with(host=address),
            headers=headers,
            content=sent.content or None,
            extensions={"sni_hostname": host},
        )
        response = await client.send(request, stream=True, follow_redirects=False)
        encoding = response.headers.get("content-encoding", "")
        content, cut = await read_body(response.aiter_raw(), encoding, most)
        return Received(str(url), response.status_code, response.reason_phrase, dict(response.headers), content, cut)


def checked_url(text: str) -> httpx.URL:
    """The address as parts. Raises `ToolError` for one that cannot be asked."""
    try:
        url = httpx.URL(text)
        host = url.host  # which is decoded now, and may be nothing that can be
    except (httpx.InvalidURL, ValueError) as error:
        raise ToolError(f"{text!r} is no address: {error}.") from error
    if url.scheme not in ("http", "https") or not host or not 0 < (url.port or 80) < 65536:
        raise ToolError(f"{text!r} is no address to ask. Write one like 'https://example.org/page'.")
    if url.userinfo:
        raise ToolError(f"The address on {host} holds a user name or password. Leave it out.")
    return url.copy_with(fragment=None)


def _redirected(sent: Sent, status: int, target: str) -> Sent:
    """The next request: without a body where HTTP says so, without headers and body on another origin."""
    before = checked_url(sent.url)
    try:
        after = checked_url(str(before.join(target)))
    except httpx.InvalidURL as error:
        raise ToolError(f"{before.host} redirects to {target!r}, which is no address: {error}.") from error
    keeps_method = status in (307, 308) or sent.method in ("GET", "HEAD")
    following = (
        replace(sent, url=str(after)) if keeps_method else replace(sent, url=str(after), method="GET", content=b"")
    )
    if _origin(before) == _origin(after):
        return following
    if following.content or following.method not in ("GET", "HEAD"):
        raise ToolError(f"{before.host} redirects the {sent.method} to {after.host}. Ask that address instead.")
    return replace(following, headers={})


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return (url.scheme, url.host, url.port)


def _failure(host: str, error: Exception) -> str:
    said = str(error) or type(error).__name__
    match error:
        case httpx.ConnectError() if "CERTIFICATE_VERIFY_FAILED" in said:
            return f"The certificate of {host} is not to be trusted: {said}"
        case httpx.ConnectError():
            return f"{host} takes no connection: {said}. Check the address, and whether it is up."
        case httpx.InvalidURL() | httpx.LocalProtocolError() | httpx.UnsupportedProtocol():
            return f"The request to {host} cannot be sent: {said}"
        case _:
            return f"{host} broke off the answer: {said}. Try again later."


def _host(url: str) -> str:
    return checked_url(url).host


async def read_body(pieces: AsyncIterable[bytes], encoding: str, most: int) -> tuple[bytes, bool]:
    """At most `most` bytes of the unpacked body, and whether there was more."""
    unpacker = Unpacker(encoding.strip().lower(), most)
    taken = bytearray()
    packed = 0
    async for piece in pieces:
        packed += len(piece)
        taken += unpacker.take(piece)
        if unpacker.cut or packed > most:
            return bytes(taken), True
    return bytes(taken), False


def _decompressor(encoding: str) -> "zlib._Decompress":
    if encoding in ("gzip", "x-gzip"):
        return zlib.decompressobj(zlib.MAX_WBITS | 16)
    if encoding == "deflate":
        return zlib.decompressobj()
    raise ToolError(f"The answer is packed as {encoding!r}, which was not asked for and cannot be read.")
