"""Sends the token of a server with each request, and notes when the server refuses it. Heavy: import it late.

The library's own provider holds one lock from a request until its answer is there, so that calls would wait for one
another (https://github.com/modelcontextprotocol/python-sdk/issues/3209). Nothing waits here: a token is renewed, and a
person asked, between two requests, by whoever made the call.
"""

from collections.abc import Callable, Generator

import httpx2

from app.tools.mcp.oauth.refusals import Challenge, note

CHALLENGE = "WWW-Authenticate"
LONGEST = 4_000
"""Characters of a challenge; a longer one is none."""


class Bearer(httpx2.Auth):
    def __init__(self, token: Callable[[], str]) -> None:
        """`token` is asked for the present one, empty where there is none."""
        self._token = token

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        token = self._token()
        if token:
            request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        header = response.headers.get(CHALLENGE, "")
        if response.status_code == 401 or (response.status_code == 403 and "insufficient_scope" in header):
            note(Challenge(response.status_code, header if len(header) <= LONGEST else "", token))
