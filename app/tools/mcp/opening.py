"""A connection to a server: the only place where the MCP library is asked for one. Heavy: import it late."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client import ClientRequestContext, IncomingMessage, Transport
from mcp.client._transport import TransportStreams
from mcp.client.client import ConnectMode
from mcp.client.extension import advertise
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    Implementation,
    ListRootsResult,
    LoggingMessageNotificationParams,
    Root,
    SamplingMessage,
    TextContent,
    Tool,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import FileUrl, ValidationError

from app.domain.apps import EXTENSION, VIEW_TYPE
from app.domain.errors import WorkbenchError
from app.domain.tool_settings import HttpTransport, McpServer, StdioTransport
from app.domain.tools import Answer, JsonSchema, Question
from app.tools.http.net_guard import refuse_itself
from app.tools.http.trust import usual_trust
from app.tools.mcp.failures import leaves
from app.tools.mcp.launching import has_key, headers, launch
from app.tools.mcp.oauth.bearer import Bearer
from app.tools.mcp.pipes import pipes, windows_pipes
from app.tools.mcp.running_calls import RunningCalls
from app.tools.mcp.server_log import Link, ServerLog

HTTP_SECONDS = 30
"""For everything but the wait for an answer, which the tool's own time-out bounds."""
SSE_SECONDS = 5
"""In which a server over SSE has to answer the handshake."""
NO_MESSAGES_HERE = (400, 404, 405, 406, 415)
"""What servers that speak SSE only answer to a message at the address of their stream."""
MOST_PAGES = 50
MOST_TOOLS = 1_000
REFUSED_HANDSHAKE = (INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION)

USER_REJECTED = -1
"""As the specification's example of a declined sampling request has it."""
ANSWER: JsonSchema = {
    "type": "object",
    "properties": {"answer": {"type": "string", "title": "Answer", "format": "textarea"}},
    "required": ["answer"],
}


@dataclass
class ClientCallbacks:
    """Who we are to a server, and what it may want of us while it is connected."""

    server: McpServer
    version: str
    link: Link
    calls: RunningCalls
    token: Callable[[], str] = str
    """Of whoever is signed in at the server; empty where nobody is."""

    async def elicit(
        self,
        context: ClientRequestContext,  # noqa: ARG002  as the library calls it
        params: ElicitRequestParams,
    ) -> ElicitResult:
        """Ask for the values of a form, or to open an address."""
        log, server = self.link.log, self.server.name
        log.event(f"It asks: {params.message}")
        if isinstance(params, ElicitRequestFormParams):
            question = Question(text=params.message, asked_by=server, form=params.requested_schema)
            return _filled(await self.calls.ask(question), log)
        text = f"{params.message}\n\nOpen this address, do there what it asks for, and accept: {params.url}"
        answer = await self.calls.ask(Question(text=text, asked_by=server))
        return ElicitResult(action=answer.decision)

    async def sample(
        self,
        context: ClientRequestContext,  # noqa: ARG002  as the library calls it
        params: CreateMessageRequestParams,
    ) -> CreateMessageResult | ErrorData:
        """Ask the person to write what the server wants a model to write."""
        self.link.log.event("It asks for a text that a model would write")
        answer = await self.calls.ask(Question(text=_prompt(params), asked_by=self.server.name, form=ANSWER))
        written = answer.values.get("answer")
        if answer.decision != "accept" or not isinstance(written, str):
            return ErrorData(code=USER_REJECTED, message="The user declined to answer")
        return CreateMessageResult(
            role="assistant", content=TextContent(text=written), model="human", stop_reason="endTurn"
        )

    async def roots(self, context: ClientRequestContext) -> ListRootsResult:  # noqa: ARG002  as the library calls it
        """The folder that the server was started in, where one was chosen for it: we have no others to offer."""
        self.link.log.event("It asks for the folders it may work in")
        return ListRootsResult(roots=_roots(self.server))

    async def logged(self, params: LoggingMessageNotificationParams) -> None:
        source = f"{params.logger}: " if params.logger else ""
        text = f"[{params.level}] {source}{params.data}"
        self.link.log.line(text)
        self.calls.printed(text + "\n")

    async def noticed(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self.link.tools_changed()


@asynccontextmanager
async def opened(callbacks: ClientCallbacks) -> AsyncIterator[Client]:
    """A client after its handshake. To be entered and left in one task. Raises whatever went wrong.

    The old handshake comes first: in it servers may ask and log at any time, which a Python server can do in no other
    way; a server that refuses it is asked in the stateless protocol, or over SSE where it takes no messages at all.
    """
    async with AsyncExitStack() as stack:
        client: Client | None
        try:
            client = await stack.enter_async_context(_client(callbacks, "legacy"))
        except Exception as error:
            refused = any(isinstance(leaf, MCPError) and leaf.code in REFUSED_HANDSHAKE for leaf in leaves(error))
            elsewhere = not refused or callbacks.link.http_status == 404  # which the library says as a refusal too
            client = await _opened_over_sse(callbacks, stack) if elsewhere else None
            if client is None and not refused:
                raise
        if client is None:
            callbacks.link.begin_again("It refused the handshake, so it is asked in the stateless protocol")
            client = await stack.enter_async_context(_client(callbacks, "auto"))
        yield client


async def _opened_over_sse(callbacks: ClientCallbacks, stack: AsyncExitStack) -> Client | None:
    """A client of a server from before streamable HTTP; `None` where it is none.

    Found out as the protocol says: https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#backwards-compatibility
    """
    link, transport = callbacks.link, callbacks.server.transport
    refused = link.http_status
    if not isinstance(transport, HttpTransport) or refused not in NO_MESSAGES_HERE:
        return None
    try:
        async with asyncio.timeout(SSE_SECONDS):
            link.begin_again("It takes no messages at this address, so it is asked over SSE")
            return await stack.enter_async_context(_client(callbacks, "legacy", _sse(transport, callbacks)))
    except Exception as error:  # noqa: BLE001  what went wrong first is what is told
        link.log.event(f"It does not speak SSE either: {next(iter(leaves(error)))}")
        link.http_status = refused
        return None


async def all_tools(client: Client) -> list[Tool]:
    """Every tool on every page. Raises `WorkbenchError` for a list that does not end."""
    tools: list[Tool] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor, cache_mode="refresh")
        tools += page.tools
        cursor = page.next_cursor
        if len(tools) > MOST_TOOLS:
            raise WorkbenchError(f"It lists more than {MOST_TOOLS:,} tools.")
        if cursor is None:
            return tools
    raise WorkbenchError(f"Its list of tools does not end after {MOST_PAGES} pages.")


