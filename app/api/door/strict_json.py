"""Bodies as strict JSON: what no file and no socket would take is refused before anything looks at it."""

import asyncio
import json
import re
from collections.abc import Callable, Coroutine
from typing import Annotated

import orjson
from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from pydantic import JsonValue, WrapValidator
from pydantic_core import from_json

from app.domain.errors import TooLarge

MOST_GROUPS = 40_000
"""Lists and objects in a body: some 30 milliseconds of reading."""
MOST_VALUES = 100_000
"""Values in a body: as long as the longest message, where each is a digit and a comma."""
LARGE = 200_000
"""Bytes from which on a body is read beside the event loop: one of 9 MB kept it from others for 50 milliseconds."""
AsRead = Annotated[JsonValue, WrapValidator(lambda value, _: value)]
"""Any JSON of a body: reading it made nothing else, and to look at each value again stops the event loop."""

_HUGE = re.compile(rb"[eE]\+?\d{3}|(?<!\d)\d{309}")
"""Where a number may stand that is more than any computer counts to."""

Handler = Callable[[Request], Coroutine[None, None, Response]]


class StrictRequest(Request):
    """A request whose `json()` takes no lone surrogate, NaN, endless number, endless nesting or broken UTF-8."""

    async def json(self) -> JsonValue:
        """The body; raises `JSONDecodeError`, the one error that FastAPI tells as a fault of the body, and 413."""
        body = await self.body()
        try:
            return _read(body) if len(body) < LARGE else await asyncio.to_thread(_read, body)
        except ValueError as error:
            raise json.JSONDecodeError(str(error), "", 0) from None
        except TooLarge as error:
            raise HTTPException(413, str(error)) from None


class StrictRoute(APIRoute):
    """A route that reads its body so."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            return await handle(StrictRequest(request.scope, request.receive))

        return handle_strictly


def _read(body: bytes) -> JsonValue:
    check_shape(body)
    if _HUGE.search(body):
        orjson.loads(body)  # refuses what `from_json` makes infinite, which no journal would give back
    value: JsonValue = from_json(body, allow_inf_nan=False)
    return value


def check_shape(body: bytes) -> None:
    """Raises `TooLarge` for JSON of so many values, be they short, that reading it would stop the event loop."""
    if not _is_quick(body) and not _is_quick(_without_strings(body)):
        raise TooLarge(
            f"The body has more than {MOST_VALUES:,} values, or {MOST_GROUPS:,} lists and objects. "
            "Send less at once, or send it as text."
        )


def _is_quick(body: bytes) -> bool:
    return body.count(b"[") + body.count(b"{") <= MOST_GROUPS and body.count(b",") <= MOST_VALUES


def _without_strings(body: bytes) -> bytes:
    """What of JSON stands outside of its strings; all of it where these alone are too many."""
    marked = body.replace(rb"\\", b"").replace(rb"\"", b"")
    return body if marked.count(b'"') > 4 * MOST_VALUES else b"".join(marked.split(b'"')[::2])
