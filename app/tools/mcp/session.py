"""Keeps one server connected: one task opens the connection, holds it, closes it, and tries again when it is lost."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from pydantic import JsonValue

from app.domain.errors import Conflict, ToolError, WorkbenchError
from app.domain.messages import AppPart
from app.domain.tool_settings import HttpTransport, McpServer
from app.domain.tools import CallContext, ToolOutput, ToolSpec
from app.domain.values import now
from app.late import late, read
from app.tools.mcp.failures import in_words, loss
from app.tools.mcp.launching import has_key
from app.tools.mcp.oauth.authorization import Authorization, SignIn
from app.tools.mcp.oauth.desk import Desk
from app.tools.mcp.oauth.refusals import Challenge, NotSignedIn, refused
from app.tools.mcp.oauth.tokens import known_as
from app.tools.mcp.running_calls import RunningCalls
from app.tools.mcp.server_log import Clean, Link, ServerLog
from app.tools.mcp.states import (
    WITHHELD,
    Patience,
    ServerState,
    ServerStatus,
    ToolChange,
    resting,
    tool_changes,
    unconnected,
)
from app.tools.mcp.view_server import ViewServer
from app.tools.ports import McpServers

with late():  # they import the MCP library, which takes most of a second: in a thread, with the first server
    from app.tools.mcp import connection as connections
    from app.tools.mcp import opening

if TYPE_CHECKING:
    from mcp import Client

    from app.tools.http.secret_refs import SecretRefs

R = TypeVar("R")

CANCEL_AGAIN_SECONDS = 5
"""A connection that fails at the very moment it is cancelled may swallow that."""


class McpSession:
    """One server from the moment it is added until it is removed."""

    def __init__(
        self,
        server: McpServer,
        *,
        servers: McpServers,
        version: str,
        patience: Patience,
        moved: Callable[[], None],
        refs: "Callable[[], SecretRefs]",
        clean: Clean,
        desk: Desk,
        signed_in: Callable[[str], Awaitable[None]],
    ) -> None:
        """`moved` is called with every change of the status or the tools; for the others see `McpHub`."""
        self._refs = refs
        self._clean = clean
        self._servers = servers
        self._version = version
        self._patience = patience
        self._moved = moved
        self._log = ServerLog(clean)
        self._calls = RunningCalls()
        self.views = ViewServer(self, servers, clean)
        self._connection: connections.Connection | None = None
        self._settled = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._turning = asyncio.Lock()
        self._turns: set[asyncio.Task[None]] = set()
        self._ended = False
        self._state = unconnected(server)
        self._challenge, self._renewed = Challenge(), ""
        self.authorization = Authorization(
            lambda: self.server, servers, lambda: refs().vault, desk, changed=self._known, signed_in=signed_in
        )

    @property
    def server(self) -> McpServer:
        return self._state.server

    @property
    def state(self) -> ServerState:
        return replace(
            self._state, log=self._log.lines(), view_log=self.views.log.lines(), sign_in=self.authorization.state
        )

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """What models may be told of: nothing of a server that is off or was not agreed to as it is now."""
        return tuple(spec for spec in self.agreed if "model" in spec.callers)

    @property
    def agreed(self) -> tuple[ToolSpec, ...]:
        """The tools that somebody agreed to, those for views only among them."""
        return () if self._state.status in WITHHELD else (self.server.seen_tools or ())

    @property
    def own_names(self) -> Mapping[str, str]:
        """By our name, what the server calls its tools; none while it is not connected."""
        return self._connection.listing.own_names if self._connection else {}

    def start(self) -> None:
        """Connect in the background, where its owner agreed to that."""
        if resting(self.server) == "connecting" and self._task is None and not self._ended:
            self._task = asyncio.create_task(self._keep(), name=f"MCP server {self.server.name}")

    async def end(self) -> None:
        """End its process and every call of it, for good."""
        self._ended = True
        await self.authorization.close()
        async with self._turning:
            await self._stop()

    async def _stop(self) -> None:
        task, self._task = self._task, None
        while task is not None and not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=CANCEL_AGAIN_SECONDS)

    async def begin_again(self) -> None:
        """Go on as it is stored: stopped, and started again where it may be, though whoever asked is cancelled."""
        turn = asyncio.create_task(self._begin_again(), name=f"MCP server {self.server.name} begins again")
        self._turns.add(turn)
        turn.add_done_callback(self._turns.discard)
        await asyncio.shield(turn)

    async def _begin_again(self) -> None:
        async with self._turning:
            await self._stop()
            self._connection = None
            self._settled.clear()
            self._show(unconnected(self._servers.find(self.server.name) or self.server))  # as it is only now
            self.start()

    def sealed(self, server: McpServer) -> None:
        """Go on with the same server, of which something is kept otherwise now."""
        self._show(replace(self._state, server=server))

    async def reconnect(self) -> None:
        """Connect at once, whatever it was waiting for."""
        self._log.event("Connecting again was asked for")
        await self.begin_again()

    async def accept_changes(self, seen: Sequence[ToolChange] | None = None) -> None:
        """Agree to the tools as they are listed; raises `Conflict` where they changed again since that was `seen`."""
        connection = self._connection
        if connection is None or not self._state.changes:
            return
        if seen is not None and tuple(seen) != self._state.changes:
            raise Conflict(f"{self.server.name} changed its tools again. Look at what is different now.")
        await self._agree(connection.listing.specs)
        if (listed := self._connection) is not None:  # perhaps they were listed anew meanwhile
            changes = tool_changes(self.server.seen_tools or (), listed.listing.specs)
            self._show(replace(self._state, status="changed" if changes else "ready", changes=changes))

    async def call(self, name: str, arguments: Mapping[str, JsonValue], context: CallContext) -> ToolOutput:
        """Raises `ToolError`: of the tool itself, or because the server is not there or wants somebody to sign in."""
        output = await self.signed_in(context, lambda connection: connection.call(name, arguments, context))
        for part in output.parts:
            if isinstance(part, AppPart):
                await self.views.note_asked(part)
        return output

    async def signed_in(self, context: CallContext, call: "Callable[[connections.Connection], Awaitable[R]]") -> R:
        """What the call over the connection gives, made again once somebody has signed in. Raises like `call`."""
        tried: set[str] = set()
        while True:
            try:
                return await self._called(context, call)
            except NotSignedIn as refusal:
                await self.authorization.let_in(refusal.challenge, context, tried)

    async def _called(self, context: CallContext, call: "Callable[[connections.Connection], Awaitable[R]]") -> R:
        await self.authorization.tokens.fresh()
        connection = await self.connected()
        with self._calls.running(context), refused() as refusal:
            try:
                return await call(connection)
            except ToolError as error:
                if refusal.challenge is None:
                    raise
                raise NotSignedIn(self.server.name, refusal.challenge) from error

    async def sign_in(self, scopes: Sequence[str]) -> SignIn:
        """A sign-in that a person wishes for, with a link that is good. Raises `ToolError`, `WorkbenchError`."""
        if not isinstance(self.server.transport, HttpTransport) or has_key(self.server.transport):
            raise WorkbenchError(f"Nobody signs in at {self.server.name}: it is no address, or is sent a key of yours.")
        return await self.authorization.begin(Challenge.for_scopes(scopes) if scopes else self._challenge)

    async def connected(self) -> "connections.Connection":
        """The connection, waited for a little where it is being made."""
        if self._connection is not None and self._connection.link.lost:
            self._settled.clear()  # the task that holds it comes to know of that a moment later
        if not self._settled.is_set() and (seconds := self._patience.for_call(self._state)):
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._settled.wait()
        if self._state.status == "sign-in":
            raise NotSignedIn(self.server.name, self._challenge)
        if self._connection is None or self._state.status != "ready":
            not_connected = f"is not connected. {self._state.problem or 'It is being started'}"
            raise ToolError(f"The MCP server {self.server.name} {WITHHELD.get(self._state.status, not_connected)}.")
        return self._connection

    async def _keep(self) -> None:
        await asyncio.to_thread(read, opening, connections)
        failures, me = 0, asyncio.current_task()
        while self._task is me:
            began, link = time.monotonic(), Link(self._log)
            self.authorization.news.clear()
            self._show(replace(self._state, status="connecting", retry_at=None))
            with refused() as refusal:
                try:
                    await self._hold(link)
                    problem = loss(self.server, link)
                except Exception as error:  # noqa: BLE001  a server and its transport may fail in any way
                    problem = in_words(error, self.server, link, seconds=self._patience.handshake)
            if self._task is not me:
                return
            if refusal.challenge is not None and await self._let_in(refusal.challenge):
                continue
            failures = 1 if time.monotonic() - began > self._patience.settled else failures + 1
            await self._rest(problem, self._patience.before_retry(failures))

    async def _let_in(self, challenge: Challenge) -> bool:
        """Whether to connect once more, as the owner who is signed in; waits until they are."""
        token = self.authorization.tokens.token
        if token and challenge.token != token:
            return True
        if token and token != self._renewed:
            try:
                if await self.authorization.tokens.renewed(token):
                    self._renewed = self.authorization.tokens.token
                    return True
            except ToolError:  # it may pass, and is tried again with the connection
                return False
        self._challenge, self._connection = challenge, None
        self._log.event("It asks its owner to sign in")
        self._settled.clear()
        self._show(replace(self._state, status="sign-in", problem="", retry_at=None))
        await self.authorization.news.wait()
        return True

    async def _hold(self, link: Link) -> None:
        """Returns when the connection is lost; raises what stood in the way of it."""
        self._log.event("Connecting")
        opened_with = await self._refs().filled(self.server)
        await self.authorization.tokens.fresh()
        tokens = self.authorization.tokens
        callbacks = opening.ClientCallbacks(opened_with, self._version, link, self._calls, lambda: tokens.token)
        unseen = self.server.seen_tools is None
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(self._patience.handshake):
                client = await stack.enter_async_context(opening.opened(callbacks))
                await self._list(client, link, agreed=unseen)
            listed = time.monotonic()
            stack.callback(asyncio.create_task(opening.listen(client, link), name="changes of MCP tools").cancel)
            while await link.changed():
                settling = time.monotonic() - listed < self._patience.settling
                async with asyncio.timeout(self._patience.handshake):
                    await self._list(client, link, agreed=unseen and settling)
                await asyncio.sleep(self._patience.listing)

    def _cleaned(self, spec: ToolSpec) -> ToolSpec:
        """As it is stored and shown: a server may repeat in its descriptions what it was given."""
        written = spec.model_dump_json()
        cleaned = self._clean(written)
        return spec if cleaned == written else ToolSpec.model_validate_json(cleaned)

    async def _rest(self, problem: str, seconds: float) -> None:
        problem = self._clean(problem)
        status: ServerStatus = "waiting" if self._connection else "failed"
        self._connection = None
        self._settled.clear()
        self._log.event(f"{problem.splitlines()[0]} It is tried again in {seconds:g} s.")
        retry_at = now() + timedelta(seconds=seconds)
        self._show(replace(self._state, status=status, problem=problem, retry_at=retry_at))
        await asyncio.sleep(seconds)

    async def _list(self, client: "Client", link: Link, *, agreed: bool) -> None:
        """List the tools; when they are not as they were agreed to, they are withheld."""
        listing = connections.listing_of(self.server.name, await opening.all_tools(client))
        listing = replace(listing, specs=tuple(map(self._cleaned, listing.specs)))
        if agreed:
            await self._agree(listing.specs)
        changes = tool_changes(self.server.seen_tools or (), listing.specs)
        self._connection = connections.Connection(self.server, client, link, listing)
        self._log.event(f"{len(listing.specs)} tools listed{', not as they were agreed to' if changes else ''}")
        status: ServerStatus = "changed" if changes else "ready"
        about = self._clean(opening.about(client))
        told = ServerState(self.server, status, tools=listing.specs, about=about, changes=changes, pid=link.pid)
        self._show(told)
        self._settled.set()

    async def _agree(self, tools: tuple[ToolSpec, ...]) -> None:
        stored = await self._servers.change(
            self.server.name, lambda server: server.model_copy(update={"seen_tools": tools})
        )
        self._state = replace(self._state, server=stored)

    def _known(self, stored: McpServer | None) -> None:
        if stored is not None and self._connection is not None and known_as(stored) != known_as(self.server):
            self._connection.link.lose()  # servers end what was begun by somebody else
        self._show(self._state if stored is None else replace(self._state, server=stored))

    def _show(self, state: ServerState) -> None:
        self._state = state
        self._moved()
