"""A server that speaks Anthropic's messages, streamed; the model's name says what it does.

As a process of its own: `python -m tests.fakes.anthropic --port 8096`.
"""

import asyncio
import json

from aiohttp import web

from tests.fakes.files import FileStore
from tests.fakes.server import FakeServer, Json, serve

SIGNATURE = "c2lnbmVkLWJ5LXRoZS1mYWtl"

REFUSALS: dict[str, tuple[int, str, str]] = {
    "e400": (400, "invalid_request_error", "max_tokens: Field required"),
    "e400-context": (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    "e400-credit": (400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
    "e401": (401, "authentication_error", "invalid x-api-key"),
    "e404": (404, "not_found_error", "model: claude-nothing"),
    "e429": (429, "rate_limit_error", "This request would exceed your rate limit"),
    "e500": (500, "api_error", "Internal server error"),
    "e529": (529, "overloaded_error", "Overloaded"),
}

Event = tuple[str, Json]


def block(index: int, start: Json, *deltas: Json) -> list[Event]:
    return [
        ("content_block_start", {"index": index, "content_block": start}),
        *(("content_block_delta", {"index": index, "delta": delta}) for delta in deltas),
        ("content_block_stop", {"index": index}),
    ]


def start() -> list[Event]:
    usage = {"input_tokens": 20, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": [], "usage": usage}
    return [("message_start", {"message": {**message, "stop_reason": None}})]


def end(reason: str, output_tokens: int = 33) -> list[Event]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [("message_delta", {"delta": delta, "usage": {"output_tokens": output_tokens}}), ("message_stop", {})]


def text(index: int, *words: str) -> list[Event]:
    return block(index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": word} for word in words))


def thinking(index: int, *thoughts: str) -> list[Event]:
    deltas = [{"type": "thinking_delta", "thinking": thought} for thought in thoughts]
    signed = {"type": "signature_delta", "signature": SIGNATURE}
    return block(index, {"type": "thinking", "thinking": ""}, *deltas, signed)


def tool_use(index: int, id: str, name: str, *pieces: str) -> list[Event]:
    deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
    return block(index, {"type": "tool_use", "id": id, "name": name, "input": {}}, *deltas)


STREAMS: dict[str, list[Event]] = {
    "ok": [*start(), *text(0, "Hello ", "world"), *end("end_turn")],
    "length": [*start(), *text(0, "I was cut"), *end("max_tokens")],
    "refusal": [*start(), *end("refusal", 1)],
    "thinking-tools": [
        *start(),
        *thinking(0, "Let me ", "think."),
        *text(1, "Checking."),
        *tool_use(2, "toolu_1", "get_weather", "", '{"city": ', '"Paris"}'),
        *tool_use(3, "toolu_2", "noargs"),
        *end("tool_use"),
    ],
    "json-tool": [*start(), *tool_use(0, "toolu_1", "json_tool_call", '{"city": ', '"Paris"}'), *end("tool_use")],
    "redacted-thinking": [
        *start(),
        *block(0, {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"}),
        *text(1, "Done."),
        *end("end_turn"),
    ],
    "overloaded-in-stream": [
        *start(),
        *text(0, "Hel")[:2],
        ("error", {"error": {"type": "overloaded_error", "message": "Overloaded"}}),
    ],
    "eof": [*start(), *text(0, "Hello")[:2]],
}


class FakeAnthropic(FakeServer):
    def __init__(self) -> None:
        super().__init__()
        self.store = FileStore("anthropic")

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/v1/messages", self._messages), *self.store.routes()]

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        model = str(body["model"])
        await self.note(request, model, body)
        if self.store.uploads and (missing := self.store.missing(body)):
            lost = {"type": "not_found_error", "message": f"File not found: {missing}"}
            return web.json_response({"type": "error", "error": lost}, status=404)
        if model in REFUSALS:
            status, kind, message = REFUSALS[model]
            error = {"type": "error", "error": {"type": kind, "message": message}}
            return web.json_response(error, status=status, headers={"retry-after": "3"} if status == 429 else {})

        async def write(response: web.StreamResponse) -> None:
            for name, data in STREAMS.get(model, STREAMS["ok"]):
                await response.write(f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode())
            if model == "stall":
                await asyncio.Event().wait()

        return await self.stream(request, write)


if __name__ == "__main__":
    serve(FakeAnthropic())
