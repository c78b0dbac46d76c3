"""A server that speaks Ollama's chat; the model's name says what it does.

As a process of its own: `python -m tests.fakes.ollama --port 11434`.
"""

import asyncio
import json

from aiohttp import web

from tests.fakes.server import FakeServer, Json, serve


def said(content: str = "", **more: object) -> Json:
    return {"message": {"role": "assistant", "content": content, **more}}


def tool(name: str, arguments: Json) -> Json:
    return said(tool_calls=[{"function": {"name": name, "arguments": arguments}}])


def done(reason: str = "stop") -> Json:
    return {**said(), "done": True, "done_reason": reason, "prompt_eval_count": 12, "eval_count": 9}


STREAMS: dict[str, list[Json]] = {
    "ok": [said("Hello "), said("world"), done()],
    "thinking-tools": [
        said(thinking="hmm "),
        said("ok "),
        tool("get_weather", {"city": "Paris"}),
        tool("add", {"a": 2, "b": 40}),
        done(),
    ],
    "length": [said("I was cut"), done("length")],
    "eof": [said("Hello")],
}


class FakeOllama(FakeServer):
    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/api/chat", self._chat),
            web.post("/api/show", self._show),
            web.get("/api/tags", self._tags),
        ]

    async def _show(self, request: web.Request) -> web.Response:
        await self.note(request, "/api/show", {})
        capabilities = ["completion", "tools", "thinking"]
        return web.json_response({"template": "{{ .Tools }}", "model_info": {}, "capabilities": capabilities})

    async def _tags(self, _: web.Request) -> web.Response:
        return web.json_response({"models": [{"name": name, "model": name, "size": 1} for name in STREAMS]})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        model = str(body["model"])
        await self.note(request, model, body)
        if model == "missing":
            return web.json_response({"error": "model 'missing' not found"}, status=404)

        async def write(response: web.StreamResponse) -> None:
            for part in STREAMS.get(model, STREAMS["eof"] if model == "drop" else STREAMS["ok"]):
                line = {"model": model, "created_at": "2026-01-01T00:00:00Z", "done": False, **part}
                await response.write(json.dumps(line).encode() + b"\n")
            if model == "drop" and request.transport:
                await asyncio.sleep(0.05)
                request.transport.abort()  # type: ignore[attr-defined]

        return await self.stream(request, write, "application/x-ndjson")


if __name__ == "__main__":
    serve(FakeOllama())
