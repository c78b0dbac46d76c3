"""Tells of requests for pages and figures whose answer was long in beginning. Runs take the time they take."""

import time
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

SLOW_MS = 1000.0
WAITING = "/_nicegui"
"""Below it requests wait for news, or bring files that never change."""


class SlowRequests:
    """An ASGI app before `app`; `tell` gets the path, without what is asked of it, and milliseconds."""

    def __init__(self, app: ASGIApp, tell: Callable[[str, float], None]) -> None:
        self._app = app
        self._tell = tell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"].startswith(WAITING):
            await self._app(scope, receive, send)
            return
        began = time.monotonic()

        async def sending(message: Message) -> None:
            took = (time.monotonic() - began) * 1000
            if message["type"] == "http.response.start" and took > SLOW_MS:
                self._tell(str(scope["path"]), took)
            await send(message)

        await self._app(scope, receive, sending)
