"""A server's standard input and output as the streams that the MCP library speaks over."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import StdioServerParameters, stdio_client
from mcp.client._transport import TransportStreams
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)

from app.tools.mcp.failures import leaves
from app.tools.mcp.launching import Launch
from app.tools.mcp.process import CHUNK, ServerProcess, server_process
from app.tools.mcp.server_log import Link, ServerLog

LONGEST_MESSAGE = 64 * 1024 * 1024
"""Bytes. A server that sends more without an end of line is taken for broken."""
PARSED_ASIDE = 256 * 1024
"""Bytes. A longer message is read in a thread: it would hold the event loop up."""

CLOSED = (CONNECTION_CLOSED, "Connection closed")
"""As the library says it; servers use the same code for errors of their own."""

Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Outgoing = MemoryObjectReceiveStream[SessionMessage]
Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


def is_closed(error: MCPError) -> bool:
    """Whether the library says with it that nothing more comes from the server."""
    return (error.code, str(error)) == CLOSED


@asynccontextmanager
async def pipes(launch: Launch, link: Link) -> AsyncIterator[Streams]:
    """Start the server and speak with it. The link gets lost when its output ends. Raises `OSError`."""
    incoming, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    async with server_process(launch, link.log) as process:
        link.started, link.pid = True, process.pid
        tasks = [
            asyncio.create_task(_receive(process, incoming, link), name="output of an MCP server"),
            asyncio.create_task(_send(process, outgoing, incoming, link.log), name="input of an MCP server"),
        ]
        try:
            yield read_stream, write_stream
        finally:
            for task in tasks:
                task.cancel()
            for stream in (read_stream, write_stream, incoming, outgoing):
                stream.close()


async def _receive(process: ServerProcess, incoming: Incoming, link: Link) -> None:
    try:
        async for line in _lines(process.stdout):
            if message := await _message(line, link):
                await incoming.send(message)
        link.exit_code = await process.exit_code()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return  # nobody listens any more: what went wrong was told by who stopped
    except (ValueError, OSError) as error:
        link.log.event(f"Its output cannot be read any more: {error}")
    incoming.close()
    link.lose()


async def _send(process: ServerProcess, outgoing: Outgoing, incoming: Incoming, log: ServerLog) -> None:
    """Hand messages on for as long as the server reads them; when it does not, its output has ended too."""
    try:
        async for message in outgoing:
            try:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
            except ValueError as error:  # half a surrogate, of which no UTF-8 is made
                log.event(f"A message to it cannot be written: {error}")
                if isinstance(message.message, JSONRPCRequest):
                    await incoming.send(_unsent(message.message, error))
                continue
            process.stdin.write(line + b"\n")
            await process.stdin.drain()
    except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        outgoing.close()


def _unsent(request: JSONRPCRequest, error: ValueError) -> SessionMessage:
    """Answers it in the server's place, so that nobody waits for an answer."""
    told = ErrorData(code=INVALID_PARAMS, message=f"It cannot be sent: {error}")
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=request.id, error=told))


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Raises `ValueError` for a line that does not end."""
    started: list[bytes] = []
    size = 0
    while chunk := await stream.read(CHUNK):
        first, *rest = chunk.split(b"\n")
        started.append(first)
        size += len(first)
        if size > LONGEST_MESSAGE:
            raise ValueError(f"a message of more than {LONGEST_MESSAGE >> 20} MB")
        if rest:
            yield b"".join(started)
            *whole, last = rest
            for line in whole:
                yield line
            started, size = [last], len(last)
        await asyncio.sleep(0)  # a read returns at once from a flooded pipe, and others want to run too


async def _message(line: bytes, link: Link) -> SessionMessage | None:
    """The message in a line; what is none is noted in the log."""
    if not line.strip():
        return None
    message = _parsed(line) if len(line) <= PARSED_ASIDE else await asyncio.to_thread(_parsed, line)
    if message is None:
        link.garbage += 1
        link.log.line(f"(no MCP message, on its standard output) {line[:400].decode(errors='replace').rstrip()}")
    return message


def _parsed(line: bytes) -> SessionMessage | None:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        return None


@asynccontextmanager
async def windows_pipes(launch: Launch, link: Link) -> AsyncIterator[TransportStreams]:
    """The same on Windows, where the SDK's job objects end a server with its children, also without the app."""
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
    except Exception as error:
        if any(isinstance(leaf, MCPError) and is_closed(leaf) for leaf in leaves(error)):
            link.lose()
        raise
    finally:
        await reading


def _read_errors(pipe: int, log: ServerLog) -> None:
    """Until everybody who writes into the pipe has ended."""
    with os.fdopen(pipe, "rb", buffering=0) as stream:
        while chunk := stream.read(CHUNK):
            log.wrote(chunk)
    log.finish()
