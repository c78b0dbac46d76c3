"""A real HTTP server on this computer that answers as a test wants."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from app.tools.http.net_guard import Guard

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
WAY_OUT = "Add it under Tools."


@dataclass
class Answering:
    """The server, and what it was asked."""

    port: int = 0
    scheme: str = "http"
    requests: list[str] = field(default_factory=list)
    """Method and path with query of each."""
    headers: list[Mapping[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"


@asynccontextmanager
async def answering(routes: Mapping[str, Handler], *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Answering]:
    """Serves each path; another one is 404."""
    server = Answering(scheme="https" if tls else "http")

    async def answer(request: web.Request) -> web.StreamResponse:
        server.requests.append(f"{request.method} {request.raw_path}")
        server.headers.append(request.headers)
        server.bodies.append(await request.read())
        handler = routes.get(request.path)
        return web.Response(status=404, text="nothing here") if handler is None else await handler(request)

    application = web.Application(client_max_size=8 * 1024 * 1024)
    application.router.add_route("*", "/{rest:.*}", answer)
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.2)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
        await site.start()
        server.port = runner.addresses[0][1]
        yield server
    finally:
        await runner.cleanup()


def saying(text: str | bytes, media_type: str = "text/plain", status: int = 200, **headers: str) -> Handler:
    async def say(_request: web.Request) -> web.StreamResponse:
        body = text if isinstance(text, bytes) else text.encode()
        return web.Response(status=status, body=body, headers={"Content-Type": media_type, **headers})

    return say


def redirecting(target: str, status: int = 302) -> Handler:
    async def redirect(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, headers={"Location": target})

    return redirect


async def never(_request: web.Request) -> web.StreamResponse:
    """Sends a byte of its answer and then nothing."""
    response = web.StreamResponse(headers={"Content-Type": "text/plain"})
    await response.prepare(_request)
    await response.write(b".")
    await asyncio.Event().wait()
    return response


@dataclass
class Names:
    """A resolver that knows some names only; the last answer for a name is given again and again."""

    known: Mapping[str, Sequence[str]]
    asked: list[str] = field(default_factory=list)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        if host not in self.known:
            raise socket.gaierror(-2, "Name or service not known")
        answers = self.known[host]
        return [answers[min(self.asked.count(host), len(answers)) - 1]]


def here(*hosts: str, names: Mapping[str, Sequence[str]] | None = None) -> Guard:
    """A guard that lets the hosts be this computer."""
    private = frozenset(hosts or ("127.0.0.1",))
    known = {"127.0.0.1": ["127.0.0.1"], **(names or {})}
    return Guard(hosts=("*",), way_out=WAY_OUT, private_hosts=private, resolve=Names(known))
