import asyncio

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from app.api.door import slow_requests
from app.api.door.slow_requests import SlowRequests


async def answer(request: Request) -> PlainTextResponse:
    done = asyncio.Event()
    asyncio.get_running_loop().call_later(float(request.query_params["takes"]), done.set)
    await done.wait()
    return PlainTextResponse("Here.")


async def test_a_page_that_was_long_in_coming_is_told_without_what_was_asked() -> None:
    told: list[tuple[str, float]] = []
    inside = Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "POST"])])
    app = SlowRequests(inside, lambda path, ms: told.append((path, ms)))
    takes = {"takes": slow_requests.SLOW_MS / 1000 + 0.05}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as client:
        await asyncio.gather(
            client.get("/runs", params=takes),
            client.get("/agents", params={"takes": 0}),
            client.get("/_nicegui/socket", params=takes),
            client.post("/api/v1/chat", params=takes),
        )
    assert [path for path, _ in told] == ["/runs"]
    assert told[0][1] > slow_requests.SLOW_MS
