"""A real authorization server and a real MCP server behind it, on 127.0.0.1, whose manners can be changed.

The authorization server is the MCP library's own (registration, PKCE, rotation) under a path, as hosted ones are, so
that whoever guesses `{origin}/token` is caught.
"""

import asyncio
import base64
import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import httpx2
import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthToken
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import Receive, Scope, Send

from tests.app_process import free_port

PERSON = "ada@example.org"
CONSENT = """<!doctype html><html lang="en"><title>Consent</title><link rel="icon" href="data:,"><h1>Let it in?</h1>
<p><a id="allow" href="{allow}">Allow</a> <a id="deny" href="{deny}">Deny</a></p></html>"""


@dataclass
class Manners:
    """What the servers do otherwise than most."""

    lives: float = 3600
    """Seconds of an access token."""
    widens: bool = True
    """Whether a client may later ask for more than it was registered for."""
    denies: bool = False
    """Whether the person says no."""
    shows_a_page: bool = False
    """Whether a person has to click; without it there is nobody in between."""
    refuses_all: bool = False
    """The MCP server takes no token at all."""
    metadata: dict[str, object] = field(default_factory=dict)
    """In place of what the authorization server says of itself; `None` leaves it out."""
    resource: dict[str, object] = field(default_factory=dict)
    """In place of what the MCP server says of itself."""
    token_status: int = 0
    """What its token endpoint answers to a renewal, where it is not 0."""
    renews: asyncio.Event | None = None
    """Set when what a renewal brought may be told, where that is to be waited for."""


class Servers(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Keeps all in memory, and counts what it is asked for."""

    def __init__(self, manners: Manners | None = None) -> None:
        self.manners = manners or Manners()
        self.authority, self.place = free_port(), free_port()
        self.issuer = f"http://127.0.0.1:{self.authority}/tenant"
        self.url = f"http://127.0.0.1:{self.place}/mcp"
        self.clients: dict = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.asked: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.secrets: set[str] = set()
        """Every token, code and secret that was ever given out."""

    def expire(self) -> None:
        """Every access token ends now."""
        for token in self.access.values():
            token.expires_at = 0

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client_info):
        self.asked["register"] += 1
        if self.manners.widens:
            client_info.scope = "read write"
        if client_info.client_secret:
            self.secrets.add(client_info.client_secret)
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client, params):
        self.asked["authorize"] += 1
        back = str(params.redirect_uri)
        if self.manners.denies:
            deny = {"error": "access_denied", "error_description": "Ada said <b>no</b>", "state": params.state}
            return construct_redirect_uri(back, **deny, iss=self.issuer)
        code = secrets.token_urlsafe(32)
        self.secrets.add(code)
        self.codes[code] = AuthorizationCode(
            code=code,
            client_id=client.client_id,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            expires_at=time.time() + 60,
            scopes=params.scopes or ["read"],
            code_challenge=params.code_challenge,
            resource=params.resource,
        )
        allow = construct_redirect_uri(back, code=code, state=params.state, iss=self.issuer)
        if not self.manners.shows_a_page:
            return allow
        deny = construct_redirect_uri(back, error="access_denied", state=params.state, iss=self.issuer)
        return construct_redirect_uri(f"{self.issuer}/consent", allow=allow, deny=deny)

    async def load_authorization_code(self, client, authorization_code):
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client, authorization_code):
        self.asked["code"] += 1
        del self.codes[authorization_code.code]
        return self._tokens(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client, refresh_token):
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        self.asked["refresh"] += 1
        del self.refresh[refresh_token.token]
        return self._tokens(client, scopes or refresh_token.scopes, self.url)

    async def load_access_token(self, token):
        found = self.access.get(token)
        return found if found and (found.expires_at or 0) > time.time() else None

    async def revoke_token(self, token):
        self.asked["revoke"] += 1
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    async def verify_token(self, token):
        """The MCP server's half; the audience is checked."""
        found = None if self.manners.refuses_all else await self.load_access_token(token)
        return found if found and found.resource == self.url else None

    def _tokens(self, client, scopes, resource):
        access, refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.secrets |= {access, refresh}
        self.access[access] = AccessToken(
            token=access,
            client_id=client.client_id,
            scopes=scopes,
            expires_at=int(time.time() + self.manners.lives),
            resource=resource,
        )
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client.client_id, scopes=scopes)
        return OAuthToken(
            access_token=access,
            token_type="Bearer",
            expires_in=int(self.manners.lives),
            scope=" ".join(scopes),
            refresh_token=refresh,
        )


