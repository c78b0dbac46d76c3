"""The HTTP of signing in: a server names the addresses, so each of them is checked. Heavy: import it late.

A server of the internet may name addresses of the internet by https only. One in a private network may name such ones
too, and one on this computer also others on it, by plain http. The connection goes to the very address that was
checked, as in `tools.http.net`, and the app itself is never asked.
"""

import asyncio
from collections.abc import AsyncIterator

import httpx2

from app.domain.errors import ToolError
from app.tools.http.net_guard import Guard, Resolver, leads_here, reach, system_resolver
from app.tools.http.trust import usual_trust

MOST_BYTES = 1024 * 1024
"""Of one answer: documents of a few kilobytes are expected."""
SECONDS = 20
CONNECT_SECONDS = 5


class Reachable:
    """What the server at `url` may name."""

    def __init__(self, url: str, resolve: Resolver = system_resolver) -> None:
        self._server = httpx2.URL(url)
        self._resolve = resolve

    async def addresses(self, text: str) -> tuple[str, ...]:
        """The IP addresses to connect to. Raises `ToolError` in words for an address that may not be asked."""
        try:
            url = httpx2.URL(text)
        except (httpx2.InvalidURL, ValueError) as error:
            raise ToolError(f"{text[:200]!r} is no address: {error}.") from None
        if url.scheme not in ("http", "https") or not url.host or url.userinfo:
            raise ToolError(f"{text[:200]!r} is no address that one may sign in at.")
        local, private = await self._nearness()
        named = frozenset({url.host.lower().rstrip(".")}) if private else frozenset[str]()
        guard = Guard(("*",), "", private_hosts=named, resolve=self._resolve)
        found = await guard.addresses(url.host, url.port or (443 if url.scheme == "https" else 80))
        here = any(map(leads_here, found))
        if here and not local:
            raise ToolError(f"{url.host} is this computer, where a server elsewhere has nothing to name.")
        if url.scheme == "http" and not (here and local):
            raise ToolError(f"{url.host} is named without https, so what is sent there could be read on the way.")
        return found

    async def _nearness(self) -> tuple[bool, bool]:
        """Whether the server is on this computer; whether it is that, or in a private network."""
        port = self._server.port or (443 if self._server.scheme == "https" else 80)
        try:
            found = await self._resolve(self._server.host, port)
        except (OSError, UnicodeError) as error:
            raise ToolError(f"The name {self._server.host} is not known: {error}.") from error
        local = bool(found) and all(map(leads_here, found))
        return local, bool(found) and all(reach(one) == "private" for one in found)


class _Checked(httpx2.AsyncBaseTransport):
    def __init__(self, reachable: Reachable, inner: httpx2.AsyncBaseTransport) -> None:
        self._reachable = reachable
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        addresses = await self._reachable.addresses(str(request.url))
        asked, host = request.url, request.url.raw_host.decode("ascii")
        request.extensions = {**request.extensions, "sni_hostname": host}
        try:
            for address in addresses[:-1]:
                request.url = asked.copy_with(host=address)
                try:
                    return _bounded(await self._inner.handle_async_request(request))
                except (httpx2.ConnectError, httpx2.ConnectTimeout):
                    continue
            request.url = asked.copy_with(host=addresses[-1])
            return _bounded(await self._inner.handle_async_request(request))
        finally:
            request.url = asked

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        taken = 0
        async for piece in self._stream:
            taken += len(piece)
            if taken > MOST_BYTES:
                raise ToolError(f"The answer has more than {MOST_BYTES // 1024:,} KiB.")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def _bounded(response: httpx2.Response) -> httpx2.Response:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise ToolError("The answer is packed, which was not asked for.")
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)
    return response


async def web_client(reachable: Reachable) -> httpx2.AsyncClient:
    """A client that asks nothing but what is reachable; nothing of the environment is used."""
    trust = await asyncio.to_thread(usual_trust)
    # No connection is used twice: it belongs to an address, and the certificate that was checked to one of its names.
    once = httpx2.Limits(max_keepalive_connections=0)
    transport = _Checked(reachable, httpx2.AsyncHTTPTransport(verify=trust, trust_env=False, limits=once))
    patience = httpx2.Timeout(SECONDS, connect=CONNECT_SECONDS)
    return httpx2.AsyncClient(transport=transport, trust_env=False, timeout=patience)


async def send(http: httpx2.AsyncClient, request: httpx2.Request) -> httpx2.Response:
    """The whole answer, no redirect followed. Raises `ToolError` in words."""
    host = request.url.netloc.decode("ascii", "replace")
    try:
        async with asyncio.timeout(SECONDS):
            return await http.send(request, follow_redirects=False)
    except TimeoutError:
        raise ToolError(f"{host} did not answer in full within {SECONDS} seconds.") from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ToolError(f"{host} cannot be asked: {error or type(error).__name__}.") from error
