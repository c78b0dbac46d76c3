"""Requests to providers, over connections that are kept for the next one, and the lines of their answers."""

import asyncio
import codecs
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

from app.domain.errors import ModelFailure

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

KEPT = 4.0
"""Seconds for which an idle connection is kept: many servers close theirs after five, maybe just as we send."""
_PARTING = 0.05
"""Seconds that the end of an answer may take behind its last line; it has to be read for the connection to be kept."""
_LONGEST_REFUSAL = 100_000
_LONGEST_LINE = 100_000_000
"""Bytes."""


@asynccontextmanager
async def posted(
    url: str, headers: Mapping[str, str], body: bytes, *, trust: ssl.SSLContext | bool, idle_timeout: float
) -> "AsyncIterator[ClientResponse]":
    """The answer to that, from its head on; what is left of it when it is left by an error is not waited for.

    Redirects are not followed, since keys would go along. Raises `TimeoutError` and aiohttp's errors.
    """
    session = await _session()
    async with asyncio.timeout(idle_timeout):
        response = await session.open(url, headers, body, trust)
    try:
        yield response
        await _read_out(response)
    finally:
        response.close()  # nothing, where it was read to its end


async def refusal(response: "ClientResponse", idle_timeout: float) -> str:
    """What it says, of which too much is not read."""
    said = bytearray()
    async with asyncio.timeout(idle_timeout):
        while len(said) < _LONGEST_REFUSAL and (more := await response.content.readany()):
            said += more
    return said.decode(errors="replace")


async def lines_of(response: "ClientResponse") -> AsyncGenerator[str, None]:
    """What the answer's lines say: the data of server-sent events, or JSON as it is; an empty one ends an event.

    Raises `UnicodeDecodeError`, and `ModelFailure` for a line without an end.
    """
    held: list[bytes] = []
    size = 0
    async for piece in response.content.iter_any():
        *ended, rest = piece.split(b"\n")
        for end in ended:
            if (said := _said(b"".join((*held, end)) if held else end)) is not None:
                yield said
            held, size = [], 0
        if rest:
            held.append(rest)
            size += len(rest)
        if size > _LONGEST_LINE:
            raise ModelFailure("bad_response", "The provider sent a line without an end.")
    if held and (said := _said(b"".join(held))):
        yield said


def _said(line: bytes) -> str | None:
    """`None` for comments, and the names of events."""
    line = line.strip().removeprefix(codecs.BOM_UTF8)
    if line.startswith(b"data:"):
        return line[5:].decode().strip()
    return line.decode() if not line or line.startswith(b"{") else None


async def _read_out(response: "ClientResponse") -> None:
    """A server that hangs up here has said all that it had to say."""
    import aiohttp  # noqa: PLC0415  it takes a tenth of a second, and is there by now

    with suppress(TimeoutError, OSError, aiohttp.ClientError):
        async with asyncio.timeout(_PARTING):
            while not response.content.at_eof():
                await response.content.readany()


@dataclass
class _Session:
    """The connections of one loop."""

    http: "ClientSession"
    proxies: dict[str, str | None] = field(default_factory=dict)

    async def open(
        self, url: str, headers: Mapping[str, str], body: bytes, trust: ssl.SSLContext | bool
    ) -> "ClientResponse":
        for _ in range(2):  # the loop's turns to learn which connections were closed meanwhile
            await asyncio.sleep(0)
        return await self.http.post(
            url, data=body, headers=headers, allow_redirects=False, proxy=self._proxy(url), ssl=trust
        )

    def _proxy(self, url: str) -> str | None:
        """That of the environment or of the system, which are asked once for each host."""
        scheme, place = urlsplit(url)[:2]
        if place not in self.proxies:
            host = urlsplit(url).hostname or ""
            named = getproxies()
            proxy = None if proxy_bypass(host) else named.get(scheme) or named.get("all")
            self.proxies[place] = f"http://{proxy}" if proxy and "://" not in proxy else proxy
        return self.proxies[place]


_open: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[_Session, AsyncGenerator[_Session, None]]] = (
    WeakKeyDictionary()
)


async def _session() -> _Session:
    """The one of this loop, which is closed when the loop comes to its end, as all its generators are."""
    loop = asyncio.get_running_loop()
    if loop not in _open:
        lasting = _lasting(loop)
        _open[loop] = await anext(lasting), lasting
    return _open[loop][0]


async def _lasting(loop: asyncio.AbstractEventLoop) -> AsyncGenerator[_Session, None]:
    import aiohttp  # noqa: PLC0415  it takes a tenth of a second, and comes with LiteLLM

    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT, ttl_dns_cache=300)
    patience = aiohttp.ClientTimeout(total=None)
    try:
        async with aiohttp.ClientSession(
            connector=connector, timeout=patience, cookie_jar=aiohttp.DummyCookieJar()
        ) as session:
            yield _Session(session)
    finally:
        _open.pop(loop, None)
