"""An MCP server over stdio whose tools bring views, written with the MCP library as anybody would write one.

`python -m tests.view_servers.ours`; each request that reaches it becomes a line of JSON in the file `CALLS`.
"""

import json
import os
import time
from pathlib import Path

from mcp.server.apps import APP_MIME_TYPE, Apps, ResourceCsp, ResourcePermissions
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resources import TextResource
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel

CALLS = Path(os.environ["CALLS"])
HERE = Path(__file__).parent / "views"
SPEAKS = (HERE / "speaks.js").read_text(encoding="utf-8")
LARGE = 9 * 1024 * 1024
DOMAINS = ResourceCsp(
    connect_domains=["https://tiles.example", "https://*.maps.example:8443"],
    resource_domains=["https://tiles.example"],
)
lines: list[str] = []


class Agreed(BaseModel):
    agreed: bool


def document(name: str) -> str:
    """A view out of the folder, with what all of them speak by in it."""
    return (HERE / f"{name}.html").read_text(encoding="utf-8").replace("/* speaks.js */", SPEAKS)


def kept(tool: str, **arguments: object) -> None:
    with CALLS.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"name": tool, "arguments": arguments, "at": time.time()}) + "\n")


apps = Apps()


@apps.tool(resource_uri="ui://ours/board", title="Show the board")
def show_board(title: str, context: Context) -> CallToolResult:
    """Shows a board on which lines can be written."""
    kept("show_board", title=title)
    supported = bool(context.client_capabilities and context.client_capabilities.extensions)
    return CallToolResult(
        content=[TextContent(text=f"The board {title} is shown.")],
        structured_content={"title": title, "lines": list(lines), "supported": supported},
        meta={"secret": "only the view knows"},
    )


@apps.tool(resource_uri="ui://ours/board", title="Write a line")
def add_line(text: str) -> str:
    """Writes a line on the board."""
    kept("add_line", text=text)
    lines.append(text)
    return f"{len(lines)} lines"


@apps.tool(resource_uri="ui://ours/board", visibility=["app"], annotations=ToolAnnotations(read_only_hint=True))
def board_state() -> str:
    """What stands on the board; for its view alone."""
    kept("board_state")
    return json.dumps(lines)


@apps.tool(resource_uri="ui://ours/board", visibility=["model"])
def clear_board() -> str:
    """Wipes the board; not for views."""
    kept("clear_board")
    lines.clear()
    return "clear"


@apps.tool(resource_uri="ui://ours/map")
def show_map() -> str:
    """Shows a map, which comes from elsewhere."""
    kept("show_map")
    return "A map is shown."


@apps.tool(resource_uri="ui://ours/desk")
def show_desk(note: str = "") -> str:
    """Shows a desk with a button for each thing that a view can ask for."""
    kept("show_desk", note=note)
    return f"A desk is shown {note}".strip()


@apps.tool(resource_uri="ui://ours/board")
def show_failed() -> CallToolResult:
    """Fails, and shows that."""
    kept("show_failed")
    return CallToolResult(content=[TextContent(text="No board is left.")], is_error=True)


@apps.tool(resource_uri="ui://ours/board")
async def show_late(title: str, context: Context) -> str:
    """Asks first."""
    kept("show_late", title=title)
    await context.elicit("Go on?", schema=Agreed)
    return f"The board {title} is shown."


@apps.tool(resource_uri="ui://ours/large")
def show_large() -> str:
    """Shows more than fits."""
    kept("show_large")
    return "Much is shown."


@apps.tool(resource_uri="ui://ours/mute")
def show_mute() -> str:
    """Shows a view that never says a word."""
    kept("show_mute")
    return "Nothing is said."


apps.add_html_resource("ui://ours/board", document("board"), prefers_border=True)
apps.add_html_resource(
    "ui://ours/map", document("map"), csp=DOMAINS, permissions=ResourcePermissions(clipboard_write={}, camera={})
)
apps.add_html_resource("ui://ours/desk", document("desk"))
apps.add_html_resource("ui://ours/large", f"<p>large</p><!--{'x' * LARGE}-->")
apps.add_html_resource("ui://ours/mute", "<!doctype html><p>mute</p>")
server = MCPServer("ours", extensions=[apps])
WEB_PAGE = "ui://ours/web-page"
server.add_resource(TextResource(uri=WEB_PAGE, name="page", text="<p>a web page</p>", mime_type="text/html"))
server.add_resource(
    TextResource(uri="ui://ours/board-by-its-old-key", name="board", text=document("board"), mime_type=APP_MIME_TYPE)
)


@server.tool(meta={"ui": {"resourceUri": WEB_PAGE}})
def show_web_page() -> str:
    """Brings a resource of another type."""
    kept("show_web_page")
    return "A web page would be shown."


@server.tool(meta={"ui": {"resourceUri": "ui://ours/nothing"}})
def show_nothing() -> str:
    """Names a resource that is not there."""
    kept("show_nothing")
    return "Nothing is there."


@server.tool(meta={"ui": {"resourceUri": "https://tiles.example/view"}})
def show_address() -> str:
    """Names an address in place of a view."""
    kept("show_address")
    return "An address is no view."


@server.tool(meta={"ui/resourceUri": "ui://ours/board-by-its-old-key"})
def show_old_board(title: str) -> str:
    """Names its view by the key of before."""
    kept("show_old_board", title=title)
    return f"The board {title} is shown."


@server.resource("ui://ours/report.csv", mime_type="text/csv")
def report() -> str:
    """What the desk downloads by a link."""
    kept("report.csv")
    return "a,b\n1,2\n"


if __name__ == "__main__":
    server.run("stdio")
