"""Refusals in words, in the form the asker can read: JSON for a program, a page for a person."""

import html
from dataclasses import dataclass
from urllib.parse import quote

from pydantic import JsonValue
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

API_PATHS = ("/api/", "/v1/")
MCP = "/mcp"
"""Where clients of MCP ask: this address alone, for what stands below it may be a page."""
METRICS = "/metrics"
"""Where Prometheus asks, likewise."""
OPENAI_PATHS = "/v1/"
"""Where clients of OpenAI ask, who read errors in another shape."""
OPENAI_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    500: "server_error",
}


@dataclass(frozen=True)
class Refusal:
    """Why a request was turned away, and what to do instead."""

    status: int
    code: str
    """The API's word for it."""
    title: str
    sentence: str
    retry_after: int = 0
    """Seconds after which it is worth asking again; 0 where that is not known."""

    def response(self, request: HTTPConnection) -> Response:
        """The answer for `request`; for a socket, the HTTP reply to its handshake."""
        path = request.scope["path"]
        if path.startswith(OPENAI_PATHS):
            kind = OPENAI_KINDS.get(self.status, OPENAI_KINDS[400])
            return JSONResponse(openai_error(self.sentence, code=self.code, kind=kind), self.status, self._headers())
        if asks_the_api(request):
            words = {"success": False, "error": self.sentence, "code": self.code}
            return JSONResponse(words, self.status, self._headers())
        if "text/html" in request.headers.get("accept", ""):
            body = f"<h1>{html.escape(self.title)}</h1><p>{html.escape(self.sentence)}</p>"
            return HTMLResponse(page(self.title, body + self._again(request)), self.status)
        return PlainTextResponse(f"{self.sentence}\n", self.status)

    def _again(self, request: HTTPConnection) -> str:
        """For who follows a link of another site or file: their browser shows who they are only to a link of ours."""
        if self.status != 401 or request.headers.get("sec-fetch-site") != "cross-site":
            return ""
        path = html.escape("/" + quote(str(request.scope["path"]).lstrip("/\\")))
        return f'<p>Or is this browser signed in, and you followed a link? <a href="{path}">Open it from here</a>.</p>'

    def _headers(self) -> dict[str, str]:
        headers = {"WWW-Authenticate": "Bearer"} if self.status == 401 else {}
        return headers | ({"Retry-After": str(self.retry_after)} if self.retry_after else {})


def asks_the_api(request: HTTPConnection) -> bool:
    """Whether a program asks: its answers are JSON, and keys are taken from its headers."""
    # Of the scope, never of request.url: that one is put together from the Host header, which the asker chooses.
    path = str(request.scope["path"])
    return path in (MCP, METRICS) or path.startswith(API_PATHS)


def openai_error(message: str, *, code: str, kind: str, param: str | None = None) -> dict[str, JsonValue]:
    """An error as clients of OpenAI read it: https://platform.openai.com/docs/guides/error-codes"""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def page(title: str, body: str, *, head: str = "") -> str:
    """A whole HTML document that needs no other file, since nothing of the app may be loaded yet."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">{head}
<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,"><title>{html.escape(title)}</title>
<style>body {{ font: 16px/1.6 system-ui, sans-serif; max-width: 36rem; margin: 20vh auto; padding: 0 1.5rem }}
h1 {{ font-size: 1.4rem }}</style></head>
<body>{body}</body></html>"""
