"""A server that is connected: its tools as models are told of them, their calls, and what these returned."""

import asyncio
import base64
import binascii
import json
import mimetypes
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from mcp import Client
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    RequestParamsMeta,
    ResourceLink,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)
from pydantic import JsonValue, ValidationError

from app.domain.errors import InvalidArguments, ToolError
from app.domain.messages import ResultPart, TextPart
from app.domain.reading.file_names import plain_file_name
from app.domain.tool_settings import McpServer
from app.domain.tools import DEPTH, CallContext, Progress, ToolOutput, ToolSpec, canonical_name
from app.tools.mcp import views
from app.tools.mcp.failures import loss, named
from app.tools.mcp.naming import tool_names
from app.tools.mcp.pipes import is_closed
from app.tools.mcp.server_log import Link

OTHER_APP = "agent-playground"
"""What an app like this one calls itself to its clients."""
READING_SECONDS = 10
"""For a resource that a result only links to."""

Contents = TextResourceContents | BlobResourceContents
Read = Callable[[str], Awaitable[list[Contents]]]
"""The contents behind an address, or nothing when the server does not give them."""

LONGEST_ERROR = 20_000
"""Characters."""
ANY_FILE = "application/octet-stream"

ICON = "extension"


@dataclass(frozen=True)
class Listing:
    """The tools that a server listed."""

    specs: tuple[ToolSpec, ...]
    own_names: dict[str, str]
    """By our name, what the server calls the tool."""
    told: dict[str, Tool]
    """By what the server calls it, all that it says of the tool."""


@dataclass
class _Keeping:
    tool: str
    context: CallContext
    read: Read

    async def parts(self, block: ContentBlock) -> AsyncIterator[ResultPart]:
        match block:
            case TextContent():
                yield TextPart(text=block.text)
            case ImageContent() | AudioContent():
                yield await self._kept(block.data, block.mime_type, self.tool)
            case EmbeddedResource():
                async for part in self._resource(block.resource):
                    yield part
            case ResourceLink():
                yield TextPart(text=" - ".join(filter(None, [block.title or block.name, block.uri, block.description])))
                for contents in await self.read(block.uri):
                    yield await self._file(contents, block.mime_type)

    async def _resource(self, contents: Contents) -> AsyncIterator[ResultPart]:
        if isinstance(contents, TextResourceContents):
            yield TextPart(text=f"{contents.uri}:\n{contents.text}")
        yield await self._file(contents, None)

    async def _file(self, contents: Contents, media_type: str | None) -> ResultPart:
        name = PurePosixPath(unquote(urlsplit(contents.uri).path)).name or self.tool
        if isinstance(contents, BlobResourceContents):
            return await self._kept(contents.blob, contents.mime_type or media_type or ANY_FILE, name)
        kind = contents.mime_type or media_type or "text/plain"
        content = contents.text.encode(errors="replace")
        return await self.context.keep(content, media_type=kind, filename=_filename(name, kind))

    async def _kept(self, encoded: str, media_type: str, name: str) -> ResultPart:
        try:
            content = await asyncio.to_thread(base64.b64decode, encoded, validate=True)
        except (binascii.Error, ValueError):
            return TextPart(text=f"[{media_type} that cannot be read: it is no base64]")
        return await self.context.keep(content, media_type=media_type, filename=_filename(name, media_type))


