"""The MCP servers that somebody added, as one source of tools."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import JsonValue

from app.domain.apps import AppConsent
from app.domain.errors import Conflict, NotFound, ToolError
from app.domain.tool_settings import McpServer, Transport
from app.domain.tools import CallContext, ToolOutput, ToolSpec, canonical_name
from app.late import late
from app.tools.mcp.naming import checked_server_name
from app.tools.mcp.oauth.desk import CameBack, Desk
from app.tools.mcp.server_log import Clean, unchanged
from app.tools.mcp.states import Finding, Patience, ServerState, ToolChange
from app.tools.ports import McpServers, RunnableTool

if TYPE_CHECKING:
    from app.tools.http.secret_refs import SecretRefs
    from app.tools.mcp.oauth.authorization import SignIn
    from app.tools.mcp.view_server import ViewServer

with late():
    from app.tools.mcp import doctor
    from app.tools.mcp import session as sessions


class McpHub:
    """Every server in a session of its own; nothing is started before its owner agreed to the exact command."""

    title = "MCP servers"

    def __init__(
        self,
        servers: McpServers,
        *,
        version: str,
        patience: Patience | None = None,
        refs: "Callable[[], SecretRefs]",
        clean: Clean = unchanged,
        origin: Callable[[], str] = str,
    ) -> None:
        """`version` is the app's, which servers are told; `refs` keeps the secrets of servers where keys are kept;
        `clean` takes the known ones out of what servers say; `origin` is that of the app's pages, empty without any.
        """
        self._refs = refs
        self._clean = clean
        self._servers = servers
        self._version = version
        self._patience = patience or Patience()
        self._sessions: dict[str, sessions.McpSession] = {}
        self._desk = Desk(origin, self._patience.link)
        self.on_signed_in: list[Callable[[str], Awaitable[None]]] = []
        """Told the name of each server at which somebody has signed in."""
        self.revision = 0
        """Goes up with every change of a status or a tool."""

    async def start(self) -> None:
        """Connect the servers that are switched on and agreed to, in the background."""
        for server in self._servers.all():
            self._keep(server).start()

    async def close(self) -> None:
        """End every server."""
        await asyncio.gather(*(session.end() for session in self._sessions.values()))

    def states(self) -> tuple[ServerState, ...]:
        """Of every server, by name."""
        return tuple(self._sessions[name].state for name in sorted(self._sessions, key=str.casefold))

    def tools(self) -> Mapping[str, RunnableTool]:
        """The tools that were agreed to, also of a server that is just being connected."""
        return {
            spec.name: McpTool(spec, session)
            for session in sorted(self._sessions.values(), key=lambda one: one.server.name.casefold())
            for spec in session.tools
        }

    def hold(self) -> Callable[[], None]:
        """Nothing has to be kept: a tool calls its server as it is connected now."""
        return lambda: None

    async def add(self, server: McpServer) -> None:
        """Store a server; it is started once it is agreed to. Raises `Conflict`, or `WorkbenchError` for its name."""
        checked_server_name(server.name)
        for name in self._sessions:
            if canonical_name(name).casefold() == canonical_name(server.name).casefold():
                raise Conflict(f"There is an MCP server {name!r} already. Choose another name.")
        refs = self._refs()
        sealed = await refs.transport(server.transport)
        fresh = server.model_copy(update={"transport": sealed, "consented": "", "seen_tools": None})
        async with refs.storing(sealed, given=server.transport):
            stored = await self._servers.create(fresh)
        self._keep(stored)
        self._moved()

    async def remove(self, name: str) -> None:
        """Forget the server and end it. Where something of it cannot be forgotten, it goes on, to be removed again."""
        session = self._session(name)
        await session.authorization.close()
        await session.authorization.tokens.forget()
        await self._refs().forget(session.server.transport.model_dump_json())
        await self._servers.delete(name)
        try:
            await session.end()
        finally:
            self._sessions.pop(name, None)
            self._moved()

    async def enable(self, name: str, enabled: bool) -> None:
        await self._update(name, lambda server: server.model_copy(update={"enabled": enabled}))

    async def consent(self, name: str, seen: Transport | None = None) -> None:
        """Agree to the command or address, and connect. Raises `Conflict` where it is not the one that was `seen`."""

        def consented(server: McpServer) -> McpServer:
            # As it is stored: the session comes to know of a change only once it has stopped what ran before.
            if seen is not None and seen.digest != server.transport.digest:
                raise Conflict(f"Somebody changed what {name} starts or asks. Look at it as it is now.")
            return server.model_copy(update={"consented": server.transport.digest})

        await self._update(name, consented)

    async def change(self, server: McpServer, seen: Transport | None = None) -> None:
        """Take over the transport; another one has to be agreed to again. Whether it is on is for `enable` to say.

        Raises `Conflict` where it is not the transport any more that was `seen`.
        """
        session = self._session(server.name)
        _check_unchanged(session.server, seen)
        if server.transport != session.server.transport:
            await session.authorization.tokens.moved(server.transport)
        refs, before = self._refs(), session.server.transport.model_dump_json()
        transport = await refs.transport(server.transport)
        settings: dict[str, object] = {"transport": transport}
        if transport.digest != session.server.transport.digest:
            settings["apps"] = AppConsent()  # it is another server
        async with refs.storing(transport, given=server.transport):
            await self._servers.change(
                server.name, lambda stored: _check_unchanged(stored, seen).model_copy(update=settings)
            )
        await session.begin_again()
        await refs.forget(before, transport.model_dump_json())

    async def seal(self) -> bool:
        """Keep where keys are kept what an earlier version stored in plaintext; whether there was something.

        Each key is stored before its server forgets it, and no connection ends. Where that cannot be for good, or would
        break it, the server stays as it is. Raises `StorageError`.
        """
        sealed = False
        for session in tuple(self._sessions.values()):
            name, before = session.server.name, session.server.transport
            refs = self._refs().of_stored(f"the MCP server {name}")
            if (after := await refs.transport(before)) == before:
                continue
            written = ""
            with contextlib.suppress(NotFound):  # somebody removed it meanwhile
                stored = await self._servers.change(name, partial(_sealed_as, before=before, after=after))
                written = stored.transport.model_dump_json()
                if stored.transport == after:
                    session.sealed(stored)
                    sealed = True
            await refs.forget(after.model_dump_json(), written)
        return sealed

    async def accept_changes(self, name: str, seen: Sequence[ToolChange] | None = None) -> None:
        """Agree to the tools as they are listed. Raises `Conflict` where they changed again since that was `seen`.

        A server could show one description to a person, and have another one agreed to.
        """
        await self._session(name).accept_changes(seen)

    async def reconnect(self, name: str) -> None:
        """Connect at once, though it is connected or waits for its next try."""
        await self._session(name).reconnect()

    async def sign_in(self, name: str, scopes: Sequence[str] = ()) -> "SignIn":
        """The sign-in at the server that goes on, with a link that is good, begun for these where there is none.

        Raises `NotFound`; `ToolError` or `WorkbenchError` where nobody can sign in there.
        """
        return await self._session(name).sign_in(scopes)

    def cancel_sign_in(self, name: str) -> None:
        """Break it off: its link is good no more, and calls that wait for it are told."""
        self._session(name).authorization.cancel()

    async def sign_out(self, name: str) -> bool:
        """Forget the tokens of the server; whether they were revoked where one signed in."""
        session = self._session(name)
        revoked = await session.authorization.sign_out()
        await session.reconnect()
        return revoked

    async def use_client(self, name: str, client_id: str, secret: str) -> None:
        """Sign in as a client that its owner registered; with an empty id as one that the app registers."""
        session = self._session(name)
        await session.authorization.use_client(client_id, secret)
        await session.reconnect()

    @property
    def callback(self) -> str:
        """Where browsers come back to from a sign-in."""
        return self._desk.address

    def take_sign_in(self, came: CameBack) -> str:
        """The server whose sign-in waited for what a browser brought back, empty where none did; once for a `state`."""
        return self._desk.take(came)

    async def _signed_in(self, name: str) -> None:
        for tell in self.on_signed_in:
            await tell(name)

    async def allow_apps(
        self, name: str, allowed: Collection[str], *, clipboard: bool = False, evaluates: bool = False
    ) -> None:
        """Let the views of the server reach those origins out of what they asked for, and no others."""
        session = self._session(name)
        names = tuple(one for one in session.server.apps.asked.names if one in allowed)
        await session.views.change({"allowed": names, "clipboard": clipboard, "evaluates": evaluates})

    def app_server(self, name: str) -> "ViewServer | None":
        """What the views of the server talk to; `None` where there is no such server any more."""
        session = self._sessions.get(name)
        return session.views if session else None

    async def doctor(self, name: str) -> AsyncIterator[Finding]:
        """What works and what does not, step by step, tried over a connection of its own."""
        session, seconds, refs = self._session(name), self._patience.handshake, self._refs()
        with contextlib.suppress(ToolError):  # what is wrong is found out below
            await session.authorization.tokens.fresh()
        examined = doctor.examined(
            session.server, self._version, seconds=seconds, refs=refs, token=lambda: session.authorization.tokens.token
        )
        async for finding in examined:
            yield replace(finding, text=self._clean(finding.text))

    async def _update(self, name: str, change: Callable[[McpServer], McpServer]) -> None:
        session = self._session(name)
        await self._servers.change(name, change)
        await session.begin_again()

    def _session(self, name: str) -> "sessions.McpSession":
        if name not in self._sessions:
            raise NotFound(f"There is no MCP server {name!r}.")
        return self._sessions[name]

    def _keep(self, server: McpServer) -> "sessions.McpSession":
        session = sessions.McpSession(
            server,
            servers=self._servers,
            version=self._version,
            patience=self._patience,
            moved=self._moved,
            refs=self._refs,
            clean=self._clean,
            desk=self._desk,
            signed_in=self._signed_in,
        )
        self._sessions[server.name] = session
        return session

    def _moved(self) -> None:
        self.revision += 1


def _check_unchanged(server: McpServer, seen: Transport | None) -> McpServer:
    if seen is not None and server.transport != seen:
        raise Conflict(f"{server.name} was changed meanwhile. Open it again.")
    return server


def _sealed_as(stored: McpServer, *, before: Transport, after: Transport) -> McpServer:
    """The server, where nobody changed it meanwhile; it is the one that was agreed to."""
    if stored.transport != before:
        return stored
    consented = after.digest if stored.consented == before.digest else stored.consented
    return stored.model_copy(update={"transport": after, "consented": consented})


@dataclass(frozen=True)
class McpTool:
    """A tool of a server."""

    spec: ToolSpec
    session: "sessions.McpSession"

    @property
    def label(self) -> str:
        return self.session.views.label_of(self.spec.name)

    async def run(self, arguments: Mapping[str, JsonValue], context: CallContext) -> ToolOutput:
        """Raises `ToolError`. Cancelling it cancels the call at the server."""
        return await self.session.call(self.spec.name, arguments, context)
