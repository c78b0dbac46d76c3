"""Refusals in words, in the form the asker can read: JSON for a program, a page for a person."""

import html
from dataclasses import dataclass

from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

API_PATHS = ("/api/", "/v1/")
"""Where programs ask: answers there are JSON, and keys are taken from headers."""


@dataclass(frozen=True)
class Refusal:
    """Why a request was turned away, and what to do instead."""

    status: int
    code: str
    """The API's word for it."""
    title: str
    sentence: str

    def response(self, request: HTTPConnection) -> Response:
        """The answer for `request`; for a socket, the HTTP reply to its handshake."""
        if request.scope["path"].startswith(API_PATHS):
            return JSONResponse(self._envelope(), self.status, self._challenge())
        if "text/html" in request.headers.get("accept", ""):
            return HTMLResponse(self._page(), self.status)
        return PlainTextResponse(f"{self.sentence}\n", self.status)

    def _envelope(self) -> dict[str, bool | str]:
        return {"success": False, "error": self.sentence, "code": self.code}

    def _challenge(self) -> dict[str, str]:
        return {"WWW-Authenticate": "Bearer"} if self.status == 401 else {}

    def _page(self) -> str:
        return page(self.title, f"<h1>{html.escape(self.title)}</h1><p>{html.escape(self.sentence)}</p>")


def page(title: str, body: str, *, head: str = "") -> str:
    """A whole HTML document that needs no other file, since nothing of the app may be loaded yet."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">{head}
<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,"><title>{html.escape(title)}</title>
<style>body {{ font: 16px/1.6 system-ui, sans-serif; max-width: 36rem; margin: 20vh auto; padding: 0 1.5rem }}
h1 {{ font-size: 1.4rem }}</style></head>
<body>{body}</body></html>"""
