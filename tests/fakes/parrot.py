"""A provider whose model repeats what it was told, and a web service that tells a secret."""

import asyncio
import re

from aiohttp import web

from tests.fakes.openai import call, calls, chunk
from tests.fakes.server import FakeServer, Json, event

CALL = re.compile(r"call (\w+) (\{.*\})", re.DOTALL)
STOP = "|"
"""Where an answer waits in its middle, for `go_on`."""


class Parrot(FakeServer):
    """It says the last message. Told `call NAME {json}` it calls that tool first, and says what that gave."""

    def __init__(self, secret: str = "") -> None:
        super().__init__()
        self.secret = secret
        self.go_on = asyncio.Event()

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/v1/chat/completions", self._chat), web.get("/secret", self._secret)]

    @property
    def base(self) -> str:
        return f"{self.url}/v1"

    async def _secret(self, _: web.Request) -> web.Response:
        return web.Response(text=f"It is {self.secret} here.")

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body: Json = await request.json()
        await self.note(request, body["model"], body)
        return await self.stream(request, lambda response: self._say(response, body["messages"][-1]))

    async def _say(self, response: web.StreamResponse, told: Json) -> None:
        text = told["content"] if isinstance(told["content"], str) else told["content"][-1]["text"]
        if told["role"] == "user" and (wanted := CALL.search(text)):
            await response.write(event(calls(call(0, "c1", wanted[1], wanted[2]))) + event(chunk("tool_calls")))
        else:
            first, stop, rest = text.partition(STOP)
            await response.write(event(chunk(content=first)))
            if stop:
                await self.go_on.wait()
                await response.write(event(chunk(content=rest)))
            await response.write(event(chunk("stop")))
        await response.write(event("[DONE]"))
