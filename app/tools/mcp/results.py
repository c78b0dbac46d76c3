"""What a server's tool returned, as the model gets it: text as text, all else as artifacts of the call."""

import asyncio
import base64
import binascii
import json
import mimetypes
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from app.domain.errors import ToolError
from app.domain.messages import ResultPart, TextPart
from app.domain.tools import CallContext, ToolOutput

Contents = TextResourceContents | BlobResourceContents
Read = Callable[[str], Awaitable[list[Contents]]]
"""The contents behind an address, or nothing when the server does not give them."""

LONGEST_ERROR = 20_000
"""Characters."""
ANY_FILE = "application/octet-stream"


async def output_of(result: CallToolResult, tool: str, context: CallContext, read: Read) -> ToolOutput:
    """Raises `ToolError` with the tool's own words when it failed."""
    if result.is_error:
        raise ToolError(_error(result, tool))
    keeping = _Keeping(tool, context, read)
    parts = [part for block in result.content async for part in keeping.parts(block)]
    if result.structured_content is not None and not any(isinstance(part, TextPart) for part in parts):
        parts.insert(0, TextPart(text=json.dumps(result.structured_content, ensure_ascii=False)))
    return ToolOutput(parts=tuple(parts or [TextPart(text="(nothing returned)")]))


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
        name = PurePosixPath(urlsplit(contents.uri).path).name or self.tool
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


def _error(result: CallToolResult, tool: str) -> str:
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    return text[:LONGEST_ERROR] or f"{tool} failed and did not say why."


def _filename(name: str, media_type: str) -> str:
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.") or "file"
    return plain if PurePosixPath(plain).suffix else plain + (mimetypes.guess_extension(media_type) or "")
