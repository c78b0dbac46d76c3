"""What is kept of one server's sign-in: its tokens with the keys, the rest with the server; renewed and given back."""

import asyncio
import contextlib
import dataclasses
import hashlib
from collections.abc import Callable

from app.domain.errors import NotFound, ToolError
from app.domain.tool_settings import HttpTransport, McpGrant, McpServer, Transport
from app.domain.values import now
from app.late import late, read
from app.tools.http.secret_refs import Vault
from app.tools.mcp.oauth.desk import CALLBACK, Desk
from app.tools.ports import McpServers

with late():
    from app.tools.mcp.oauth import flow as flows
    from app.tools.mcp.oauth import known

REVOKE_SECONDS = 5
SECRETS = ("refresh_token", "access_token", "client_secret")


def known_as(server: McpServer) -> tuple[str, str] | None:
    """As what client the server is asked, and for whom."""
    return (server.grant.client_id, server.grant.who) if server.grant is not None else None


class Tokens:
    def __init__(
        self,
        server: Callable[[], McpServer],
        servers: McpServers,
        vault: Callable[[], Vault],
        desk: Desk,
        *,
        changed: Callable[[McpServer | None], None],
    ) -> None:
        """`changed` is told of every news, with the server where another one is stored."""
        self._server, self._servers, self._vault, self._desk = server, servers, vault, desk
        self._changed = changed
        self._renewing: asyncio.Task[bool] | None = None
        self._changing = asyncio.Lock()
        """Held so that a renewal stores nothing behind a sign-out: what it brings is forgotten, too."""

    @property
    def grant(self) -> McpGrant | None:
        """What is known for the server's present address."""
        grant = self._server().grant
        return grant if grant is not None and grant.url == self._url else None

    @property
    def token(self) -> str:
        """Of the present sign-in; empty where there is none."""
        return self._secret("access_token") if self.grant else ""

    @property
    def _url(self) -> str:
        transport = self._server().transport
        return transport.url if isinstance(transport, HttpTransport) else ""

    async def fresh(self) -> None:
        """Renew a token that has ended; what goes wrong is told by the server's refusal."""
        grant = self.grant
        if grant is not None and grant.ends_at is not None and grant.ends_at <= now() and self.token:
            await self.renewed(self.token)

    async def renewed(self, refused: str) -> bool:
        """Whether there is another token now; raises `ToolError` for what may pass.

        However many ask, it is fetched once, and kept whoever of them is cancelled.
        """
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.create_task(self._renew(refused), name="renew a sign-in")
        return await asyncio.shield(self._renewing)

    async def _renew(self, refused: str) -> bool:
        async with self._changing:
            if self.token != refused:
                return bool(self.token)
            flow = await self.flow()
            if await flow.renew():
                await self.keep(flow)
                return True
            await self._forget("refresh_token", "access_token")
            return False

    async def sign_out(self) -> bool:
        """Forget the tokens; whether the authorization server says that they open nothing any more."""
        async with self._changing:
            revoked = await self._revoked()
            await self._forget("refresh_token", "access_token")
            if self.grant is not None:
                nobody = {"who": "", "scope": "", "ends_at": None}
                await self._store(self.grant.model_copy(update=nobody))
            return revoked

    async def _revoked(self) -> bool:
        if self.grant is not None and self.token:
            with contextlib.suppress(ToolError, TimeoutError):
                async with asyncio.timeout(REVOKE_SECONDS):
                    return await (await self.flow()).revoke()
        return False

    async def use_client(self, client_id: str, secret: str) -> None:
        """Use a client that its owner registered, from the next sign-in on; without an id none is known any more."""
        async with self._changing:
            await self._forget(*SECRETS)
            if client_id and secret:
                await self._vault().keep(self._name_of("client_secret"), secret)
            grant = McpGrant(url=self._url, client_id=client_id, by_hand=True) if client_id else None
            await self._store(grant)

    async def forget(self) -> None:
        """Sign out, and forget the client as well."""
        await self.sign_out()
        await self._forget(*SECRETS)

    async def moved(self, transport: Transport) -> None:
        """Where the server is to be another one, nothing of this one is left for it."""
        if not isinstance(transport, HttpTransport) or transport.url != self._url:
            await self.forget()

    async def flow(self, ask: "flows.Ask | None" = None) -> "flows.Flow":
        """A way through OAuth that begins with what is known. Raises `ToolError` where nobody could come back."""
        if ask is not None and not self._desk.address:
            raise ToolError(f"Open Agent Playground and sign in at {self._server().name} on its Tools page.")
        await asyncio.to_thread(read, flows, known)
        await self._vault().ready()
        secrets = known.Secrets(**{name: self._secret(name) for name in SECRETS})
        server = self._server()
        redirect_uri = self._desk.address or f"http://127.0.0.1{CALLBACK}"
        return flows.Flow(
            server.name, self._url, self.grant, secrets, redirect_uri=redirect_uri, ask=ask or flows.no_one
        )

    async def keep(self, flow: "flows.Flow") -> None:
        """Store what came of it. Raises `StorageError`."""
        secrets = dataclasses.asdict(flow.secrets)
        for name in SECRETS:
            if value := secrets[name]:
                await self._vault().keep(self._name_of(name), value)
            else:
                await self._forget(name)
        await self._store(flow.grant)

    async def _store(self, grant: McpGrant | None) -> None:
        with contextlib.suppress(NotFound):  # somebody removed the server meanwhile
            name = self._server().name
            self._changed(await self._servers.change(name, lambda one: one.model_copy(update={"grant": grant})))

    async def _forget(self, *names: str) -> None:
        for name in names:
            await self._vault().forget(self._name_of(name))
        self._changed(None)

    def _secret(self, name: str) -> str:
        return self._vault().values().get(self._name_of(name), "")

    def _name_of(self, secret: str) -> str:
        """With the address, so that no token of another one is ever found, whatever backup is brought back."""
        return f"mcp:{self._server().name}-{hashlib.sha256(self._url.encode()).hexdigest()[:8]}/{secret}"
