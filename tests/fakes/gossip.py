"""A provider and a web service that tell everything they hear: keys are repeated in answers, errors and headers."""

import json

from aiohttp import web

from tests.fakes.openai import call, calls, chunk
from tests.fakes.server import FakeServer, Json, event


class Gossip(FakeServer):
    """The model `tell` calls every tool that it is offered, then repeats all it heard in small pieces; `refuse` does
    so in an error.
    """

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/v1/chat/completions", self._chat), web.route("*", "/echo", self._echo)]

    @property
    def base(self) -> str:
        return f"{self.url}/v1"

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body: Json = await request.json()
        await self.note(request, body["model"], body)
        heard = json.dumps({"headers": dict(request.headers), "messages": body["messages"]})
        if body["model"] == "refuse":
            return web.json_response({"error": {"message": heard, "type": "gossip"}}, status=401)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in _answer(body, dict(request.headers)):
            await response.write(event(piece))
        await response.write(b"data: [DONE]\n\n")
        return response

    async def _echo(self, request: web.Request) -> web.Response:
        return web.json_response({"headers": dict(request.headers), "address": str(request.url)})


def _answer(body: Json, headers: dict[str, str]) -> list[Json]:
    names = [tool["function"]["name"] for tool in body.get("tools", ())]
    if names and body["messages"][-1]["role"] == "user":
        wanted = [call(place, f"c{place}", name, "{}") for place, name in enumerate(names)]
        return [chunk(role="assistant", content=""), calls(*wanted), chunk("tool_calls")]
    said = f"I heard {json.dumps(headers)}, and:\n" + "\n".join(map(_text, body["messages"]))
    pieces = [said[place : place + 7] for place in range(0, min(len(said), 4000), 7)]
    return [chunk(role="assistant", content=""), *(chunk(content=piece) for piece in pieces), chunk("stop")]


def _text(message: Json) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else json.dumps(content)
