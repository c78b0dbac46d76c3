"""Views that tools bring along (MCP Apps): what a tool says of its own, its document, and what a view asks its server.

Heavy: import it late.
"""

import asyncio
import base64
import binascii
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import BlobResourceContents, CallToolResult, Tool
from pydantic import BaseModel, JsonValue, TypeAdapter

from app.domain.apps import LARGEST_VIEW, SCHEME, VIEW_TYPE, domains_of, refused_domains
from app.domain.errors import ToolError
from app.domain.messages import AppPart
from app.domain.tools import EVERYBODY, CallContext, Caller, Progress

if TYPE_CHECKING:
    from app.tools.mcp.connection import Contents

READING_SECONDS = 30
"""For the document of a view."""
TELLING_SECONDS = 2
"""How often a call says that it still reads it, which keeps its time-out from running."""
LARGEST_ANSWER = LARGEST_VIEW
"""Bytes of what a view gets from its server at once, other than by a call."""
Json = dict[str, JsonValue]
_JSON: TypeAdapter[Json] = TypeAdapter(Json)


def view_address(tool: Tool) -> str:
    """The address of the view that the tool brings along; empty for none, or one that is no view's."""
    own, meta = _ui(tool.meta), tool.meta or {}
    address = own.get("resourceUri") or meta.get("ui/resourceUri")
    return address if isinstance(address, str) and address.startswith(SCHEME) else ""


def callers_of(tool: Tool) -> tuple[Caller, ...]:
    """Who may call it; everybody where it does not say."""
    said = _ui(tool.meta).get("visibility")
    return tuple(one for one in EVERYBODY if one in said) if isinstance(said, list) else EVERYBODY


def plain(value: BaseModel) -> Json:
    """What the server sent, as JSON."""
    return _JSON.validate_python(value.model_dump(mode="json", by_alias=True, exclude_none=True))


async def with_view(client: Client, server: str, tool: Tool, result: CallToolResult, context: CallContext) -> AppPart:
    """The view of the tool, its document and what it is given stored; where there is none, the part says why."""
    uri = view_address(tool)
    given = json.dumps({"tool": plain(tool), "result": plain(result)}, ensure_ascii=False).encode(errors="replace")
    kept = await context.keep(given, media_type="application/json", filename="app.json")
    reading = asyncio.create_task(_document(client, uri), name=f"view {uri}")
    try:
        while not (await asyncio.wait({reading}, timeout=TELLING_SECONDS))[0]:
            context.progressed(Progress(done=0, text="Reading its app"))
        document, said = reading.result()
    except ToolError as problem:
        return AppPart(uri=uri, server=server, artifact="", given=kept.artifact, problem=str(problem))
    finally:
        reading.cancel()
    page = await context.keep(document, media_type="text/html", filename="app.html")
    permissions = said.get("permissions")
    return AppPart(
        uri=uri,
        server=server,
        artifact=page.artifact,
        given=kept.artifact,
        domains=domains_of(said.get("csp")),
        refused_domains=refused_domains(said.get("csp")),
        clipboard=isinstance(permissions, dict) and "clipboardWrite" in permissions,
        bordered=said.get("prefersBorder") is not False,
    )


async def _document(client: Client, uri: str) -> tuple[bytes, Json]:
    """The document and its `_meta.ui`. Raises `ToolError`, in words for the person."""
    try:
        async with asyncio.timeout(READING_SECONDS):
            contents = (await client.read_resource(uri)).contents
            if len(contents) != 1:
                raise ToolError(f"The server gave {len(contents)} contents for its app {uri}, where one is expected.")
            document = await asyncio.to_thread(_bytes, contents[0])
            return document, _ui(contents[0].meta) or await _listed(client, uri)
    except TimeoutError:
        raise ToolError(f"The server did not give its app {uri} within {READING_SECONDS} seconds.") from None
    except (MCPError, ValueError, RuntimeError) as error:
        raise ToolError(f"The server did not give its app {uri}: {error}") from None


def _bytes(contents: "Contents") -> bytes:
    if contents.mime_type != VIEW_TYPE:
        kind = contents.mime_type or "of no type"
        raise ToolError(f"Its app {contents.uri} is {kind}, not {VIEW_TYPE}, so it is not shown.")
    if isinstance(contents, BlobResourceContents):
        try:
            document = base64.b64decode(contents.blob, validate=True)
        except binascii.Error:
            raise ToolError(f"Its app {contents.uri} cannot be read: it is no base64.") from None
    else:
        document = contents.text.encode(errors="replace")
    if len(document) > LARGEST_VIEW:
        most = LARGEST_VIEW // 1024**2
        raise ToolError(f"Its app has {len(document) / 1024**2:.1f} MiB; up to {most} MiB are shown.")
    return document


async def _listed(client: Client, uri: str) -> Json:
    """What the server's list of resources says of the view; nothing where it does not name it on its first page."""
    try:
        found = (await client.list_resources()).resources
    except MCPError:
        return {}
    return next((_ui(one.meta) for one in found if str(one.uri) == uri), {})


def _ui(meta: Mapping[str, object] | None) -> Json:
    said = (meta or {}).get("ui")
    return _JSON.validate_python(said) if isinstance(said, dict) else {}


async def asked(client: Client, method: str, params: Json) -> Json:
    """What the server answers to a view; raises `ToolError`, also for a method that views do not have."""
    cursor = params.get("cursor")
    page = cursor if isinstance(cursor, str) else None
    answer: BaseModel
    try:
        async with asyncio.timeout(READING_SECONDS):
            match method:
                case "resources/read":
                    answer = await client.read_resource(str(params.get("uri", "")))
                case "resources/list":
                    answer = await client.list_resources(cursor=page)
                case "resources/templates/list":
                    answer = await client.list_resource_templates(cursor=page)
                case "prompts/list":
                    answer = await client.list_prompts(cursor=page)
                case _:
                    raise ToolError(f"Apps cannot ask for {method}.")
    except TimeoutError:
        raise ToolError(f"The server did not answer within {READING_SECONDS} seconds.") from None
    except (MCPError, ValueError, RuntimeError) as error:
        raise ToolError(f"The server did not answer: {error}") from None
    if await asyncio.to_thread(lambda: len(answer.model_dump_json())) > LARGEST_ANSWER:
        raise ToolError(f"The answer has more than {LARGEST_ANSWER // 1024**2} MiB.")
    return plain(answer)
