"""A hub with real storage, and servers to put into it."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from app.domain.messages import TextPart
from app.domain.tool_settings import McpServer, StdioTransport
from app.domain.tools import ToolOutput
from app.store.journal.database import JournalDB
from app.store.records.tables import McpServers
from app.tools.http.secret_refs import SecretRefs
from app.tools.mcp.hub import McpHub
from app.tools.mcp.states import Patience, ServerState, ServerStatus
from tests.tools.context import Context
from tests.tools.vault import no_secrets
from tests.waiting import until

HOSTILE = Path(__file__).parent / "servers" / "hostile.py"
QUICK = Patience(handshake=10, retries=(0.05, 0.1), settled=60, settling=0, call=5, listing=0)


def hostile(*habits: str, name: str = "bad", env: dict[str, str] | None = None) -> McpServer:
    # Without `site` a start takes 20 ms less.
    args = ("-S", "-E", str(HOSTILE), *habits)
    return McpServer(name=name, transport=StdioTransport(command=sys.executable, args=args, env=env or {}))


@asynccontextmanager
async def hub_of(
    folder: Path,
    *servers: McpServer,
    patience: Patience = QUICK,
    refs: Callable[[], SecretRefs] = no_secrets,
    origin: str = "",
) -> AsyncIterator[McpHub]:
    """With the servers agreed to, and being connected; `origin` is where browsers come back to from a sign-in."""
    stored = McpServers(JournalDB(folder / "app.tdb"))
    hub = McpHub(stored, version="1.0", patience=patience, refs=refs, origin=lambda: origin)
    await hub.start()
    try:
        for server in servers:
            await hub.add(server)
            await hub.consent(server.name)
        yield hub
    finally:
        await hub.close()


async def reached(hub: McpHub, *statuses: ServerStatus, name: str = "bad", seconds: float = 15) -> ServerState:
    """The server's state once it has one of those."""

    def found() -> list[ServerState]:
        return [one for one in hub.states() if one.server.name == name and one.status in statuses]

    [state] = await until(found, seconds, 0.005)
    return state


async def called(hub: McpHub, tool: str, context: Context | None = None, **arguments: object) -> ToolOutput:
    return await hub.tools()[tool].run(arguments, context or Context())


def text_of(output: ToolOutput) -> str:
    return "\n".join(part.text for part in output.parts if isinstance(part, TextPart))
