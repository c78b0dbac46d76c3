"""Where browsers come back to with what an authorization server says, each to the sign-in that sent it there."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

CALLBACK = "/oauth/callback"
LONGEST_WORDS = 300
"""Characters of what an authorization server says."""


@dataclass(frozen=True)
class CameBack:
    """What the browser brought back from there."""

    state: str
    code: str = ""
    iss: str | None = None
    error: str = ""
    """What the authorization server says went wrong; empty where nothing did."""


class Desk:
    """What it knows a browser by is `state`: 256 random bits that are good once."""

    def __init__(self, origin: Callable[[], str], seconds: float) -> None:
        """`origin` is that of the app's pages, empty where it serves none; a link is good for that many seconds."""
        self._origin = origin
        self._seconds = seconds
        self._waiting: dict[str, tuple[str, asyncio.Future[CameBack]]] = {}

    @property
    def address(self) -> str:
        """Where browsers are to come back to; empty where nobody could."""
        origin = self._origin()
        return f"{origin}{CALLBACK}" if origin else ""

    async def wait(self, server: str, state: str) -> CameBack:
        """What the browser brought back that was sent away for that server. Raises `TimeoutError`."""
        came: asyncio.Future[CameBack] = asyncio.get_running_loop().create_future()
        self._waiting[state] = (server, came)
        try:
            async with asyncio.timeout(self._seconds):
                return await came
        finally:
            self._waiting.pop(state, None)

    def take(self, came: CameBack) -> str:
        """The server whose sign-in waited for that `state`, which it does no more; empty where none did."""
        server, waiting = self._waiting.pop(came.state, ("", None))
        if waiting is None or waiting.done():
            return ""
        waiting.set_result(came)
        return server


def words(text: str) -> str:
    """What somebody else says, on one line and not too long."""
    plain = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return plain if len(plain) <= LONGEST_WORDS else plain[: LONGEST_WORDS - 1] + "…"
