"""A fake provider: an aiohttp server on a free port, in this process or in one of its own."""

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

Json = dict[str, Any]


@dataclass
class Seen:
    """What a fake has seen so far."""

    hits: Counter[str] = field(default_factory=Counter)
    """Requests by model."""
    disconnects: int = 0
    """Answers that the other side did not want to the end."""
    streaming: int = 0
    """Answers that are being sent now."""
    bodies: list[Json] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)

    @property
    def last(self) -> Json:
        return self.bodies[-1]


class FakeServer:
    """`async with FakeOpenAI() as fake:` serves at `fake.url`."""

    def __init__(self) -> None:
        self.seen = Seen()
        self.url = ""
        self.key = ""
        """The one that is accepted, where a fake looks; empty for any. Another is quoted back, as some providers do."""
        self.changed = asyncio.Condition()
        self._runner: web.AppRunner | None = None

    def routes(self) -> list[web.RouteDef]:
        raise NotImplementedError

    async def start(self, port: int = 0) -> str:
        application = web.Application(client_max_size=64 * 1024 * 1024)
        application.add_routes([*self.routes(), web.get("/state", self._state)])
        self._runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        host, bound_port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{bound_port}"
        return self.url

    async def stop(self) -> None:
        if self._runner:
            await self._runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def wait(self, condition: Callable[[Seen], bool], seconds: float = 30) -> None:
        """Return when the condition holds; raises `TimeoutError` when it does not in time."""
        async with asyncio.timeout(seconds), self.changed:
            await self.changed.wait_for(lambda: condition(self.seen))

    async def note(self, request: web.Request, model: str, body: Json) -> None:
        async with self.changed:
            self.seen.hits[model] += 1
            self.seen.bodies.append(body)
            self.seen.headers.append(dict(request.headers))
            self.changed.notify_all()

    async def stream(
        self,
        request: web.Request,
        write: Callable[[web.StreamResponse], Awaitable[None]],
        content_type: str = "text/event-stream",
    ) -> web.StreamResponse:
        """Send what `write` writes, and note it when the other side hangs up."""
        response = web.StreamResponse(headers={"content-type": content_type})
        await response.prepare(request)
        self.seen.streaming += 1
        try:
            await write(response)
        except (ConnectionResetError, asyncio.CancelledError):
            self.seen.disconnects += 1
            raise
        finally:
            self.seen.streaming -= 1
            async with self.changed:
                self.changed.notify_all()
        return response

    async def _state(self, _: web.Request) -> web.Response:
        seen = self.seen
        return web.json_response(
            {
                "hits": dict(seen.hits),
                "disconnects": seen.disconnects,
                "streaming": seen.streaming,
                "bodies": seen.bodies[-20:],
            }
        )


def event(body: Json | str) -> bytes:
    """A server-sent event."""
    return f"data: {body if isinstance(body, str) else json.dumps(body)}\n\n".encode()


def serve(server: FakeServer) -> None:
    """Serve until killed, on `--port` or a free one, to whoever has `--key`; the first line printed is the address."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key", default="")
    arguments = parser.parse_args()
    server.key = arguments.key

    async def run() -> None:
        print(await server.start(arguments.port), flush=True)
        await asyncio.Event().wait()

    asyncio.run(run())
