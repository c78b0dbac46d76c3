"""A2: calls side by side on one MCP server that somebody signed in at, against the same calls without OAuth."""

import asyncio
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from app.domain.tool_settings import HttpTransport, McpServer
from app.tools.mcp.hub import McpHub
from tests.figures import Figure
from tests.oauth_servers import Servers, serving
from tests.tools.mcp.hubs import called, hub_of, reached
from tests.tools.mcp.oauth.signing_in import NAME, Person, signed_in

ROUNDS, AT_ONCE, MOST = 15, 8, 1.1
WITH_HEADER = "header"


async def run(rounds: int = ROUNDS, at_once: int = AT_ONCE) -> list[Figure]:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        async with serving() as servers:
            person = Person(Path(one))
            async with person.hub(servers) as hub:
                await signed_in(person, hub)
                token = hub._session(NAME).authorization.tokens.token
                plain = McpServer(
                    name=WITH_HEADER,
                    transport=HttpTransport(url=servers.url, headers={"Authorization": f"Bearer {token}"}),
                )
                refs = hub._refs
                async with hub_of(Path(other), plain, refs=refs) as bare:
                    await reached(bare, "ready", name=WITH_HEADER)
                    calls = Calls(hub, bare, at_once)
                    return [
                        await calls.figure("A2 calls at once with OAuth", "slow", rounds, seconds=0.1),
                        await calls.figure("A2 quick calls at once with OAuth", "whoami", rounds * 4),
                        await _waiting(servers, hub, at_once),
                    ]


@dataclass
class Calls:
    hub: McpHub
    bare: McpHub
    at_once: int

    async def figure(self, name: str, tool: str, rounds: int, **arguments: object) -> Figure:
        """Both in turn, so that what else the machine does falls on both."""
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(rounds):
            ours.append(await _took(self.hub, f"{NAME}__{tool}", self.at_once, arguments))
            theirs.append(await _took(self.bare, f"{WITH_HEADER}__{tool}", self.at_once, arguments))
        ratio = statistics.median(ours) / statistics.median(theirs)
        took = f"{statistics.median(ours) * 1000:.1f} ms for {self.at_once}, p50"
        return Figure(name, f"{ratio:.2f} × a header of one's own ({took})", f"<= {MOST} ×", ratio <= MOST)


async def _took(hub: McpHub, tool: str, at_once: int, arguments: dict[str, object]) -> float:
    began = time.perf_counter()
    await asyncio.gather(*(called(hub, tool, **arguments) for _ in range(at_once)))
    return time.perf_counter() - began


async def _waiting(servers: Servers, hub: McpHub, at_once: int) -> Figure:
    """However many calls find the token ended, it is renewed once."""
    before = servers.asked.copy()
    servers.expire()
    await asyncio.gather(*(called(hub, f"{NAME}__whoami") for _ in range(at_once)))
    renewed, asked = (servers.asked - before)["refresh"], (servers.asked - before)["authorize"]
    value = f"{renewed} renewal, {asked} sign-ins for {at_once} calls at once"
    return Figure("A2 renewals of a token that ended", value, "1 and 0", (renewed, asked) == (1, 0))
