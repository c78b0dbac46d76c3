"""The door: one outermost ASGI layer that every request and every socket passes, NiceGUI's own included.

It answers to one host name, takes changes and sockets from its own pages only, and lets nobody in without the token
of the printed address, the cookie of a browser that is signed in, or an API key that may reach what it asks for.
`/health` is open, and the few routes of `guests.PUBLIC_ROUTES`; `guests.SIGN_IN_ROUTE` takes back what was given away
for it. Whom it let in, it leaves in the scope: `caller_of`.
"""

import re
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.door.body_limit import BodyLimit
from app.api.door.caller import ANYONE, CALLER, caller_of
from app.api.door.connections import Connections
from app.api.door.credentials import Asker, Credentials, sent_key
from app.api.door.entrance import Entrance, address
from app.api.door.guests import Guests
from app.api.door.rate import RunLimits
from app.api.door.refusals import MCP, OPENAI_PATHS, Refusal, asks_the_api
from app.domain.values import new_id
from app.export.limits import LARGEST_AGENT, LARGEST_BUNDLE, LARGEST_DATASET
from app.store.keys.sign_ins import SignIns
from app.workbench.known_secrets import speaking

HOST = "127.0.0.1"
"""The one name the app answers to, and the one address it listens on."""
API_BODY = 10 * 1024 * 1024
"""Bytes a request to the API may carry with the app's token."""
BODY_OF_OTHERS = 1024 * 1024
"""Bytes it may carry else: a message has 200,000 characters at most."""
ENVELOPE = 64 * 1024
"""Bytes that an upload may carry beside its file."""
UPLOADS = "/api/v1/uploads"
BUNDLES = "/api/v1/runs/import"
"""The address that takes as much as a bundle may have."""
DATASETS = re.compile(r"/api/v1/datasets/[^/]+/import")
"""The addresses that take as much as a file of cases may have."""
BACKUPS = "/backups"
LARGEST_BACKUP = 8 * 1024**3
"""Bytes of a backup that is brought back; what the disk has no room for is refused before."""

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
RESPONSE_STARTS = frozenset({"http.response.start", "websocket.http.response.start"})

FOREIGN_PAGE = Refusal(
    403,
    "forbidden",
    "This request came from another page",
    "Agent Playground takes changes from its own pages only, or from a program that sends a key and no Origin.",
)
Prove = Callable[[str], str]
"""Answers a challenge so that a second start knows this app and its data folder."""

SIGN_IN_PATHS = ("/.well-known/", f"{MCP}/")
NO_SIGN_IN = Refusal(
    404,
    "not_found",
    "Not found",
    "There is nothing to sign in at: /mcp takes an API key, as 'Authorization: Bearer <key>'.",
)
LINE_BREAK = Refusal(404, "not_found", "Not found", "There is nothing at an address with a line break in it.")


def install(server: Starlette, door: "Callable[[ASGIApp], Door]") -> None:
    """Put the door in front of all that `server` serves, now and later; `door` makes it.

    Raises RuntimeError when `server` has begun to serve.
    """
    if server.middleware_stack is not None:
        raise RuntimeError("The door has to be installed before the first request")
    build = server.build_middleware_stack

    def build_behind_the_door() -> ASGIApp:
        return door(build())

    # Not add_middleware: ui.run adds its own after us, which would stand outside of the door. Starlette calls this
    # method once, before it answers anything, so nothing can be served around it. A startup hook could be skipped.
    server.build_middleware_stack = build_behind_the_door  # type: ignore[method-assign]


