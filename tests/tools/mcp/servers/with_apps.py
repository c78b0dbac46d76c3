"""A server over stdio whose tools bring views along, and count their calls in a file."""

import asyncio
import sys
from pathlib import Path

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
    TextResourceContents,
    Tool,
)

VIEW = "text/html;profile=mcp-app"
COUNTED = Path(sys.argv[1])
FREE = asyncio.Semaphore(0)
"""How many calls with the title "held" may come to their end; each with the title "free" frees one."""
PAGE = "<!doctype html><p>A view"
DOCUMENTS = {
    "ui://show": (VIEW, PAGE, {"csp": {"connectDomains": ["https://api.example.com", "http://127.0.0.1:1", "*"]}}),
    "ui://wrong": ("text/html", PAGE, {}),
    "ui://huge": (VIEW, "<p>" + "x" * (8 * 1024 * 1024), {}),
    "ui://silent": (VIEW, "<p>nothing is said", {}),
}
SHOWING = {
    "show": "ui://show",
    "wrong": "ui://wrong",
    "huge": "ui://huge",
    "silent": "ui://silent",
    "missing": "ui://missing",
    "fail": "ui://show",
    "linger": "ui://silent",
}
TITLE = {"type": "object", "properties": {"title": {"type": "string"}}}


def _tool(name: str, ui: dict[str, object]) -> Tool:
    return Tool(name=name, description=f"Tool {name}", input_schema=TITLE, _meta={"ui": ui})


def _count(tool: str) -> None:
    with COUNTED.open("a") as counted:
        counted.write(f"{tool}\n")


async def list_tools(_: object, __: PaginatedRequestParams | None) -> ListToolsResult:
    shown = [_tool(name, {"resourceUri": uri}) for name, uri in SHOWING.items()]
    hidden = [_tool("poll", {"visibility": ["app"]}), _tool("secret", {"visibility": ["model"]})]
    return ListToolsResult(tools=[*shown, *hidden])


async def list_resources(_: object, __: PaginatedRequestParams | None) -> ListResourcesResult:
    return ListResourcesResult(resources=[])


async def call(_: object, params: CallToolRequestParams) -> CallToolResult:
    _count(params.name)
    title = (params.arguments or {}).get("title", "")
    if params.name == "fail":
        content = [TextContent(text="No paper left.")]
        return CallToolResult(content=content, structured_content={"left": 0}, is_error=True)
    if params.name == "linger":
        await asyncio.Event().wait()
    if title == "free":
        FREE.release()
    if title == "held":
        await FREE.acquire()
    return CallToolResult(
        content=[TextContent(text=f"Shown: {title}")],
        structured_content={"title": title},
        _meta={"seen": "by the view"},
    )


async def read(_: object, params: ReadResourceRequestParams) -> ReadResourceResult:
    kind, text, ui = DOCUMENTS[str(params.uri)]
    return ReadResourceResult(
        contents=[TextResourceContents(uri=params.uri, mime_type=kind, text=text, _meta={"ui": ui})]
    )


async def main() -> None:
    server = Server(
        "apps", on_list_tools=list_tools, on_call_tool=call, on_read_resource=read, on_list_resources=list_resources
    )
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
