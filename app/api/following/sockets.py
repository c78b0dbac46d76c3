"""Sockets of the API: what goes out waits for its reader, and a reader that never reads is sent away in words."""

import asyncio
import contextlib
import json
from collections.abc import Mapping

from fastapi import WebSocket, WebSocketDisconnect
from pydantic import JsonValue
from starlette.websockets import WebSocketState

PATIENCE = 15.0
"""Seconds that one message may take to leave. Then nothing is kept for its reader but the words of the close, which
wait for room; who makes none until the server's ping finds nobody, 40 seconds on, is closed with the words of that."""
TOO_SLOW = 1013
"""Try again later: https://www.iana.org/assignments/websocket/websocket.xhtml"""


class Gone(Exception):
    """Nobody listens at the other end any more."""


class SocketWriter:
    """The outgoing half of an accepted socket. The server buffers a little of it, and then makes us wait."""

    def __init__(self, socket: WebSocket, *, patience: float = PATIENCE) -> None:
        self._socket = socket
        self._patience = patience
        self._stalled = False

    async def send(self, message: Mapping[str, JsonValue]) -> None:
        """Send it as JSON. Raises `Gone`."""
        await self.send_text(json.dumps(message))

    async def send_text(self, text: str) -> None:
        try:
            async with asyncio.timeout(self._patience):
                await self._socket.send_text(text)
        except TimeoutError:
            self._stalled = True
            raise Gone from None
        except (WebSocketDisconnect, RuntimeError):
            # Starlette says RuntimeError of a socket that was closed meanwhile.
            raise Gone from None

    async def close(self, code: int = 1000, words: str = "") -> None:
        """End it in words of 120 bytes at most, once they can leave; until then nothing else is kept for it."""
        if self._socket.application_state is not WebSocketState.DISCONNECTED:
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):
                await self._socket.close(code, words)

    async def send_away(self) -> None:
        """Close it in words where it was too slow; where it is gone there is nothing to do."""
        if self._stalled:
            await self.close(TOO_SLOW, "You read too slowly. Connect again with since=, and read on from there.")


async def hung_up(socket: WebSocket) -> None:
    """Return when the other end hangs up; what it says until then is not meant for anybody."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while (await socket.receive())["type"] != "websocket.disconnect":
            pass