@dataclass(frozen=True)
class Connection:
    server: McpServer
    client: Client
    link: Link
    listing: Listing

    async def call(self, name: str, arguments: Mapping[str, JsonValue], context: CallContext) -> ToolOutput:
        """With the view that the tool brings along, which is read meanwhile. Raises `ToolError`.

        Cancelling it cancels the call at the server.
        """
        tool = self.listing.told.get(self.listing.own_names.get(name, ""))
        if tool is None or not views.view_address(tool):
            return (await self.returned(name, arguments, context))[1]
        reading = views.Reading(self.client, self.server.name, tool, context)
        try:
            returned = await self._returned(name, arguments, context)
            view = await reading.given(returned)
        finally:
            reading.end()
        output = await output_of(returned, tool.name, context, self._read)
        return output.model_copy(update={"parts": (*output.parts, view)})

    async def returned(
        self, name: str, arguments: Mapping[str, JsonValue], context: CallContext
    ) -> tuple[CallToolResult, ToolOutput]:
        """All that the call returned, and what of that is the tool's output; raises like `call`."""
        returned = await self._returned(name, arguments, context)
        return returned, await output_of(returned, self.listing.own_names[name], context, self._read)

    async def _returned(self, name: str, arguments: Mapping[str, JsonValue], context: CallContext) -> CallToolResult:
        tool = self.listing.own_names.get(name)
        if tool is None:
            raise ToolError(f"The MCP server {self.server.name} has no tool {name} any more.")
        try:
            return await self.client.call_tool(
                tool, dict(arguments), progress_callback=_telling(context), meta=self._depth(context)
            )
        except MCPError as error:
            raise self._told(error, tool) from None
        except (RuntimeError, ValidationError) as error:
            raise ToolError(
                f"The answer of the MCP server {self.server.name} breaks its own rules: {named(error)}"
            ) from None

    async def asked(self, method: str, params: views.Json) -> views.Json:
        """What a view of the server asks it, other than to call a tool. Raises `ToolError`."""
        if method != "tools/list":
            return await views.asked(self.client, method, params)
        told = (tool for tool in self.listing.told.values() if "app" in views.callers_of(tool))
        return {"tools": [views.plain(tool) for tool in told]}

    def _depth(self, context: CallContext) -> RequestParamsMeta | None:
        """What another app needs to know for agents not to call each other without end."""
        about = self.client.server_info
        if about is None or about.name != OTHER_APP:
            return None
        return {DEPTH: context.began_with.depth + 1}  # type: ignore[return-value]  # it takes any key

    async def _read(self, uri: str) -> list[Contents]:
        try:
            async with asyncio.timeout(READING_SECONDS):
                return (await self.client.read_resource(uri)).contents
        except (MCPError, TimeoutError, ValueError) as error:
            self.link.log.event(f"The resource {uri} cannot be read: {error}")
            return []

    def _told(self, error: MCPError, tool: str) -> ToolError:
        name = self.server.name
        if self.link.lost or self.link.http_status == 404 or is_closed(error):
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


async def output_of(result: CallToolResult, tool: str, context: CallContext, read: Read) -> ToolOutput:
    """Raises `ToolError` with the tool's own words when it failed."""
    if result.is_error:
        raise ToolError(_error(result, tool))
    keeping = _Keeping(tool, context, read)
    parts = [part for block in result.content async for part in keeping.parts(block)]
    if result.structured_content is not None and not any(isinstance(part, TextPart) for part in parts):
        told = _untold(result.structured_content, frozenset(filter(None, map(_encoded, result.content))))
        if told is not None:
            parts.insert(0, TextPart(text=json.dumps(told, ensure_ascii=False)))
    return ToolOutput(parts=tuple(parts or [TextPart(text="(nothing returned)")]))


def _encoded(block: ContentBlock) -> str | None:
    match block:
        case ImageContent() | AudioContent():
            return block.data
        case EmbeddedResource(resource=BlobResourceContents(blob=blob)):
            return blob
        case _:
            return None


def _untold(value: JsonValue, pictures: frozenset[str]) -> JsonValue:
    """The value without the objects that hold one of the pictures again; `None` where nothing is left of it."""
    if isinstance(value, dict):
        if any(isinstance(one, str) and one.rpartition(",")[2] in pictures for one in value.values()):
            return None
        return _left(value, {name: _untold(one, pictures) for name, one in value.items()})
    if isinstance(value, list):
        left = [(one, _untold(one, pictures)) for one in value]
        return [told for one, told in left if told is not None or one is None] or (None if value else [])
    return None if isinstance(value, str) and value.rpartition(",")[2] in pictures else value


def _left(before: dict[str, JsonValue], told: dict[str, JsonValue]) -> JsonValue:
    left = {name: one for name, one in told.items() if one is not None or before[name] is None}
    return left or (None if before else {})


def _error(result: CallToolResult, tool: str) -> str:
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    return text[:LONGEST_ERROR] or f"{tool} failed and did not say why."


def _filename(name: str, media_type: str) -> str:
    plain = plain_file_name(name)
    return plain if PurePosixPath(plain).suffix else plain + (mimetypes.guess_extension(media_type) or "")


def listing_of(server: str, tools: Sequence[Tool]) -> Listing:
    """Of two tools with the same name the first one counts."""
    unique = {tool.name: tool for tool in reversed(tools)}
    names = tool_names(server, unique)
    specs = tuple(_spec(server, names[tool.name], tool) for tool in reversed(unique.values()))
    return Listing(specs, {ours: own for own, ours in names.items()}, unique)


def _spec(server: str, name: str, tool: Tool) -> ToolSpec:
    # Hints are not believed: https://modelcontextprotocol.io/specification/2025-06-18/schema#toolannotations
    hints = tool.annotations or ToolAnnotations()
    return ToolSpec(
        name=name,
        description=tool.description or "",
        parameters=tool.input_schema,
        title=tool.title or hints.title or tool.name,
        icon=ICON,
        kit=canonical_name(server),
        side_effects=True,
        view=views.view_address(tool),
        callers=views.callers_of(tool),
    )
