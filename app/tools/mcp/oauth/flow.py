"""The MCP library's way through OAuth, with what it leaves out. Heavy: import it late.

Left out by mcp 2.3: to know a token's end and where to renew it after a restart, to look whether the registered address
to come back to and the registered scope still fit, to refuse who does not offer S256, to tell why a person was sent
back with an error, and to revoke. Some of its names here are private, so it is pinned below its next minor version, and
`tests/tools/mcp/oauth/test_library.py` fails once it does otherwise.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.client.auth.utils import extract_scope_from_www_auth
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientMetadata,
    OAuthMetadata,
    ProtectedResourceMetadata,
    TokenEndpointAuthMethod,
)
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import LATEST_PROTOCOL_VERSION
from pydantic import AnyHttpUrl, AnyUrl, ValidationError

from app.domain.errors import ToolError
from app.domain.tool_settings import McpGrant
from app.domain.tools import SignInRequest
from app.tools.mcp.oauth.desk import CameBack, words
from app.tools.mcp.oauth.known import Known, Secrets, who
from app.tools.mcp.oauth.reachable import Reachable, send, web_client
from app.tools.mcp.oauth.refusals import Challenge

CLIENT_NAME = "Agent Playground"
LONGEST_ADDRESS = 4_000
"""Characters: browsers take more, and nobody reads so many scopes."""
# It tells of every sign-in that is declined with a traceback, as if that were a fault; what went wrong is told by us.
logging.getLogger("mcp.client.auth").setLevel(logging.CRITICAL)


@dataclass(frozen=True)
class Asked:
    """What a person has to open, and what to tell them before."""

    address: str
    state: str
    request: SignInRequest


Ask = Callable[[Asked], Awaitable[CameBack]]


class SignInDeclined(ToolError):
    """The authorization server, or the person at it, said no."""


async def no_one(_asked: Asked) -> CameBack:
    """Where no browser is to be opened."""
    raise ToolError("This needs a sign-in.")


class Flow(OAuthClientProvider):
    """One way through OAuth for one server; `grant` and `secrets` are what is known, and then what came of it."""

    def __init__(
        self,
        server: str,
        url: str,
        grant: McpGrant | None,
        secrets: Secrets,
        *,
        redirect_uri: str,
        ask: Ask = no_one,
    ) -> None:
        """`server` is its name, `url` its address; `redirect_uri` is where the browser is to come back to."""
        metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(redirect_uri)], client_name=CLIENT_NAME)
        super().__init__(url, metadata, Known(grant, secrets), self._show, self._ask_person)
        self.context.protocol_version = LATEST_PROTOCOL_VERSION
        self._server, self._url, self._redirect_uri, self._known = server, url, redirect_uri, secrets
        self._before, self._ask, self._address, self._who = grant, ask, "", grant.who if grant else ""
        self._reachable = Reachable(url)

    async def sign_in(self, challenge: Challenge) -> None:
        """Find out where, register where that is needed, ask the person, fetch the tokens. Raises `ToolError`.

        The library would make the request once more that was refused; here it is only told how it was.
        """
        request = httpx2.Request(
            "POST", self._url, headers={MCP_PROTOCOL_VERSION_HEADER: self.context.protocol_version or ""}
        )
        headers = {"WWW-Authenticate": challenge.header} if challenge.header else {}
        refused = httpx2.Response(challenge.status, headers=headers, request=request)
        if not self._client_fits(extract_scope_from_www_auth(refused)):
            self.context.storage = Known(self._before, self._known, with_client=False)
        try:
            async with await web_client(self._reachable) as http:
                await self._driven(request, refused, http)
        except (OAuthFlowError, OAuthRegistrationError, OAuthTokenError, ValidationError) as error:
            raise ToolError(f"One cannot sign in for {self._server}: {words(str(error))}") from None

    async def _driven(self, request: httpx2.Request, refused: httpx2.Response, http: httpx2.AsyncClient) -> None:
        flow = self.async_auth_flow(request)
        try:
            sent, answer = await anext(flow), refused
            while (sent := await flow.asend(answer)) is not request:
                if sent.method == "POST":
                    await self._check()
                answer = await send(http, sent)
        finally:
            await flow.aclose()

    async def renew(self) -> bool:
        """Fetch a new access token without the person; whether that was allowed. Raises `ToolError` for what may pass.

        The library would ask the MCP server itself for it, since it remembers no other address over a restart.
        """
        before = self._before
        if before is None or not before.token_endpoint or not self._known.refresh_token:
            return False
        await self._initialize()
        self.context.current_tokens = Known(before, self._known).tokens
        self.context.oauth_metadata = OAuthMetadata.model_validate(
            {"issuer": before.issuer, "authorization_endpoint": before.issuer, "token_endpoint": before.token_endpoint}
        )
        self.context.protected_resource_metadata = ProtectedResourceMetadata(
            resource=AnyHttpUrl(before.resource or self._url), authorization_servers=[AnyHttpUrl(before.issuer)]
        )
        async with await web_client(self._reachable) as http:
            try:
                answer = await send(http, await self._refresh_token())
            except OAuthTokenError:  # as such a client it cannot be asked
                return False
        if answer.status_code == 429 or answer.status_code >= 500:
            raise ToolError(f"{before.host} cannot renew the sign-in now: it answered {answer.status_code}. Try later.")
        return await self._handle_refresh_response(answer)

    async def revoke(self) -> bool:
        """Whether the authorization server says that the tokens open nothing any more. Raises `ToolError`."""
        before, known = self._before, self._known
        if before is None or not before.revocation_endpoint:
            return False
        await self._initialize()
        revoked = []
        async with await web_client(self._reachable) as http:
            for kind, token in (("refresh_token", known.refresh_token), ("access_token", known.access_token)):
                if token:
                    form = {"token": token, "token_type_hint": kind, "client_id": before.client_id}
                    data, headers = self.context.prepare_token_auth(form, {})
                    request = httpx2.Request("POST", before.revocation_endpoint, data=data, headers=headers)
                    revoked.append((await send(http, request)).status_code == 200)
        return bool(revoked) and all(revoked)

    @property
    def secrets(self) -> Secrets:
        tokens, client = self.context.current_tokens, self.context.client_info
        return Secrets(
            access_token=tokens.access_token if tokens else "",
            refresh_token=(tokens.refresh_token or "") if tokens else "",
            client_secret=(client.client_secret or "") if client else "",
        )

    @property
    def grant(self) -> McpGrant:
        """What holds after `sign_in` or `renew`."""
        tokens, client, found = self.context.current_tokens, self.context.client_info, self.context.oauth_metadata
        if tokens is None or client is None or found is None:
            raise ToolError(f"Nobody is signed in for {self._server}.")
        ends, before = self.context.token_expiry_time, self._before
        fresh = McpGrant(
            url=self._url,
            issuer=str(found.issuer),
            client_id=client.client_id,
            by_hand=bool(before and before.by_hand and before.client_id == client.client_id),
            auth_method=client.token_endpoint_auth_method or "none",
            redirect_uri=self._redirect_uri,
            client_scope=client.scope or "",
            resource=self.context.get_resource_url(),
            token_endpoint=str(found.token_endpoint),
            revocation_endpoint=str(found.revocation_endpoint or ""),
            host=urlsplit(self._address).netloc,
            scope=tokens.scope or "",
            who=self._who,
            ends_at=_moment(ends),
        )
        if self._address or before is None:
            return fresh
        kept = {"host": before.host, "redirect_uri": before.redirect_uri}  # renewed: nobody went anywhere
        return fresh.model_copy(update=kept | {"revocation_endpoint": before.revocation_endpoint})

    def _client_fits(self, scope: str | None) -> bool:
        """Whether the client that is registered may come back here, and ask for this."""
        before = self._before
        if before is None or before.by_hand:
            return True
        bound = set(before.client_scope.split())
        return before.redirect_uri == self._redirect_uri and (not bound or set((scope or "").split()) <= bound)

    def _select_authorization_server(self, advertised: list[str]) -> str:
        """The one where a client is known already, where there are several."""
        known = self._before.issuer if self._before else ""
        return known if known in advertised else super()._select_authorization_server(advertised)

    async def _check(self) -> None:
        """Before the authorization server is sent anything, and the person to it."""
        found = self.context.oauth_metadata
        if found is None:
            raise OAuthFlowError("it does not say where, as servers have to (RFC 8414).")
        if "S256" not in (found.code_challenge_methods_supported or ()):
            raise OAuthFlowError(f"{found.issuer} does not say that it takes S256, without which a code can be stolen.")
        for endpoint in (found.authorization_endpoint, found.token_endpoint):
            await self._reachable.addresses(str(endpoint))
        self._choose_client(found)

    def _choose_client(self, found: OAuthMetadata) -> None:
        """As whom to ask: as before, as a client of its owner's own, or as one that is registered now."""
        client, before = self.context.client_info, self._before
        offered = found.token_endpoint_auth_methods_supported or ["client_secret_basic"]
        with_secret: TokenEndpointAuthMethod = (
            "client_secret_post" if "client_secret_post" in offered else "client_secret_basic"
        )
        if client is None:
            if before is not None and before.by_hand:
                raise OAuthFlowError(f"{found.issuer} is not where your client belongs. Enter the client again.")
            if found.registration_endpoint is None:
                raise OAuthFlowError(
                    f"{found.issuer} registers no clients by itself. Register one there and enter its client ID on the "
                    "server's page."
                )
            self.context.client_metadata.token_endpoint_auth_method = (
                "none" if "none" in offered or not found.token_endpoint_auth_methods_supported else with_secret
            )
        elif before is not None and before.by_hand:
            client.token_endpoint_auth_method = with_secret if client.client_secret else "none"

    async def _show(self, address: str) -> None:
        await self._check()
        if len(address) > LONGEST_ADDRESS:
            raise OAuthFlowError("it asks for more than can be shown to you.")
        self._address = address

    async def _ask_person(self) -> AuthorizationCodeResult:
        asked = parse_qs(urlsplit(self._address).query)
        if not (state := asked.get("state", [""])[-1]):
            raise OAuthFlowError("the address to sign in at is not one that can be opened.")
        request = SignInRequest(
            server=self._server,
            host=urlsplit(self._address).netloc,
            scopes=tuple(asked.get("scope", [""])[-1].split()),
        )
        came = await self._ask(Asked(self._address, state, request))
        if came.error:
            raise SignInDeclined(f"{request.host} did not let it happen: {words(came.error)}")
        return AuthorizationCodeResult(code=came.code, state=came.state, iss=came.iss)

    async def _handle_token_response(self, response: httpx2.Response) -> None:
        await super()._handle_token_response(response)
        self._who = who(response.json())


def _moment(seconds: float | None) -> datetime | None:
    """That many seconds after 1970; `None` for no end, which some servers say by a time that no calendar reaches."""
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds else None
    except (OverflowError, ValueError, OSError):
        return None
