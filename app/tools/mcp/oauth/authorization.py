"""Whether its owner is signed in at one server: the token, how it is renewed, and who waits for a sign-in."""

import asyncio
import contextlib
import dataclasses
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from app.domain.errors import Denied, NotFound, ToolError, WorkbenchError
from app.domain.tool_settings import HttpTransport, McpGrant, McpServer, Transport
from app.domain.tools import Answer, CallContext, Question, SignInRequest
from app.domain.values import now
from app.late import late, read
from app.tools.http.secret_refs import Vault
from app.tools.mcp.oauth.desk import CALLBACK, CameBack, Desk
from app.tools.mcp.oauth.refusals import Challenge
from app.tools.mcp.states import SignInState
from app.tools.ports import McpServers

with late():
    from app.tools.mcp.oauth import flow as flows
    from app.tools.mcp.oauth import known

log = logging.getLogger(__name__)

MOST_SIGN_INS, WITHIN_SECONDS = 2, 600.0
"""That calls may ask for: a server that refuses every token would ask for one with each call."""
REVOKE_SECONDS = 5
SECRETS = ("refresh_token", "access_token", "client_secret")
EXPIRED = "Nobody signed in while the link was good. Sign in by a new one."
CANCELLED = "The sign-in was broken off."


@dataclass
class SignIn:
    """One that is waited for, through as many links as it takes."""

    ended: "asyncio.Future[Answer]"
    challenge: Challenge
    """What it is for."""
    request: SignInRequest | None = None
    """Where, and for what, once that is known."""
    address: str = ""
    """What the person has to open; empty while there is no link that is good."""
    problem: str = ""
    calls: int = 0
    """How many wait for it."""
    wished: bool = False
    """Whether a person began it, so that it goes on though no call waits."""
    looked_up: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when there is an address, or will be none."""
    task: "asyncio.Task[None] | None" = None


def known_as(server: McpServer) -> tuple[str, str] | None:
    """As what client the server is asked, and for whom."""
    return (server.grant.client_id, server.grant.who) if server.grant is not None else None


class Authorization:
    def __init__(
        self,
        server: Callable[[], McpServer],
        servers: McpServers,
        vault: Callable[[], Vault],
        desk: Desk,
        *,
        changed: Callable[[McpServer | None], None],
        signed_in: Callable[[str], Awaitable[None]],
    ) -> None:
        """`changed` is told of every news, with the server where another one is stored; `signed_in` its name."""
        self._server, self._servers, self._vault, self._desk = server, servers, vault, desk
        self._changed, self._tell = changed, signed_in
        self.current: SignIn | None = None
        """The last sign-in that was begun."""
        self.news = asyncio.Event()
        """Set when somebody has signed in."""
        self._renewing: asyncio.Task[bool] | None = None
        self._asked_by_calls: deque[float] = deque(maxlen=MOST_SIGN_INS)

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
    def state(self) -> SignInState:
        """As a page shows it."""
        going_on = self.current if self.current is not None and not self.current.ended.done() else None
        return SignInState(
            grant=self.grant,
            signed_in=bool(self.token),
            request=going_on.request if going_on is not None and going_on.address else None,
            problem=self.current.problem if self.current is not None else "",
        )

    @property
    def _url(self) -> str:
        transport = self._server().transport
        return transport.url if isinstance(transport, HttpTransport) else ""

    async def fresh(self) -> None:
        """Renew a token that has ended; what goes wrong is told by the server's refusal."""
        grant = self.grant
        if grant is not None and grant.ends_at is not None and grant.ends_at <= now() and self.token:
            await self.renewed(self.token)

    async def let_in(self, refused: Challenge, context: CallContext, tried: set[str]) -> None:
        """Return when the call may be made again: the token was renewed, or its owner has signed in.

        `tried` remembers over one call what was done for it. Raises `ToolError`, `Denied` where nobody signed in.
        """
        if self.token not in ("", refused.token):  # somebody was faster
            return
        if not refused.wants_more and refused.token and "renewal" not in tried:
            tried.add("renewal")
            if await self.renewed(refused.token):
                return
        name = self._server().name
        if "sign-in" in tried:
            raise ToolError(f"The MCP server {name} asks to sign in again right after that was done. Ask its owner.")
        if await self._asked(refused, context) == refused:
            tried.add("sign-in")

    async def begin(self, challenge: Challenge, *, wished: bool = True) -> SignIn:
        """The sign-in with a link that is good, begun where there is none. Raises `ToolError` in words."""
        sign_in = self._going_on(challenge)
        sign_in.wished = sign_in.wished or wished
        if sign_in.task is None or sign_in.task.done():
            sign_in.problem, sign_in.looked_up = "", asyncio.Event()
            sign_in.task = asyncio.create_task(self._through(sign_in), name="sign in at an MCP server")
        await sign_in.looked_up.wait()
        if not sign_in.address:
            raise ToolError(sign_in.problem or CANCELLED)
        return sign_in

    def cancel(self) -> None:
        """Break the sign-in off; the calls that wait for it are told."""
        if self.current is not None and self.current.task is not None:
            self.current.task.cancel()

    async def sign_out(self) -> bool:
        """Forget the tokens; whether the authorization server says that they open nothing any more."""
        self.cancel()
        revoked = False
        if self.grant is not None and self.token:
            with contextlib.suppress(ToolError, TimeoutError):
                async with asyncio.timeout(REVOKE_SECONDS):
                    revoked = await (await self._flow()).revoke()
        await self._forget("refresh_token", "access_token")
        return revoked

    async def use_client(self, client_id: str, secret: str) -> None:
        """Use a client that its owner registered, from the next sign-in on; without an id none is known any more."""
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

    async def _asked(self, refused: Challenge, context: CallContext) -> Challenge:
        """Ask whoever watches the call, until they have signed in; for what, which another call may have begun."""
        sign_in = self._going_on(refused)
        if (sign_in.task is None or sign_in.task.done()) and self._too_often():
            raise ToolError(
                f"The MCP server {self._server().name} asked to sign in {MOST_SIGN_INS} times within "
                f"{WITHIN_SECONDS / 60:g} minutes and refuses the call all the same. Its owner can look at it on the "
                "Tools page."
            )
        sign_in.calls += 1
        try:
            await self.begin(refused, wished=False)
            text = f"{self._server().name} asks you to sign in before it answers."
            question = Question(text=text, asked_by=self._server().name, sign_in=sign_in.request)
            answer = await context.ask(question, sign_in.ended)
        finally:
            sign_in.calls -= 1
            if not sign_in.calls and not sign_in.wished and sign_in.task is not None:
                sign_in.task.cancel()
        if answer.decision != "accept":
            raise Denied(f"Nobody signed in at the MCP server {self._server().name}. {answer.note}".strip())
        return sign_in.challenge

    def _going_on(self, challenge: Challenge) -> SignIn:
        if self.current is None or self.current.ended.done():
            self.current = SignIn(asyncio.get_running_loop().create_future(), challenge)
        return self.current

    def _too_often(self) -> bool:
        times = self._asked_by_calls
        return len(times) == MOST_SIGN_INS and time.monotonic() - times[0] < WITHIN_SECONDS

    async def _through(self, sign_in: SignIn) -> None:
        """From the question where one signs in to the token."""
        try:
            flow = await self._flow(partial(self._ask, sign_in))
            await flow.sign_in(sign_in.challenge)
            await asyncio.shield(self._keep(flow))
        except TimeoutError:
            sign_in.problem = EXPIRED  # whoever waits still may get a new link
        except asyncio.CancelledError:
            self._end(sign_in, CANCELLED)
            raise
        except (ToolError, WorkbenchError) as problem:
            self._end(sign_in, str(problem))
        except Exception as error:
            log.exception("A sign-in failed")
            self._end(sign_in, f"The sign-in failed: {type(error).__name__}.")
        else:
            if sign_in.calls:
                self._asked_by_calls.append(time.monotonic())
            sign_in.ended.set_result(Answer(decision="accept"))
            self.news.set()
            await self._tell(self._server().name)
        finally:
            sign_in.address = ""
            sign_in.looked_up.set()
            self._changed(None)

    def _end(self, sign_in: SignIn, problem: str) -> None:
        """What went wrong before anybody got a link is told to who wanted it, and others may wait on."""
        sign_in.problem = problem
        if sign_in.address and not sign_in.ended.done():
            sign_in.ended.set_result(Answer(decision="decline", note=problem))

    async def _ask(self, sign_in: SignIn, asked: "flows.Asked") -> CameBack:
        sign_in.request, sign_in.address = asked.request, asked.address
        sign_in.looked_up.set()
        self._changed(None)
        return await self._desk.wait(asked.request.server, asked.state)

    async def renewed(self, refused: str) -> bool:
        """Whether there is another token now; raises `ToolError` for what may pass.

        However many ask, it is fetched once, and kept whoever of them is cancelled.
        """
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.create_task(self._renew(refused), name="renew a sign-in")
        return await asyncio.shield(self._renewing)

    async def _renew(self, refused: str) -> bool:
        if self.token != refused:
            return bool(self.token)
        flow = await self._flow()
        if await flow.renew():
            await self._keep(flow)
            return True
        await self._forget("refresh_token", "access_token")
        return False

    async def _flow(self, ask: "flows.Ask | None" = None) -> "flows.Flow":
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

    async def _keep(self, flow: "flows.Flow") -> None:
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
        return f"mcp:{self._server().name}/{secret}"
