"""The connections of a server, so that nobody keeps its owner out by opening many.

All come from this computer, so nothing tells whose one is until it shows a credential. Of those that have not, only so
many are held: the oldest makes room for the next. Who shows a credential does so with the first request.
"""

import asyncio
import contextlib
import sys

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

STRANGERS = 1000
"""Connections that have shown no credential yet, or need none."""
WANTED = 8192
"""Files and connections that a process may have open: enough for all that are let in, and for the runs that go on."""

Peer = tuple[str, int]
"""The other end's address and port."""


class Connections:
    def __init__(self, strangers: int = STRANGERS) -> None:
        """`strangers` is how many there may be."""
        self._most = strangers
        self._strangers: dict[Peer | None, asyncio.Transport] = {}
        self._browsers: dict[Peer | None, asyncio.Transport] = {}
        """Those that have shown a cookie."""

    def protocol(self) -> type[asyncio.Protocol]:
        """What a server that these connections are of speaks."""
        connections = self

        class Counted(HttpToolsProtocol):
            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
                super().connection_made(transport)
                if self.client is not None:
                    connections.came(self.client, transport)

            def connection_lost(self, exc: Exception | None) -> None:
                connections.left(self.client)
                super().connection_lost(exc)

        return Counted

    def came(self, peer: Peer, transport: asyncio.Transport) -> None:
        self._strangers[peer] = transport
        if len(self._strangers) > self._most:
            self._strangers.pop(next(iter(self._strangers))).abort()

    def let_in(self, peer: Peer | None, *, browser: bool = False) -> None:
        """It has shown a credential, a browser its cookie."""
        transport = self._strangers.pop(peer, None)
        if browser and transport is not None:
            self._browsers[peer] = transport

    def left(self, peer: Peer | None) -> None:
        """It is over; to be told of a socket, which no longer speaks the protocol that it began with."""
        self._strangers.pop(peer, None)
        self._browsers.pop(peer, None)

    def hang_up_browsers(self, but: Peer | None) -> None:
        """End all that browsers have opened, but that one."""
        for peer in self._browsers.keys() - {but}:
            self._browsers.pop(peer).abort()


def room() -> int:
    """How many files and connections this process may have open, after asking for what is wanted.

    Systems begin with 256 or 1024; Windows counts none.
    """
    if sys.platform == "win32":
        return WANTED
    import resource  # noqa: PLC0415  not on Windows

    soft, hard = (WANTED if limit < 0 else min(limit, WANTED) for limit in resource.getrlimit(resource.RLIMIT_NOFILE))
    with contextlib.suppress(ValueError, OSError):  # macOS may allow less than it tells
        if soft < hard:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
            return hard
    return soft
