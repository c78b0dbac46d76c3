"""A program that keeps a deaf server with a child of its own, tells their process ids, and waits to be killed."""

import asyncio
import sys
from pathlib import Path

import psutil

from tests.tools.mcp.hubs import called, hostile, hub_of, reached, text_of


async def main(folder: Path) -> None:
    async with hub_of(folder, hostile("deaf")) as hub:
        await reached(hub, "ready")
        await called(hub, "bad__spawn")
        text_of(await called(hub, "bad__peaceful"))
        print(*[child.pid for child in psutil.Process().children(recursive=True)], flush=True)
        await asyncio.Event().wait()


asyncio.run(main(Path(sys.argv[1])))