async def listen(client: Client, link: Link) -> None:
    """Hear of changed tools in the stateless protocol, where a server does not tell without being asked."""
    if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return
    try:
        async with client.listen(tools_list_changed=True) as changes:
            async for _ in changes:
                link.tools_changed()
    except (ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError):
        return  # it does not tell; its tools are listed again with the next connection


def about(client: Client) -> str:
    """What the server calls itself, its version and the protocol it speaks."""
    name = client.server_info
    told = f"{name.title or name.name} {name.version}, " if name else ""
    return f"{told}protocol {client.protocol_version}"


def _client(callbacks: ClientCallbacks, mode: ConnectMode, way: Transport | None = None) -> Client:
    return Client(
        way or _transport(callbacks),
        mode=mode,
        client_info=Implementation(name="agent-playground", version=callbacks.version),
        elicitation_callback=callbacks.elicit,
        sampling_callback=callbacks.sample,
        list_roots_callback=callbacks.roots,
        logging_callback=callbacks.logged,
        message_handler=callbacks.noticed,
        log_level="info",
        extensions=[advertise(EXTENSION, {"mimeTypes": [VIEW_TYPE]})],
    )


def _transport(callbacks: ClientCallbacks) -> Transport:
    link = callbacks.link
    match callbacks.server.transport:
        case StdioTransport() as stdio:
            if sys.platform == "win32":
                return windows_pipes(launch(stdio), link)
            return pipes(launch(stdio), link)
        case HttpTransport() as http:
            return _http(http, callbacks)


@asynccontextmanager
async def _http(http: HttpTransport, callbacks: ClientCallbacks) -> AsyncIterator[TransportStreams]:
    client = await _web_client(http, callbacks)
    async with client, streamable_http_client(http.url, http_client=client) as streams:
        yield streams


@asynccontextmanager
async def _sse(http: HttpTransport, callbacks: ClientCallbacks) -> AsyncIterator[TransportStreams]:
    client = await _web_client(http, callbacks)

    def ours(
        headers: dict[str, str] | None = None,  # noqa: ARG001  those are the client's, as are the others
        timeout: httpx2.Timeout | None = None,  # noqa: ARG001
        auth: httpx2.Auth | None = None,  # noqa: ARG001
    ) -> httpx2.AsyncClient:
        return client

    async with sse_client(http.url, httpx_client_factory=ours) as streams:
        yield streams


async def _web_client(http: HttpTransport, callbacks: ClientCallbacks) -> httpx2.AsyncClient:
    await refuse_itself(http.url)
    link, given = callbacks.link, headers(http)

    async def answered(response: httpx2.Response) -> None:
        link.started = True
        if response.request.method == "POST":
            link.http_status = response.status_code if response.status_code >= 400 else None

    return httpx2.AsyncClient(
        headers=given,
        auth=None if has_key(http) else Bearer(callbacks.token),
        verify=await asyncio.to_thread(usual_trust),
        timeout=httpx2.Timeout(HTTP_SECONDS, read=None),
        event_hooks={"response": [answered]},
    )


def _roots(server: McpServer) -> list[Root]:
    folder = server.transport.cwd if isinstance(server.transport, StdioTransport) else ""
    return [Root(uri=FileUrl(Path(folder).expanduser().absolute().as_uri()))] if folder else []


def _filled(answer: Answer, log: ServerLog) -> ElicitResult:
    if answer.decision != "accept":
        return ElicitResult(action=answer.decision)
    try:
        return ElicitResult.model_validate({"action": "accept", "content": answer.values})
    except ValidationError:
        log.event("The answer holds more than plain values, which it cannot be sent")
        return ElicitResult(action="decline")


def _prompt(params: CreateMessageRequestParams) -> str:
    system = [f"(system) {params.system_prompt}"] if params.system_prompt else []
    messages = [f"({message.role}) {_text(message)}" for message in params.messages]
    return "\n\n".join(["Write the answer that a model would give to this:", *system, *messages])


def _text(message: SamplingMessage) -> str:
    return "\n".join(
        part.text if isinstance(part, TextContent) else f"[{part.type}]" for part in message.content_as_list
    )
