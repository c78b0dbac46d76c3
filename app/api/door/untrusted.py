"""The second origin: what models, tools and people made, served where it can neither act nor ask the app anything.

It has a port of its own, on which nobody listens until a page first links something there. It knows no cookie and no
API, only addresses that `SignedLinks` signed. What it gives is saved by the browser, but for pictures without scripts
and the pages in which views of MCP Apps are shut away, each under its own policy.
"""

import asyncio
import socket
import sys
from collections.abc import Callable

from app.late import late

with late():
    from app.api.door import content_app
    from app.store.contents import contents

HOST = "127.0.0.1"


class UntrustedOrigin:
    """Opened by the first call of `open`; `home` is where its words lead back to."""

    def __init__(self, shown: "Callable[[], contents.Contents]", *, home: str) -> None:
        self._socket = _bound()
        self.port: int = self._socket.getsockname()[1]
        self.address = f"http://{HOST}:{self.port}"
        self._shown = shown
        self._home = home
        self._server: content_app.ContentServer | None = None
        self._serving: asyncio.Task[None] | None = None

    def open(self) -> str:
        """Listen, if nobody does yet; gives the origin, without a slash at its end."""
        if self._serving is None:
            self._socket.listen()  # a browser that is faster than the server waits here for it
            authority = self.address.removeprefix("http://")
            app = content_app.ContentApp(self._shown(), authority=authority, home=self._home)
            self._server = content_app.ContentServer(app)
            self._serving = asyncio.create_task(self._server.serve([self._socket]), name="second origin")
        return self.address

    async def close(self) -> None:
        """Let go of the port; what is on its way has a second to arrive."""
        if self._server is not None and self._serving is not None:
            self._server.should_exit = True
            await self._serving
        self._socket.close()


def _bound() -> socket.socket:
    """A socket at a free port, where nobody listens yet."""
    made = socket.socket()
    if sys.platform == "win32":
        made.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)  # else others could take the port over
    made.bind((HOST, 0))
    return made
