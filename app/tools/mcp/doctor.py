"""Finds out, step by step, why a server does not work; over a connection of its own."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from app.domain.errors import WorkbenchError
from app.domain.tool_settings import HttpTransport, McpServer, StdioTransport
from app.late import late, read
from app.tools.mcp.failures import in_words
from app.tools.mcp.launching import headers, launch
from app.tools.mcp.running_calls import RunningCalls
from app.tools.mcp.server_log import Link, ServerLog
from app.tools.mcp.states import Finding

with late():
    from app.tools.mcp import opening

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult, Tool

    from app.tools.http.secret_refs import SecretRefs

CALL_SECONDS = 30


async def examined(
    server: McpServer, version: str, *, seconds: float, refs: "SecretRefs", token: Callable[[], str]
) -> AsyncIterator[Finding]:
    """Ends with the first step that failed. `seconds` is what the server gets for its handshake; `refs` has the
    secrets that its transport refers to, `token` is that of who is signed in.
    """
    try:
        opened_with = await refs.filled(server)
    except WorkbenchError as error:
        yield Finding("command found", False, str(error))
        return
    yield (found := _command_found(opened_with))
    if not found.ok:
        return
    if server.consented != server.transport.digest:
        yield Finding("starts", False, "It has not been allowed to start yet. Look at what it runs, and allow it.")
        return
    await asyncio.to_thread(read, opening)
    link = Link(ServerLog())
    callbacks = opening.ClientCallbacks(opened_with, version, link, RunningCalls(), token)
    async with AsyncExitStack() as stack:
        try:
            async with asyncio.timeout(seconds):
                client = await stack.enter_async_context(opening.opened(callbacks))
        except Exception as error:  # noqa: BLE001  a server and its transport may fail in any way
            for finding in _not_opened(error, server, link, seconds):
                yield finding
            return
        yield Finding("starts", True, "It runs." if isinstance(server.transport, StdioTransport) else "It answers.")
        yield Finding("handshake", True, f"It speaks MCP: {opening.about(client)}.")
        async for finding in _tried(client, server, link, seconds):
            yield finding


def _command_found(server: McpServer) -> Finding:
    try:
        match server.transport:
            case StdioTransport() as stdio:
                return Finding("command found", True, f"{stdio.command} is {launch(stdio).program}.")
            case HttpTransport() as http:
                headers(http)
                return Finding("command found", True, f"None is needed: it is asked at {http.url}.")
    except WorkbenchError as error:
        return Finding("command found", False, str(error))


def _not_opened(error: BaseException, server: McpServer, link: Link, seconds: float) -> Iterator[Finding]:
    words = in_words(error, server, link, seconds=seconds)
    if not link.started or link.lost:
        yield Finding("starts", False, words)
        return
    yield Finding("starts", True, "It runs." if isinstance(server.transport, StdioTransport) else "It answers.")
    yield Finding("handshake", False, words)


async def _tried(client: "Client", server: McpServer, link: Link, seconds: float) -> AsyncIterator[Finding]:
    try:
        async with asyncio.timeout(seconds):
            tools = await opening.all_tools(client)
    except Exception as error:  # noqa: BLE001  a server and its transport may fail in any way
        yield Finding("tools listed", False, in_words(error, server, link, seconds=seconds))
        return
    names = ", ".join(tool.name for tool in tools)
    yield Finding("tools listed", bool(tools), f"{len(tools)}: {names}." if tools else "It has no tools.")
    harmless = [tool for tool in tools if _harmless(tool)]
    if not harmless:
        yield Finding("first call", True, "Skipped: each tool needs arguments or may change something.")
    else:
        yield await _called(client, harmless[0].name, server, link)


def _harmless(tool: "Tool") -> bool:
    return not tool.input_schema.get("required") and bool(tool.annotations and tool.annotations.read_only_hint)


async def _called(client: "Client", tool: str, server: McpServer, link: Link) -> Finding:
    try:
        async with asyncio.timeout(CALL_SECONDS):
            returned = await client.call_tool(tool, {})
    except Exception as error:  # noqa: BLE001  a server and its transport may fail in any way
        return Finding("first call", False, f"{tool}: {in_words(error, server, link, seconds=CALL_SECONDS)}")
    said = _said(returned)
    if returned.is_error:
        return Finding("first call", False, f"{tool} failed: {said}")
    return Finding("first call", True, f"{tool} returned: {said}")


def _said(returned: "CallToolResult") -> str:
    texts = [block.text if block.type == "text" else f"[{block.type}]" for block in returned.content]
    text = " ".join(texts) or "nothing"
    return text if len(text) <= 200 else text[:199] + "…"
