"""A person who signs in at servers of a hub, without a browser."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from app.domain.tool_settings import HttpTransport, McpServer
from app.tools.http.secret_refs import SecretRefs
from app.tools.mcp.hub import McpHub
from app.tools.mcp.oauth.desk import CameBack
from app.tools.mcp.states import Patience, ServerState
from tests.oauth_servers import Servers, opened
from tests.tools.mcp.hubs import QUICK, hub_of, reached
from tests.tools.vault import Keys

ORIGIN = "http://127.0.0.1:18999"
"""Nobody listens there: what a browser brings back is handed over by hand."""
NAME = "guarded"


def server_of(servers: Servers) -> McpServer:
    return McpServer(name=NAME, transport=HttpTransport(url=servers.url))


class Person:
    """Keeps keys over restarts of the hub."""

    def __init__(self, folder: Path, origin: str = ORIGIN) -> None:
        self.folder, self.keys, self.origin = folder, Keys(), origin

    @asynccontextmanager
    async def hub(self, servers: Servers | None = None, patience: Patience = QUICK) -> AsyncIterator[McpHub]:
        """With the server in it; without one as it was left."""
        added = [server_of(servers)] if servers else []
        refs = SecretRefs(self.keys)
        async with hub_of(self.folder, *added, patience=patience, refs=lambda: refs, origin=self.origin) as hub:
            yield hub

    async def signs_in(self, hub: McpHub) -> None:
        """From the page of the server."""
        await go_through(hub, (await hub.sign_in(NAME)).address)


async def go_through(hub: McpHub, address: str) -> bool:
    """Open the address; whether somebody waited for what the browser brought back."""
    back = (await opened(address)).params
    said = " ".join(filter(None, [back.get("error"), back.get("error_description")]))
    return bool(hub.take_sign_in(CameBack(back.get("state", ""), back.get("code", ""), back.get("iss"), said)))


async def signed_in(person: Person, hub: McpHub) -> ServerState:
    await reached(hub, "sign-in", name=NAME)
    await person.signs_in(hub)
    return await reached(hub, "ready", name=NAME)
