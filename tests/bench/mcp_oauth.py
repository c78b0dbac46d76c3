"""A2: calls side by side on one MCP server that somebody signed in at, against the same calls without OAuth."""

import asyncio
import statistics
import tempfile
import time
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
                token = hub._session(NAME).authorization.token
                plain = McpServer(
                    name=WITH_HEADER,
                    transport=HttpTransport(url=servers.url, headers={"Authorization": f"Bearer {token}"}),
                )
                refs = hub._refs
                async with hub_of(Path(other), plain, refs=refs) as bare:
                    await reached(bare, "ready", name=WITH_HEADER)
                    return [
                        await _figure("A2 calls at once with OAuth", hub, bare, "slow", rounds, at_once, seconds=0.1),
                        await _figure("A2 quick calls at once with OAuth", hub, bare, "whoami", rounds * 4, at_once),
                        await _waiting(servers, hub, at_once),
                    ]


async def _figure(
    name: str, hub: McpHub, bare: McpHub, tool: str, rounds: int, at_once: int, **arguments: object
) -> Figure:
    """Both in turn, so that what else the machine does falls on both."""
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(rounds + 2):
        pair = (
            await _took(hub, f"{NAME}__{tool}", at_once, arguments),
            await _took(bare, f"{WITH_HEADER}__{tool}", at_once, arguments),
        )
        if number >= 2:
            ours.append(pair[0])
            theirs.append(pair[1])
    ratio = statistics.median(ours) / statistics.median(theirs)
    value = f"{ratio:.2f} × a header of one's own ({statistics.median(ours) * 1000:.1f} ms for {at_once}, p50)"
    return Figure(name, value, f"<= {MOST} ×", ratio <= MOST)


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
