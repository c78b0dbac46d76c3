"""A server over stdio whose tools bring views along, and count their calls in a file."""

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
SCRIPT = """
const waiting = new Map(); let serial = 0;
const post = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const ask = (method, params) => new Promise((then) => { waiting.set(++serial, then); post({ id: serial, method, params }); });
const show = (name, text) => { document.getElementById(name).textContent = text; };
addEventListener("message", ({ data }) => {
  if (data.method === "ui/notifications/tool-input") show("input", JSON.stringify(data.params.arguments));
  if (data.method === "ui/notifications/tool-result") show("result", JSON.stringify(data.params.structuredContent));
  if (data.method === "ui/notifications/host-context-changed") show("mode", data.params.displayMode + " " + data.params.theme);
  if (data.method === "ping" || data.method === "ui/resource-teardown") post({ id: data.id, result: {} });
  if (data.id !== undefined && !data.method) { waiting.get(data.id)?.(data); waiting.delete(data.id); }
});
window.act = async (method, params) => { const said = await ask(method, params); show("answer", JSON.stringify(said.result ?? said.error)); };
(async () => {
  const { result } = await ask("ui/initialize", { appInfo: { name: "t", version: "1" }, protocolVersion: "2026-01-26",
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] } });
  show("mode", result.hostContext.displayMode + " " + result.hostContext.theme);
  show("born", String(Math.random()));
  post({ method: "ui/notifications/initialized" });
  post({ method: "ui/notifications/size-changed", params: { height: 320, width: 9 } });
})();
"""
BUTTONS = {
    "again": ("tools/call", '{name: "show", arguments: {title: "again"}}'),
    "poll": ("tools/call", '{name: "poll", arguments: {}}'),
    "hidden": ("tools/call", '{name: "secret", arguments: {}}'),
    "link": ("ui/open-link", '{url: "https://example.com/a?b=c"}'),
    "message": ("ui/message", '{role: "user", content: [{type: "text", text: "Written by the app"}]}'),
    "context": ("ui/update-model-context", '{content: [{type: "text", text: "Three rows are chosen"}]}'),
    "save": ("ui/download-file", '{contents: [{type: "resource", resource: {uri: "file:///rows.csv", text: "a,b"}}]}'),
    "full": ("ui/request-display-mode", '{mode: "fullscreen"}'),
}
PAGE = (
    "<!doctype html><body><h1>View</h1><p id=input></p><p id=result></p><p id=mode></p><p id=born></p><p id=answer></p>"
    + "".join(
        f"<button id={name} onclick='act(\"{method}\", {params})'>{name}</button>"
        for name, (method, params) in BUTTONS.items()
    )
    + f"<script>{SCRIPT}</script>"
)
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
}
TITLE = {"type": "object", "properties": {"title": {"type": "string"}}}


def _tool(name: str, ui: dict[str, object]) -> Tool:
    return Tool(name=name, description=f"Tool {name}", input_schema=TITLE, _meta={"ui": ui})


async def list_tools(_: object, __: PaginatedRequestParams | None) -> ListToolsResult:
    shown = [_tool(name, {"resourceUri": uri}) for name, uri in SHOWING.items()]
    hidden = [_tool("poll", {"visibility": ["app"]}), _tool("secret", {"visibility": ["model"]})]
    return ListToolsResult(tools=[*shown, *hidden])


async def list_resources(_: object, __: PaginatedRequestParams | None) -> ListResourcesResult:
    return ListResourcesResult(resources=[])


async def call(_: object, params: CallToolRequestParams) -> CallToolResult:
    with COUNTED.open("a") as counted:
        counted.write(f"{params.name}\n")
    title = (params.arguments or {}).get("title", "")
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
    import asyncio

    asyncio.run(main())