def _authorization_server(servers: Servers) -> Starlette:
    routes = create_auth_routes(
        servers,
        AnyHttpUrl(servers.issuer),
        client_registration_options=ClientRegistrationOptions(
            enabled=True, valid_scopes=["read", "write"], default_scopes=["read"]
        ),
        revocation_options=RevocationOptions(enabled=True),
    )
    known = [route for route in routes if not route.path.startswith("/.well-known")]

    async def metadata(_: Request) -> Response:
        servers.asked["metadata"] += 1
        document = {
            "issuer": servers.issuer,
            "authorization_endpoint": f"{servers.issuer}/authorize",
            "token_endpoint": f"{servers.issuer}/token",
            "registration_endpoint": f"{servers.issuer}/register",
            "revocation_endpoint": f"{servers.issuer}/revoke",
            "scopes_supported": ["read", "write"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_post"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        } | servers.manners.metadata
        return JSONResponse({name: value for name, value in document.items() if value is not None})

    async def consent(request: Request) -> Response:
        return HTMLResponse(CONSENT.format(**{name: _escaped(value) for name, value in request.query_params.items()}))

    class Refusing:
        """In front of the token endpoint: refuses renewals, and names whom it signed in."""

        def __init__(self, app) -> None:
            self.app = app

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http" or not scope["path"].endswith("/token"):
                await self.app(scope, receive, send)
                return
            body = await _body(receive)
            if servers.manners.token_status and b"grant_type=refresh_token" in body:
                servers.asked["refresh"] += 1
                await JSONResponse({"error": "invalid_grant"}, servers.manners.token_status)(scope, receive, send)
                return
            sent: list = []
            await self.app(scope, _again(body, receive), _collected(sent))
            if servers.manners.renews is not None and b"grant_type=refresh_token" in body:
                servers.asked["held renewal"] += 1
                await servers.manners.renews.wait()
            answer = json.loads(b"".join(one.get("body", b"") for one in sent) or b"{}")
            claims = base64.urlsafe_b64encode(json.dumps({"email": PERSON}).encode()).decode().rstrip("=")
            if sent[0]["status"] == 200:
                answer["id_token"] = f"e30.{claims}.x"
            await JSONResponse(answer, sent[0]["status"])(scope, receive, send)

    # RFC 8414: an issuer with a path has its document between the host and the path.
    return Starlette(
        routes=[
            Route("/.well-known/oauth-authorization-server/tenant", metadata),
            Route("/tenant/consent", consent),
            Mount("/tenant", app=Refusing(Starlette(routes=known))),
        ]
    )


class _StepUp:
    """Answers 403 insufficient_scope where the `write` tool is called without that scope."""

    def __init__(self, app, servers: Servers) -> None:
        self.app, self.servers = app, servers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        changed = self.servers.manners.resource
        if changed and scope["path"].startswith("/.well-known/oauth-protected-resource"):
            document = {"resource": self.servers.url, "authorization_servers": [self.servers.issuer]} | changed
            return await JSONResponse(document)(scope, receive, send)
        if scope["method"] != "POST":
            return await self.app(scope, receive, send)
        body = await _body(receive)
        token = dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Bearer ")
        held = await self.servers.verify_token(token)
        if b'"change"' in body and held and "write" not in held.scopes:
            where = f"http://127.0.0.1:{self.servers.place}/.well-known/oauth-protected-resource/mcp"
            challenge = f'Bearer error="insufficient_scope", scope="write", resource_metadata="{where}"'
            refused = JSONResponse({"error": "insufficient_scope"}, 403, {"WWW-Authenticate": challenge})
            return await refused(scope, receive, send)
        return await self.app(scope, _again(body, receive), send)


def _mcp_server(servers: Servers) -> _StepUp:
    mcp = MCPServer(
        "guarded",
        log_level="CRITICAL",
        token_verifier=servers,
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(servers.issuer),
            resource_server_url=AnyHttpUrl(servers.url),
            required_scopes=["read"],
            validate_token_resource=True,
        ),
    )

    def scopes() -> str:
        token = get_access_token()
        return " ".join(token.scopes) if token else ""

    @mcp.tool()
    async def whoami() -> str:
        """Says what the token may do."""
        servers.calls["whoami"] += 1
        return scopes()

    @mcp.tool()
    async def change() -> str:
        """Needs scope write."""
        servers.calls["change"] += 1
        return f"changed by {scopes()}"

    @mcp.tool()
    async def slow(seconds: float = 0.5) -> str:
        """Takes a while."""
        await asyncio.sleep(seconds)
        return "slow"

    @mcp.tool()
    async def tell() -> str:
        """Tells the token that it was sent."""
        token = get_access_token()
        return f"token {token.token if token else 'none'}"

    return _StepUp(mcp.streamable_http_app(), servers)


@asynccontextmanager
async def serving(manners: Manners | None = None) -> AsyncIterator[Servers]:
    """Both servers, up while the block runs."""
    servers = Servers(manners)
    async with up(servers):
        yield servers


@asynccontextmanager
async def up(servers: Servers) -> AsyncIterator[None]:
    pairs = ((_authorization_server(servers), servers.authority), (_mcp_server(servers), servers.place))
    running = [
        uvicorn.Server(
            uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", ws="none", timeout_graceful_shutdown=1)
        )
        for app, port in pairs
    ]
    tasks = [asyncio.create_task(one._serve()) for one in running]
    while not all(one.started for one in running):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    try:
        yield
    finally:
        for one in running:
            one.should_exit = True
        await asyncio.gather(*tasks, return_exceptions=True)


async def opened(address: str) -> httpx2.URL:
    """Where the browser of a person who opens that address is sent back to, which is not asked."""
    async with httpx2.AsyncClient(verify=False) as browser:
        answer = await browser.get(address)
        assert answer.status_code in (302, 303, 307), answer.text
        return httpx2.URL(answer.headers["location"])


async def refused_with(address: str) -> int:
    """The status that the browser sees of an address that leads nowhere."""
    async with httpx2.AsyncClient(verify=False) as browser:
        return (await browser.get(address)).status_code


async def _body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    return body


def _again(body: bytes, receive: Receive) -> Receive:
    told = False

    async def again():
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _collected(sent: list) -> Send:
    async def collect(message) -> None:
        sent.append(message)

    return collect


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;")


@contextmanager
def beside(manners: Manners | None = None) -> Iterator[Servers]:
    """Both servers, in an event loop of their own thread."""
    servers, loop = Servers(manners), asyncio.new_event_loop()
    started, over = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with up(servers):
            started.set()
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert started.wait(30)
    try:
        yield servers
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(10)
