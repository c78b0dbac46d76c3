"""What the second origin answers: contents that can do no harm, pages of views, and refusals in words."""

import contextlib
import html
from collections.abc import Iterator

import uvicorn
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.types import Receive, Scope, Send

from app.api.door.connections import Connections
from app.api.door.refusals import page
from app.api.door.sandbox import reported, sandbox_page
from app.domain.errors import NotFound, StorageError
from app.domain.media_types import SHOWN_IMAGES, media_type_of
from app.store.contents.contents import Contents, Expired
from app.store.contents.sandboxes import PLACE, REPORTED

STRANGERS = 200
"""Connections that have shown no signed address."""
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-store",
}
CONTENT_HEADERS = _ALWAYS | {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Whatever the content is, opened as a page it runs nothing and loads nothing."""
PICTURE_HEADERS = CONTENT_HEADERS | {"Cross-Origin-Resource-Policy": "cross-origin"}
"""The app's pages, of another origin, show it. For Chromium two ports of an IP address are not even the same site by
this header, though by `Sec-Fetch-Site` they are: that is where pages of other sites are turned away."""
WORDS_HEADERS = CONTENT_HEADERS | {
    # Without an origin of its own the link back to the app would be followed without the app's cookie.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox allow-same-origin",
}


class ContentApp:
    """An ASGI app that gives the contents of signed addresses and the pages of views, and nothing else."""

    def __init__(self, contents: Contents, *, authority: str, home: str) -> None:
        self.connections = Connections(STRANGERS)
        self._contents = contents
        self._sandboxes = contents.sandboxes
        self._authority = authority
        self._home = home

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if request.headers.getlist("host") == [self._authority] and _asked(request).startswith(PLACE):
            answer = await self._sandbox(request)
        else:
            answer = self._refusal(request) or await self._content(request)
        await answer(scope, receive, send)

    async def _sandbox(self, request: Request) -> Response:
        """The page that a view is shown in, or that a report of it was heard; nothing else stands below that path."""
        path = _asked(request)
        try:
            if path.endswith(REPORTED) and request.method == "POST":
                self._sandboxes.get(path.removesuffix(REPORTED))
                if words := await reported(request):
                    self._sandboxes.report(path, words)
                return Response(status_code=204, headers=PICTURE_HEADERS)
            sandbox = self._sandboxes.get(path)
        except NotFound as problem:
            return self._words(404, "There is no app here", f"{problem} Load the page that showed it again.")
        if request.method != "GET":
            return self._words(405, "Not possible", "Apps are only read here.")
        self.connections.let_in(request.scope.get("client"))
        return sandbox_page(sandbox)

    def _refusal(self, request: Request) -> Response | None:
        if request.headers.getlist("host") != [self._authority]:
            return self._words(421, "This is not its address", "Nothing answers here under that name.")
        if request.method not in ("GET", "HEAD"):
            return self._words(405, "Not possible", "Files are only read here.")
        if request.headers.get("sec-fetch-site") == "cross-site":
            return self._words(403, "This request came from another site", "Files are for pages of the app only.")
        return None

    async def _content(self, request: Request) -> Response:
        try:
            linked = self._contents.links.read(_asked(request))
            self.connections.let_in(request.scope.get("client"))
            stored = await self._contents.stored(linked.digest)
        except Expired:
            way_out = "Load the page that showed it again, and take it from there."
            return self._words(410, "This link has expired", f"Links to files hold for some hours. {way_out}")
        except NotFound:
            way_out = "Links to files hold until the app is quit: load the page that showed it again."
            return self._words(404, "There is nothing here", way_out)
        except StorageError as problem:
            return self._words(500, "This file cannot be given", str(problem))
        kind = media_type_of(stored.beginning)
        if not linked.name and kind in SHOWN_IMAGES:
            return FileResponse(stored.path, media_type=kind, headers=PICTURE_HEADERS)
        saved_as = {"Content-Disposition": f"attachment; filename*=UTF-8''{linked.name or linked.digest}"}
        return FileResponse(stored.path, media_type="application/octet-stream", headers=CONTENT_HEADERS | saved_as)

    def _words(self, status: int, title: str, sentence: str) -> Response:
        back = f'<p><a href="{html.escape(self._home)}">Back to Agent Playground</a></p>'
        body = f"<h1>{html.escape(title)}</h1><p>{html.escape(sentence)}</p>{back}"
        return HTMLResponse(page(title, body), status, WORDS_HEADERS)


class ContentServer(uvicorn.Server):
    """One beside the app's own, in its event loop."""

    def __init__(self, app: ContentApp) -> None:
        config = uvicorn.Config(
            app,
            interface="asgi3",
            http=app.connections.protocol(),
            lifespan="off",
            ws="none",
            log_config=None,
            proxy_headers=False,  # nobody stands between: what says so lies
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        super().__init__(config)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """None: the app's own server hears them, and closes this one."""
        yield


def _asked(request: Request) -> str:
    """The address as it was sent, undecoded."""
    query = request.scope["query_string"].decode("latin-1")
    path = request.scope["raw_path"].decode("latin-1")
    return f"{path}?{query}" if query else path
