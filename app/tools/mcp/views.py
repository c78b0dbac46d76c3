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
from app.tools.mcp.oauth.refusals import refused

if TYPE_CHECKING:
    from app.tools.mcp.connection import Contents

READING_SECONDS = 30
"""For the document of a view, once its call is over."""
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


class Reading:
    """The view of a tool, read while the tool is called, so that the call has it however it ends."""

    def __init__(self, client: Client, server: str, tool: Tool, context: CallContext) -> None:
        self._tool, self._context = tool, context
        self._view = AppPart(uri=view_address(tool), server=server, artifact="")
        self._task = asyncio.create_task(self._read(client), name=f"view {self._view.uri}")

    async def given(self, result: CallToolResult) -> AppPart:
        """The view with what the call returned; where there is no document, it says why.

        It is waited for, which is no time of the call.
        """
        for _ in range(READING_SECONDS // TELLING_SECONDS):
            if (await asyncio.wait({self._task}, timeout=TELLING_SECONDS))[0]:
                view = self._task.result()
                break
            self._context.progressed(Progress(done=0, text="Reading its app"))
        else:
            words = f"The server did not give its app {self._view.uri} within {READING_SECONDS} seconds."
            view = self._view.model_copy(update={"problem": words})
        written = json.dumps({"tool": plain(self._tool), "result": plain(result)}, ensure_ascii=False)
        content = written.encode(errors="replace")
        kept = await self._context.keep(content, media_type="application/json", filename="app.json")
        view = view.model_copy(update={"given": kept.artifact})
        self._context.bring(view)
        return view

    def end(self) -> None:
        """Nobody waits for it any more."""
        self._task.cancel()
        if self._task.done() and not self._task.cancelled():
            self._task.exception()  # of a call that failed too: that is what is told

    async def _read(self, client: Client) -> AppPart:
        try:
            with refused():  # a refusal of the document is none of the call, which would be made again
                document, said = await _document(client, self._view.uri)
        except ToolError as problem:
            return self._view.model_copy(update={"problem": str(problem)})
        page = await self._context.keep(document, media_type="text/html", filename="app.html")
        permissions = said.get("permissions")
        view = AppPart(
            uri=self._view.uri,
            server=self._view.server,
            artifact=page.artifact,
            domains=domains_of(said.get("csp")),
            refused_domains=refused_domains(said.get("csp")),
            clipboard=isinstance(permissions, dict) and "clipboardWrite" in permissions,
            bordered=said.get("prefersBorder") is not False,
        )
        self._context.bring(view)
        return view


async def _document(client: Client, uri: str) -> tuple[bytes, Json]:
    """The document and its `_meta.ui`. Raises `ToolError`, in words for the person."""
    try:
        contents = (await client.read_resource(uri)).contents
        if len(contents) != 1:
            raise ToolError(f"The server gave {len(contents)} contents for its app {uri}, where one is expected.")
        document = await asyncio.to_thread(_bytes, contents[0])
        return document, _ui(contents[0].meta) or await _listed(client, uri)
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
