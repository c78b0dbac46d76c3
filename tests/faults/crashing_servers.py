"""MCP servers that crash, each with a child of its own: nothing of them is left, and the app goes on."""

import asyncio
import tempfile
from pathlib import Path

import psutil

from app.domain.errors import ToolError
from app.tools.mcp.hub import McpHub
from app.tools.mcp.states import Patience
from tests.figures import Figure
from tests.tools.mcp.hubs import called, hostile, hub_of, reached, text_of

CRASHES = 50
SECONDS = 5
"""For the last of them to be gone."""
PATIENCE = Patience(retries=(0.01,), listing=0)


async def run(crashes: int = CRASHES) -> list[Figure]:
    own = {child.pid for child in psutil.Process().children(recursive=True)}
    with tempfile.TemporaryDirectory() as folder:
        async with hub_of(Path(folder), hostile(), patience=PATIENCE) as hub:
            await reached(hub, "ready")
            started = [await crash(hub) for _ in range(crashes)]
            goes_on = text_of(await called(hub, "bad__peaceful")) == "calm"
    left = psutil.wait_procs([one for pair in started for one in pair], timeout=SECONDS)[1]
    orphans = [one for one in left if alive(one)]
    orphans += [child for child in psutil.Process().children(recursive=True) if child.pid not in own]
    value = f"{len(orphans)} after {crashes} crashes{'' if goes_on else ', and it did not go on'}"
    return [Figure("R8 orphan processes of crashed MCP servers", value, "0", not orphans and goes_on)]


async def crash(hub: McpHub) -> list[psutil.Process]:
    """The server's child and the server itself, both of which should be gone now."""
    child = psutil.Process(int(text_of(await called(hub, "bad__spawn"))))
    server = psutil.Process(child.ppid())
    try:
        await called(hub, "bad__die")
    except ToolError:
        await asyncio.sleep(0)
    return [child, server]


def alive(process: psutil.Process) -> bool:
    """A zombie is dead: it only waits for somebody to ask how it ended."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
