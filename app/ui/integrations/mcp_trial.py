"""Tries what an MCP snippet says with the library's own client. Heavy: import it late."""

import asyncio
import json
import os
from contextlib import AsyncExitStack
from pathlib import Path
from time import perf_counter
from typing import TextIO

import httpx2
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client import Transport
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from app.tools.mcp.failures import leaves
from app.ui.integrations.api_snippet_panel import MCP_ANSWER, Answer
from app.ui.integrations.api_snippets import AgentCall, Snippet

TRY_SECONDS = 60
RUN_ID = "agent-playground/run_id"


async def tried(snippet: Snippet, call: AgentCall, number: int, *, token: str) -> Answer:
    """What came of calling the agent's tool, as that program would be answered; never raises for what went wrong.

    `token` is sent where no key is written in.
    """
    began, status, run, text = perf_counter(), MCP_ANSWER, "", ""
    try:
        async with asyncio.timeout(TRY_SECONDS), AsyncExitStack() as stack:
            client = await stack.enter_async_context(Client(await _way(snippet, call, token, stack), mode="legacy"))
            returned = await client.call_tool(call.tool, call.run_body)
            run, text = _run_of(returned), _text_of(returned)
    except TimeoutError:
        status, text = 0, f"It took more than {TRY_SECONDS} s."
    except Exception as error:  # noqa: BLE001  a server, a program and their transports may fail in any way
        status, text = 0, "\n".join(str(one) for one in leaves(error))
    ms = 1000 * (perf_counter() - began)
    return Answer(number=number, status=status, run=run, ms=ms, size=len(text), text=text)


async def _way(snippet: Snippet, call: AgentCall, token: str, stack: AsyncExitStack) -> Transport:
    if snippet.over == "stdio":
        program, *arguments = call.command
        started = StdioServerParameters(command=program, args=arguments, env=dict(call.environment) or None)
        return stdio_client(started, errlog=stack.enter_context(_nowhere()))
    headers = {"Authorization": f"Bearer {call.key or token}"}
    http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=TRY_SECONDS, trust_env=False))
    return streamable_http_client(call.mcp_address, http_client=http)


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def _run_of(returned: CallToolResult) -> str:
    told = returned.structured_content if isinstance(returned.structured_content, dict) else {}
    return str(told.get("run_id") or (returned.meta or {}).get(RUN_ID, ""))


def _text_of(returned: CallToolResult) -> str:
    if returned.structured_content is not None:
        return json.dumps(returned.structured_content, ensure_ascii=False)
    return "\n".join(block.text for block in returned.content if isinstance(block, TextContent))