class Door:
    """An ASGI app that lets a request or socket through to `app`, or turns it away in words."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        port: int,
        token: str,
        guests: Guests,
        sign_ins: SignIns | None = None,
        connections: Connections | None = None,
        prove: Prove | None = None,
        untrusted: str = "",
        mcp: ASGIApp | None = None,
    ) -> None:
        """`guests` says whom it lets in besides the owner; `/health` answers a challenge by `prove`; `untrusted` is the
        origin of which pages show pictures; `mcp` answers at its address in the app's place; `sign_ins` and
        `connections` are its own where none are given.

        A token that is no secret is a ValueError.
        """
        self._app = app = app if mcp is None else _with_mcp(app, mcp)
        self._prove = prove
        self._pages = BodyLimit(app, LARGEST_AGENT + ENVELOPE)
        self._uploads = BodyLimit(app, lambda: guests.largest_file() + ENVELOPE)
        limited = RunLimits(app, guests.going_on, guests.waiting)
        self._api = BodyLimit(limited, API_BODY)
        self._of_others = BodyLimit(limited, BODY_OF_OTHERS)
        # In base64 a file is a third longer; beside it there is a conversation.
        self._for_openai = BodyLimit(limited, lambda: guests.largest_file() * 4 // 3 + API_BODY)
        of_files = (LARGEST_BUNDLE, LARGEST_DATASET, LARGEST_BACKUP)
        self._bundles, self._datasets, self._backups = (BodyLimit(app, most) for most in of_files)
        self._guests = guests
        self._origin = f"http://{HOST}:{port}"
        self._connections = connections or Connections()
        sign_ins = sign_ins or SignIns()
        self._credentials = Credentials(port=port, token=token, sign_ins=sign_ins, guests=guests)
        self._hosts = own_authorities(port)
        self._origins = {f"http://{authority}" for authority in self._hosts}
        self._entrance = Entrance(self._credentials, sign_ins, self._connections, origin=self._origin)
        self._other_names = _authorities("localhost", port) - self._hosts
        self._headers = _headers(port, untrusted)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            try:
                await self._app(scope, receive, send)
            finally:
                self._entrance.close()
            return
        request = HTTPConnection(scope)
        asker = self._credentials.asker(request)
        answer = await self._answer(request, asker, receive)
        try:
            with speaking(caller_of(request).trigger):
                await (answer or self._inside(request))(scope, receive, self._with_headers(send, request))
        finally:
            if scope["type"] == "websocket":
                self._connections.left(scope.get("client"))

    def _inside(self, request: HTTPConnection) -> ASGIApp:
        """The app, behind the limit of what they may send to that address."""
        path, caller = str(request.scope["path"]), caller_of(request)
        if caller != ANYONE and path.startswith(OPENAI_PATHS):
            return self._for_openai
        if caller != ANYONE and path == UPLOADS:
            return self._uploads
        if caller.manages and DATASETS.fullmatch(path):
            return self._datasets
        if not caller.owner:
            return self._of_others
        if path in (BUNDLES, BACKUPS):
            return self._bundles if path == BUNDLES else self._backups
        return self._api if asks_the_api(request) else self._pages

    async def _answer(self, request: HTTPConnection, asker: Asker, receive: Receive) -> Response | None:
        """What is said at the door; None lets the request in."""
        return (
            self._host(request, asker)
            or await self._entrance.by_code(request, asker, receive)
            or self._health(request, asker)
            or self._page_of_origin(request, asker)
            or self._no_sign_in(request, asker)
            or await self._entrance.by_address(request, asker)
            or self._credential(request, asker)
            or self._line_break(request, asker)
            or await self._entrance.asked(request, asker)
        )

    def _host(self, request: HTTPConnection, _: Asker) -> Response | None:
        named = request.headers.getlist("host")
        if len(named) == 1 and named[0] in self._hosts:
            return None
        if len(named) == 1 and named[0] in self._other_names and _method(request) in ("GET", "HEAD"):
            # Cookies and Origin belong to one name; `localhost` may also be somebody else's [::1].
            return RedirectResponse(self._origin + address(request, request.query_params.multi_items()))
        sentence = f"Agent Playground answers as {self._origin} only. Use that address."
        return Refusal(421, "wrong_host", "This is not its address", sentence).response(request)

    def _health(self, request: HTTPConnection, _: Asker) -> Response | None:
        if request.scope["path"] == "/health" and _method(request) in ("GET", "HEAD"):
            challenge = request.query_params.get("challenge", "")
            proved = {"proof": self._prove(challenge)} if self._prove and challenge else {}
            return JSONResponse({"status": "ok"} | proved)
        return None

    def _no_sign_in(self, request: HTTPConnection, _: Asker) -> Response | None:
        """Clients of MCP that were refused look for where to sign in, and try what is not said to be nowhere."""
        return NO_SIGN_IN.response(request) if str(request.scope["path"]).startswith(SIGN_IN_PATHS) else None

    def _page_of_origin(self, request: HTTPConnection, asker: Asker) -> Response | None:
        """Refuses what a foreign page asked for, and every change that a browser may ask for unknown to its owner."""
        origins = request.headers.getlist("origin")
        if origins:
            ours = len(origins) == 1 and origins[0] in self._origins
        elif _changes_something(request):
            site = request.headers.get("sec-fetch-site")
            ours = site == "same-origin" or bool(sent_key(request)) or (site is None and not asker.by_cookie)
        else:
            ours = True
        return None if ours and not _fetched_by_another_site(request) else FOREIGN_PAGE.response(request)

    def _credential(self, request: HTTPConnection, asker: Asker) -> Response | None:
        """Refuses who is not known, or may not reach what they ask for; leaves the others in the scope."""
        caller = asker.caller
        if caller is None:
            return asker.refusal.response(request)
        if refusal := self._guests.refusal(caller, request):
            return refusal.response(request)
        if caller.key is not None:
            self._guests.used(caller.key)
        if caller != ANYONE:
            self._connections.let_in(request.scope.get("client"), browser=asker.by_cookie)
        request.scope[CALLER] = caller
        return None

    def _line_break(self, request: HTTPConnection, _: Asker) -> Response | None:
        """No route means a line break, and what stands behind one is not looked at by those that begin alike."""
        return LINE_BREAK.response(request) if "\n" in request.scope["path"] else None

    def _with_headers(self, send: Send, request: HTTPConnection) -> Send:
        """Adds our headers to every response, also to those for errors; a route's own, stricter ones stay.

        Clients of OpenAI log its `x-request-id`: that is the run, where there is one.
        """
        asks_openai = str(request.scope["path"]).startswith(OPENAI_PATHS)

        async def send_with_headers(message: Message) -> None:
            if message["type"] in RESPONSE_STARTS:
                headers = MutableHeaders(raw=list(message.get("headers", ())))
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
                if asks_openai:
                    headers.setdefault("x-request-id", headers.get("x-run-id") or f"req_{new_id()}")
                message = {**message, "headers": headers.raw}
            await send(message)

        return send_with_headers


def _with_mcp(app: ASGIApp, mcp: ASGIApp) -> ASGIApp:
    """Not mounted in the app: what NiceGUI puts around its routes breaks on streams that stay open."""

    async def either(scope: Scope, receive: Receive, send: Send) -> None:
        await (mcp if scope["type"] == "http" and scope["path"] == MCP else app)(scope, receive, send)

    return either


def _headers(port: int, untrusted: str) -> dict[str, str]:
    """Nothing off this origin frames or reads us, and of others only pictures and views of that one are loaded.

    NiceGUI's Vue templates need both `unsafe-` words.
    """
    pictures = " ".join(("'self' data: blob:", untrusted)).rstrip()
    frames = f"frame-src 'self' {untrusted}".rstrip()
    policy = (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        f"img-src {pictures}; media-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; "
        f"connect-src 'self' ws://{HOST}:{port}; {frames}; frame-ancestors 'none'; base-uri 'none'; "
        "form-action 'self'; object-src 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }


def own_authorities(port: int) -> frozenset[str]:
    """What `Host` may say of this address."""
    return _authorities(HOST, port)


def _authorities(host: str, port: int) -> frozenset[str]:
    """How a browser may write this address in Host; the port of plain HTTP goes without saying."""
    return frozenset({f"{host}:{port}", host}) if port == 80 else frozenset({f"{host}:{port}"})


def _method(request: HTTPConnection) -> str:
    """The HTTP method, or an empty string for a socket."""
    return str(request.scope.get("method", ""))


def _changes_something(request: HTTPConnection) -> bool:
    return _method(request) not in SAFE_METHODS


def _fetched_by_another_site(request: HTTPConnection) -> bool:
    """Another site's script, image or form asks; a link followed to us is none of these."""
    if request.headers.get("sec-fetch-site") not in ("cross-site", "same-site"):
        return False
    return _changes_something(request) or request.headers.get("sec-fetch-mode") != "navigate"
