"""How a browser is signed in and out: by the printed address or a launch page, for a cookie with an id of its own."""

import html
from urllib.parse import parse_qs, quote, urlencode

from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import Receive

from app.api.door.connections import Connections, Peer
from app.api.door.credentials import Asker, Credentials
from app.api.door.envelopes import refused
from app.api.door.launch_pages import LaunchPages
from app.api.door.refusals import Refusal, page
from app.domain.errors import StorageError
from app.store.keys import sign_ins
from app.store.keys.sign_ins import SignIns

COOKIE_SECONDS = 400 * 86_400
"""As long as browsers keep one at most; when it stops to open anything is known here."""
LONGEST_FORM = 200
"""Bytes of a form that holds a code."""
_ONCE_MORE = """<script>
fetch("/", {{method: "POST", body: new URLSearchParams({{code: "{code}"}})}}).then(() => location.replace("/"));
</script>"""

OVER = Refusal(
    403,
    "forbidden",
    "This way in is closed",
    "It opened Agent Playground once, or a minute is over. Start the app again, or open the whole address that it "
    "printed.",
)


class Entrance:
    def __init__(self, credentials: Credentials, sign_ins: SignIns, connections: Connections, *, origin: str) -> None:
        """`origin` is the app's own."""
        self._credentials = credentials
        self._sign_ins = sign_ins
        self._connections = connections
        self._origins = (origin, origin.removesuffix(":80"))
        self._launch_pages = LaunchPages(origin)

    async def by_code(self, request: HTTPConnection, asker: Asker, receive: Receive) -> Response | None:
        """The answer to who posts a code at the front page; `None` for every other request.

        A launch page is a file, and what it posts has no origin and no cookie. So the code is posted once more from
        here: only then it is used up, and a browser that is signed in already stays so.
        """
        if (code := await _posted_code(request, receive)) is None:
            return None
        origins = request.headers.getlist("origin")
        if origins in ([], ["null"]) and self._launch_pages.works(code):
            return HTMLResponse(page("Agent Playground", _ONCE_MORE.format(code=code)))
        if len(origins) == 1 and origins[0] in self._origins and self._launch_pages.take(code):
            return await self._welcome(asker, "/")
        return OVER.response(request)

    async def by_address(self, request: HTTPConnection, asker: Asker) -> Response | None:
        """Turns the token of the printed address into a cookie, and leads to that address without it."""
        token = request.query_params.get("token", "")
        if request.scope.get("method") != "GET" or not self._credentials.is_token(token):
            return None
        rest = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
        return await self._welcome(asker, address(request, rest))

    async def asked(self, request: HTTPConnection, asker: Asker) -> Response | None:
        """The answer to an owner who wants a launch page, or everyone signed out; `None` for every other request."""
        if request.scope.get("method") != "POST" or asker.caller is None or not asker.caller.owner:
            return None
        match request.scope["path"]:
            case "/api/v1/launch-pages":
                return self._new_launch_page()
            case sign_ins.SIGN_OUT if asker.by_cookie:
                return await self._everyone_out(request.scope.get("client"))
        return None

    def _new_launch_page(self) -> Response:
        try:
            return JSONResponse({"success": True, "data": {"file": str(self._launch_pages.new())}}, 201)
        except StorageError as problem:
            return refused(problem)

    async def _everyone_out(self, client: Peer | None) -> Response:
        """But who asks: that browser is signed in anew."""
        answer = Response(status_code=204)
        try:
            await self._sign_ins.sign_all_out()
        except StorageError as problem:
            answer = PlainTextResponse(f"All others are signed out until the next start only. {problem}", 507)
        self._connections.hang_up_browsers(but=client)
        return await self._signed_in(answer)

    def close(self) -> None:
        """Let no launch page work any more."""
        self._launch_pages.close()

    async def _welcome(self, asker: Asker, target: str) -> Response:
        # 200 and a refresh, not a redirect: on the redirect after a click in another program Chromium holds the
        # Strict cookie back, and the app would answer 401 to its owner. It also takes the place of the address with
        # the token in what the browser shows as its history; in the file of that, Chromium keeps what was typed.
        target = html.escape(target)
        head = f'<meta http-equiv="refresh" content="0;url={target}">'
        response = HTMLResponse(page("Agent Playground", f'<p><a href="{target}">Opening…</a></p>', head=head))
        return response if asker.by_cookie else await self._signed_in(response)

    async def _signed_in(self, response: Response) -> Response:
        cookie, shown = self._credentials.cookie, await self._sign_ins.sign_in()
        response.set_cookie(cookie, shown, max_age=COOKIE_SECONDS, httponly=True, samesite="strict")
        return response


async def _posted_code(request: HTTPConnection, receive: Receive) -> str | None:
    """The code in a small form that is posted to the front page; `None` where there is no such form."""
    if request.scope.get("method") != "POST" or request.scope["path"] != "/":
        return None
    length = request.headers.get("content-length", "")
    kind = request.headers.get("content-type", "")
    if (
        kind.partition(";")[0] != "application/x-www-form-urlencoded"
        or not length.isdecimal()
        or int(length) > LONGEST_FORM
    ):
        return None
    body, more = b"", True
    while more and len(body) <= LONGEST_FORM:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return parse_qs(body.decode("latin-1")).get("code", [""])[0]


def address(request: HTTPConnection, query: list[tuple[str, str]]) -> str:
    """The path and query of `request`, always on this origin, even when the path begins with '//'."""
    path = "/" + quote(str(request.scope["path"]).lstrip("/\\"))
    return f"{path}?{urlencode(query)}" if query else path
