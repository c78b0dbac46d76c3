"""Signing in at MCP servers: the way there, which a person takes by a link, and where their browser comes back to.

The link leads here first. So the address to sign in at, which holds what nobody else may know, is in no page and no
trace, and one that is too old is made anew.
"""

import html
from urllib.parse import quote

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from app.api.door.refusals import page
from app.domain.errors import NotFound, ToolError, WorkbenchError
from app.domain.tools import SignInRequest
from app.domain.trace import open_pauses
from app.tools.mcp.oauth.desk import CALLBACK, CameBack, words
from app.workbench import Workbench

UNKNOWN = "Nobody waits for this sign-in: it was used already, or is too old. Begin it anew in Agent Playground."


def sign_in_routes(workbench: Workbench) -> APIRouter:
    router = APIRouter()

    @router.get("/sign-in/{server}", response_model=None)
    async def go(server: str, host: str = "", scopes: str = "") -> Response:
        """Send the owner to where one signs in for the server, which is `host` as they were shown it before."""
        try:
            link = await workbench.mcp.sign_in(server, scopes.split())
        except (WorkbenchError, ToolError) as problem:
            return _page("Not signed in", str(problem), 404 if isinstance(problem, NotFound) else 502)
        if link.request is not None and link.request.host != host:
            return _asked_first(link.request)
        return RedirectResponse(link.address, 303)

    @router.get(CALLBACK, response_model=None)
    async def come_back(
        state: str = "", code: str = "", iss: str | None = None, error: str = "", error_description: str = ""
    ) -> HTMLResponse:
        """Take what the browser brings back for the sign-in of that `state`; nothing else is a reason to."""
        said = words(f"{error} {error_description}") if error else ""
        server = workbench.mcp.take_sign_in(CameBack(state, code, iss, said)) if state else ""
        if not server:
            return _page("Not signed in", UNKNOWN, 404)
        if error:
            return _page("Not signed in", f"The answer was: {words(error)}.", 200, to=_waiting_page(workbench, server))
        return _page("Thank you", "Agent Playground goes on.", 200, to=_waiting_page(workbench, server))

    return router


def _waiting_page(workbench: Workbench, server: str) -> str:
    """Of a run that waits for it, else of the server."""
    for live in workbench.runs.live_runs():
        for pause in open_pauses(live.entries):
            if pause.reason == "oauth" and pause.arguments.get("server") == server:
                return f"/runs/{live.run_id}"
    return f"/tools/server/{quote(server, safe='')}"


def _asked_first(request: SignInRequest) -> HTMLResponse:
    """Where one goes is shown before, and it is not where the link said."""
    scopes = ", ".join(request.scopes) or "nothing in particular"
    there = f"/sign-in/{quote(request.server, safe='')}?host={quote(request.host, safe='')}"
    body = (
        f"<h1>Sign in for {html.escape(request.server)}</h1><p>It asks you to sign in at "
        f"<strong>{html.escape(request.host)}</strong>, for: {html.escape(scopes)}.</p>"
        f'<p><a href="{html.escape(there)}" rel="noreferrer">Go there</a></p>'
    )
    return HTMLResponse(page("Sign in", body))


def _page(title: str, sentence: str, status: int, *, to: str = "") -> HTMLResponse:
    # A refresh, not a redirect: that would be of the other site's making, and come without the cookie.
    head = f'<meta http-equiv="refresh" content="1;url={html.escape(to)}">' if to else ""
    link = f'<p><a href="{html.escape(to)}">Go back</a></p>' if to else ""
    return HTMLResponse(page(title, f"<h1>{title}</h1><p>{html.escape(sentence)}</p>{link}", head=head), status)
