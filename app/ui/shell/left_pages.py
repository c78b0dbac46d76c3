"""Pages whose browser went to another one, or closed their tab: nobody comes back, so what they hold is dropped soon.

A browser that leaves a page says so at the end of its socket; one that only lost its connection says nothing, and its
page waits to be reconnected.
"""

from urllib.parse import parse_qs

from nicegui import Client
from starlette.types import ASGIApp, Message, Receive, Scope, Send

GOING_AWAY = 1001
"""What a browser says that has navigated away. See RFC 6455, section 7.4.1."""
MOMENT = 3.0
"""Seconds in which what was asked for last, as the page was left, may still be done in it."""


class LeftPages:
    """An ASGI app before `app` that hears how its sockets end."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return

        async def hearing() -> Message:
            message = await receive()
            if message["type"] in ("websocket.connect", "websocket.disconnect"):
                left = message.get("code") == GOING_AWAY
                _wait_for_reconnection(scope, MOMENT if left else None)
            return message

        await self._app(scope, hearing, send)


def _wait_for_reconnection(scope: Scope, seconds: float | None) -> None:
    """Have the socket's page wait so long for its browser; `None`: as long as every page."""
    [client_id] = parse_qs(scope["query_string"].decode("latin-1")).get("client_id", [""])[:1]
    if client := Client.instances.get(client_id):
        client.page.reconnect_timeout = seconds  # each client has a page of its own
