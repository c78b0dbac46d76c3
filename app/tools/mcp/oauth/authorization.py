"""A sign-in at one server: who begins it, the link that is out for it, and the calls that wait for it."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from app.domain.errors import Denied, ToolError, WorkbenchError
from app.domain.tool_settings import McpServer
from app.domain.tools import Answer, CallContext, Question, SignInRequest
from app.tools.http.secret_refs import Vault
from app.tools.mcp.oauth.desk import CameBack, Desk
from app.tools.mcp.oauth.refusals import Challenge
from app.tools.mcp.oauth.tokens import Tokens
from app.tools.mcp.states import SignInState
from app.tools.ports import McpServers

if TYPE_CHECKING:
    from app.tools.mcp.oauth.flow import Asked

log = logging.getLogger(__name__)

MOST_SIGN_INS, WITHIN_SECONDS = 2, 600.0
"""That calls may ask for: a server that refuses every token would ask for one with each call."""
CLOSING_SECONDS = 1
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
        self.tokens = Tokens(server, servers, vault, desk, changed=changed)
        self._desk, self._server = desk, server
        self._changed, self._tell = changed, signed_in
        self.current: SignIn | None = None
        """The last sign-in that was begun."""
        self.news = asyncio.Event()
        """Set when somebody has signed in."""
        self._asked_by_calls: deque[float] = deque(maxlen=MOST_SIGN_INS)

    @property
    def state(self) -> SignInState:
        """As a page shows it."""
        going_on = self.current if self.current is not None and not self.current.ended.done() else None
        return SignInState(
            grant=self.tokens.grant,
            signed_in=bool(self.tokens.token),
            request=going_on.request if going_on is not None and going_on.address else None,
            problem=self.current.problem if self.current is not None else "",
        )

    async def let_in(self, refused: Challenge, context: CallContext, tried: set[str]) -> None:
        """Return when the call may be made again: the token was renewed, or its owner has signed in.

        `tried` remembers over one call what was done for it. Raises `ToolError`, `Denied` where nobody signed in.
        """
        if self.tokens.token not in ("", refused.token):  # somebody was faster
            return
        if not refused.wants_more and refused.token and "renewal" not in tried:
            tried.add("renewal")
            if await self.tokens.renewed(refused.token):
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

    async def close(self) -> None:
        """Break it off for good."""
        self.cancel()
        if self.current is not None and self.current.task is not None:
            await asyncio.wait({self.current.task}, timeout=CLOSING_SECONDS)

    async def sign_out(self) -> bool:
        """Forget the tokens; whether the authorization server says that they open nothing any more."""
        self.cancel()
        return await self.tokens.sign_out()

    async def use_client(self, client_id: str, secret: str) -> None:
        """Use a client that its owner registered, from the next sign-in on; without an id none is known any more."""
        self.cancel()
        await self.tokens.use_client(client_id, secret)

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
            flow = await self.tokens.flow(partial(self._ask, sign_in))
            await flow.sign_in(sign_in.challenge)
            await asyncio.shield(self.tokens.keep(flow))
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

    async def _ask(self, sign_in: SignIn, asked: "Asked") -> CameBack:
        sign_in.request, sign_in.address = asked.request, asked.address
        sign_in.looked_up.set()
        self._changed(None)
        return await self._desk.wait(asked.request.server, asked.state)
