"""Bodies as strict JSON: what no file and no socket would take is refused before anything looks at it."""

import json
from collections.abc import Callable, Coroutine

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import JsonValue
from pydantic_core import from_json

Handler = Callable[[Request], Coroutine[None, None, Response]]


class StrictRequest(Request):
    """A request whose `json()` takes no lone surrogate, NaN, endless nesting or broken UTF-8."""

    async def json(self) -> JsonValue:
        """The body; raises `JSONDecodeError`, the one error that FastAPI tells as a fault of the body."""
        try:
            body: JsonValue = from_json(await self.body(), allow_inf_nan=False)
        except ValueError as error:
            raise json.JSONDecodeError(str(error), "", 0) from None
        return body


class StrictRoute(APIRoute):
    """A route that reads its body so."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            return await handle(StrictRequest(request.scope, request.receive))

        return handle_strictly
