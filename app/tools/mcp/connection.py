"""A server that is connected, and the calls of its tools."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from mcp import Client
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS
from pydantic import JsonValue, ValidationError

from app.domain.errors import InvalidArguments, ToolError
from app.domain.tool_settings import McpServer
from app.domain.tools import CallContext, Progress, ToolOutput
from app.tools.mcp.failures import loss
from app.tools.mcp.link import Link
from app.tools.mcp.results import Contents, output_of
from app.tools.mcp.specs import Listing

CLOSED = (CONNECTION_CLOSED, "Connection closed")
"""As the library says it; servers use the same code for errors of their own."""
READING_SECONDS = 10
"""For a resource that a result only links to."""


@dataclass(frozen=True)
class Connection:
    server: McpServer
    client: Client
    link: Link
    listing: Listing

    async def call(self, name: str, arguments: Mapping[str, JsonValue], context: CallContext) -> ToolOutput:
        """Raises `ToolError`. Cancelling it cancels the call at the server."""
        tool = self.listing.own_names.get(name)
        if tool is None:
            raise ToolError(f"The MCP server {self.server.name} has no tool {name} any more.")
        try:
            returned = await self.client.call_tool(tool, dict(arguments), progress_callback=_telling(context))
        except MCPError as error:
            raise self._told(error, tool) from None
        except (RuntimeError, ValidationError) as error:
            raise ToolError(f"The answer of the MCP server {self.server.name} breaks its own rules: {error}") from None
        return await output_of(returned, tool, context, self._read)

    async def _read(self, uri: str) -> list[Contents]:
        try:
            async with asyncio.timeout(READING_SECONDS):
                return (await self.client.read_resource(uri)).contents
        except (MCPError, TimeoutError, ValueError) as error:
            self.link.log.event(f"The resource {uri} cannot be read: {error}")
            return []

    def _told(self, error: MCPError, tool: str) -> ToolError:
        name = self.server.name
        if self.link.lost or self.link.http_status == 404 or (error.code, str(error)) == CLOSED:
            self.link.lose()
            return ToolError(
                f"The MCP server {name} was lost during the call: {loss(self.server, self.link)}\n"
                f"It is being connected again. Whether {tool} did anything is not known."
            )
        if error.code == INVALID_PARAMS:
            return InvalidArguments(f"{name} does not take this call of {tool}: {error.message}")
        return ToolError(error.message or f"{tool} failed with the error {error.code}.")


def _telling(context: CallContext) -> ProgressFnT:
    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        context.progressed(Progress(done=progress, total=total, text=message or ""))

    return progressed
