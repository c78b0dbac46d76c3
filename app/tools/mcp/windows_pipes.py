"""The same as `pipes` on Windows, where the SDK's job objects end a server with its children, also without the app."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp import StdioServerParameters, stdio_client
from mcp.client._transport import TransportStreams

from app.tools.mcp.launching import Launch
from app.tools.mcp.link import Link
from app.tools.mcp.process import CHUNK
from app.tools.mcp.server_log import ServerLog


@asynccontextmanager
async def windows_pipes(launch: Launch, link: Link) -> AsyncIterator[TransportStreams]:
    """Start the server and speak with it. Raises `OSError`."""
    parameters = StdioServerParameters(
        command=launch.program, args=list(launch.args), env=dict(launch.env), cwd=launch.cwd
    )
    read_end, write_end = os.pipe()
    reading = asyncio.create_task(asyncio.to_thread(_read_errors, read_end, link.log))
    try:
        with os.fdopen(write_end, "w", encoding="utf-8") as errors:
            async with stdio_client(parameters, errlog=errors) as streams:
                link.started = True
                yield streams
    finally:
        await reading
        link.lose()


def _read_errors(pipe: int, log: ServerLog) -> None:
    """Until everybody who writes into the pipe has ended."""
    with os.fdopen(pipe, "rb", buffering=0) as stream:
        while chunk := stream.read(CHUNK):
            log.wrote(chunk)
    log.finish()
