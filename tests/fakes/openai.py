"""A server that speaks OpenAI's chat completions, with the habits and faults of the many that do.

The model's name says what it does, see `STREAMS`, `REFUSALS` and `_special`. As a process of its own:
`python -m tests.fakes.openai --port 8095`.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable

from aiohttp import web

from tests.fakes.files import FileStore
from tests.fakes.markdown import markdown, pieces
from tests.fakes.server import FakeServer, Json, event, serve

USAGE = {
    "prompt_tokens": 11,
    "completion_tokens": 7,
    "total_tokens": 18,
    "prompt_tokens_details": {"cached_tokens": 4},
    "completion_tokens_details": {"reasoning_tokens": 3},
}
SECRET = "sk-fake-0123456789abcdefghij"
"""A key that the refusals quote back, as some providers do."""

HUGE = 20_000_000
"""Characters of the longest line that is sent."""

Refusal = tuple[int, str, str | None, str, dict[str, str]]

REFUSALS: dict[str, Refusal] = {
    "e400": (400, "invalid_request_error", None, "Unrecognized request argument supplied: foo", {}),
    "e400-context": (
        *(400, "invalid_request_error", "context_length_exceeded"),
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        {},
    ),
    "e400-context-llama": (
        *(400, "exceed_context_size_error", None),
        "the request exceeds the available context size, try increasing it",
        {},
    ),
    "e400-context-words": (
        *(400, "invalid_request_error", None),
        "prompt is too long: 210000 tokens > 200000 maximum",
        {},
    ),
    "e400-safety": (
        *(400, "invalid_request_error", "content_policy_violation"),
        "Your request was rejected as a result of our safety system.",
        {},
    ),
    "e401": (401, "invalid_request_error", "invalid_api_key", f"Incorrect API key provided: {SECRET}.", {}),
    "e402": (402, "billing", None, "Insufficient credits", {}),
    "e403": (403, "permission_error", None, "Project does not have access to model", {}),
    "e404": (404, "invalid_request_error", "model_not_found", "The model `x` does not exist.", {}),
    "e413": (413, "invalid_request_error", None, "Request body too large", {}),
    "e422": (422, "invalid_request_error", None, "Field required: messages", {}),
    "e429": (
        *(429, "requests", "rate_limit_exceeded", "Rate limit reached for gpt-x. Please try again in 2s."),
        {"retry-after": "2"},
    ),
    "e429-silent": (429, "requests", "rate_limit_exceeded", "Rate limit reached for gpt-x.", {}),
    "e429-hours": (
        *(429, "requests", "rate_limit_exceeded", "Rate limit reached for gpt-x. Please try again in 2h."),
        {"retry-after": "7200"},
    ),
    "e429-quota": (
        *(429, "insufficient_quota", "insufficient_quota"),
        "You exceeded your current quota, please check your plan and billing details.",
        {},
    ),
    "e500": (500, "server_error", None, "The server had an error while processing your request", {}),
    "e503": (503, "server_error", None, "The engine is currently overloaded, please try again later", {}),
    "e529": (529, "overloaded_error", None, "Overloaded", {}),
}


def chunk(finish: str | None = None, **delta: object) -> Json:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "fake",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def call(index: int | None = None, id: str | None = None, name: str | None = None, arguments: object = None) -> Json:
    """A piece of a tool call with only those fields that are given."""
    function = {key: value for key, value in {"name": name, "arguments": arguments}.items() if value is not None}
    piece: Json = {"function": function}
    if id is not None:
        piece |= {"id": id, "type": "function"}
    if index is not None:
        piece["index"] = index
    return piece


def calls(*pieces: Json) -> Json:
    return chunk(tool_calls=list(pieces))


STREAMS: dict[str, list[Json]] = {
    "ok": [
        chunk(role="assistant", content=""),
        *(chunk(content=text) for text in ("Hel", "lo ", "wor", "ld")),
        chunk("stop"),
    ],
    "no-role": [chunk(content="Hello"), chunk("stop")],
    "finish-with-text": [chunk(content="Hel"), chunk("stop", content="lo")],
    "odd-finish": [chunk(content="Hello"), chunk("eos")],
    "length": [chunk(content="I was cut"), chunk("length")],
    "length-thinking": [chunk(reasoning_content="hm, hm"), chunk("length")],
    "filter": [chunk(content="I"), chunk("content_filter")],
    "filter-empty": [chunk(role="assistant", content=""), chunk("content_filter")],
    "empty": [chunk(role="assistant", content=""), chunk("stop")],
    "blank": [chunk(content=" \n"), chunk("stop")],
    "repeating": [*(chunk(content="ha ") for _ in range(500)), chunk("stop")],
    "reasoning": [
        *(chunk(reasoning_content="First "), chunk(reasoning="second.")),
        *(chunk(content="The "), chunk(content="answer."), chunk("stop")),
    ],
    "think-tags": [
        *(chunk(content="<th"), chunk(content="ink>in"), chunk(content="line</thi"), chunk(content="nk>\n\nans")),
        *(chunk(content="wer"), chunk("stop")),
    ],
    "think-unclosed": [chunk(content="<think>"), chunk(content="for ever"), chunk("stop")],
    "tools": [
        chunk(role="assistant", content=None, tool_calls=[call(0, "call_a", "get_weather", "")]),
        *(calls(call(0, arguments=text)) for text in ('{"ci', 'ty":"Pa', 'ris"}')),
        calls(call(1, "call_b", "add", "")),
        *(calls(call(1, arguments=text)) for text in ('{"a":2,', '"b":40}')),
        chunk("tool_calls"),
    ],
    "tools-interleaved": [
        calls(call(0, "call_a", "f", ""), call(1, "call_b", "g", "")),
        calls(call(1, arguments='{"x":')),
        calls(call(0, arguments='{"y":')),
        calls(call(1, arguments="1}"), call(0, arguments="2}")),
        chunk("tool_calls"),
    ],
    "tools-same-index": [
        calls(call(0, "call_a", "f", '{"x":1}')),
        calls(call(0, "call_b", "g", '{"y":2}')),
        chunk("stop"),
    ],
    "tools-no-index": [
        calls(call(None, "call_a", "f", '{"x":1}')),
        calls(call(None, "call_b", "g", '{"y":2}')),
        chunk("tool_calls"),
    ],
    "tools-repeated-name": [
        calls(call(0, "call_a", "f", '{"x"')),
        calls(call(0, "call_a", "f", ":1}")),
        chunk("tool_calls"),
    ],
    "tools-object-arguments": [calls(call(0, "", "f", {"x": 1})), chunk("stop")],
    "tools-empty-ids": [calls(call(0, "", "f", '{"x":1}')), calls(call(0, "", "g", '{"y":2}')), chunk("tool_calls")],
    "tools-duplicate-ids": [
        calls(call(0, "call_0", "f", '{"x":1}')),
        calls(call(1, "call_0", "g", '{"y":2}')),
        chunk("tool_calls"),
    ],
    "tools-no-arguments": [calls(call(0, "call_a", "f")), chunk("tool_calls")],
    "tools-malformed": [calls(call(0, "call_a", "f", '{"x": 1')), chunk("tool_calls")],
    "tools-no-object": [calls(call(0, "call_a", "f", "[1, 2]")), chunk("tool_calls")],
    "tools-length": [calls(call(0, "call_a", "f", '{"x": 1')), chunk("length")],
    "tools-half-text": [chunk(content="Let me"), calls(call(0, "call_a", "f", '{"x":')), chunk("length")],
    "tools-and-text": [chunk(content="Let me look. "), calls(call(0, "call_a", "f", '{"x":1}')), chunk("tool_calls")],
}

_CUT: dict[str, list[Json]] = {
    "eof": [chunk(content="part")],
    "eof-empty": [],
    "eof-in-call": [calls(call(0, "call_a", "f", '{"x":'))],
    "eof-after-call": [calls(call(0, "call_a", "f", '{"x":1}'))],
}
"""Streams that end without a finish reason."""


class FakeOpenAI(FakeServer):
    """Behaviours by the model's name; `calls-3` asks for three calculations, `text-20000-10` pauses 10 ms a piece.

    `asks-f` calls the tool f with what it is told. `flaky-2-e500` refuses twice like `e500`, then answers; after the
    results of its tools every model says hello.
    """

    def __init__(self) -> None:
        super().__init__()
        self.store = FileStore("openai")

    def routes(self) -> list[web.RouteDef]:
        return [
            *self.store.routes(),
            web.post("/v1/chat/completions", self._chat),
            web.post("/chat/completions", self._chat),
            web.get("/v1/models", self._models),
        ]

    @property
    def base(self) -> str:
        return f"{self.url}/v1"

    async def _models(self, request: web.Request) -> web.Response:
        if (refusal := self._wrong_key(request)) is not None:
            return refused(refusal)
        return web.json_response({"object": "list", "data": [{"id": name, "object": "model"} for name in STREAMS]})

    def _wrong_key(self, request: web.Request) -> Refusal | None:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if not self.key or given == self.key:
            return None
        return (401, "invalid_request_error", "invalid_api_key", f"Incorrect API key provided: {given}.", {})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        model = str(body["model"])
        await self.note(request, model, body)
        if (refusal := self._wrong_key(request) or _refusal(model, body)) is not None:
            return refused(refusal)
        if self.store.uploads and (missing := self.store.missing(body)):
            return refused((400, "invalid_request_error", "invalid_value", f"No such File object: {missing}", {}))
        if model == "e502-html":
            return web.Response(status=502, text="<html><h1>Bad gateway</h1></html>", content_type="text/html")
        if model == "html-200":
            return web.Response(text="<html>Log in to the hotel's network</html>", content_type="text/html")
        flaky = re.fullmatch(r"flaky-(\d+)-(e[\w-]+)", model)
        if flaky and self.seen.hits[model] <= int(flaky[1]):
            return refused(REFUSALS[flaky[2]])
        return await self.stream(request, self._writer(request, model, body))

    def _writer(self, request: web.Request, model: str, body: Json) -> Callable[[web.StreamResponse], Awaitable[None]]:
        async def write(response: web.StreamResponse) -> None:
            special = _special(model)
            if special is not None:
                await special(request, response)
                return
            for part in _stream(model, body):
                await response.write(event(part))
            if model not in _CUT:
                await _end(response, body, with_done=model != "no-done", with_usage=model != "no-usage")

        return write


def _refusal(model: str, body: Json) -> Refusal | None:
    if model == "no-tools" and body.get("tools"):
        return 400, "invalid_request_error", None, "no-tools does not support tools", {}
    return REFUSALS.get(model)


def refused(refusal: Refusal) -> web.Response:
    status, kind, code, message, headers = refusal
    error = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return web.json_response(error, status=status, headers=headers)


def _stream(model: str, body: Json) -> list[Json]:
    calculations = re.fullmatch(r"calls-(\d+)", model)
    if calculations:
        return _calculations(int(calculations[1]), body)
    if body["messages"][-1]["role"] == "tool":
        return STREAMS["ok"]
    if asked := re.fullmatch(r"asks-(\w+)", model):
        return [calls(call(0, "call_a", asked[1], str(body["messages"][-1]["content"]))), chunk("tool_calls")]
    return {**STREAMS, **_CUT}.get(model, STREAMS["ok"])


def _calculations(wanted: int, body: Json) -> list[Json]:
    """One call of the calculator after the other, then the answer."""
    messages = body["messages"]
    asked = max(index for index, message in enumerate(messages) if message["role"] == "user")
    done = sum(message["role"] == "tool" for message in messages[asked:])
    if done >= wanted:
        return [chunk(content=f"Done after {done} calls: {messages[-1]['content']}"), chunk("stop")]
    arguments = json.dumps({"operation": "add", "x": done, "y": 1})
    return [calls(call(0, f"call_{len(messages)}", "calculator", arguments)), chunk("tool_calls")]


async def _end(response: web.StreamResponse, body: Json, *, with_done: bool = True, with_usage: bool = True) -> None:
    if with_usage and (body.get("stream_options") or {}).get("include_usage"):
        await response.write(event({**chunk(), "choices": [], "usage": USAGE}))
    if with_done:
        await response.write(event("[DONE]"))


Special = Callable[[web.Request, web.StreamResponse], Awaitable[None]]


def _special(model: str) -> Special | None:
    """Behaviours that a list of chunks cannot say."""
    text = re.fullmatch(r"text-(\d+)-(\d+)", model)
    if text:
        return lambda _, response: _text(response, int(text[1]), int(text[2]) / 1000)
    ticking = re.fullmatch(r"tick-(\d+)-(\d+)", model)
    if ticking:
        return lambda _, response: _tick(response, int(ticking[1]), int(ticking[2]) / 1000)
    return {
        "reset": _reset,
        "error-first": _error_first,
        "hang": _hang,
        "stall": _stall,
        "pings": _pings,
        "drop": _drop,
        "drop-in-line": _drop_in_line,
        "bad-json": _bad_json,
        "bad-utf8": _bad_utf8,
        "error-in-stream": _error_in_stream,
        "one-huge-line": _huge_line,
        "buffered": _buffered,
    }.get(model)


async def _text(response: web.StreamResponse, characters: int, pause: float) -> None:
    for piece in pieces(markdown(characters)):
        await response.write(event(chunk(content=piece)))
        await asyncio.sleep(pause)
    await response.write(event(chunk("stop")))
    await response.write(event({**chunk(), "choices": [], "usage": USAGE}) + event("[DONE]"))


async def _tick(response: web.StreamResponse, tokens: int, pause: float) -> None:
    """One token at a time, and always the next one before anybody would call it silence."""
    for number in range(tokens):
        await asyncio.sleep(pause)
        await response.write(event(chunk(content=f"{number} ")))
    await response.write(event(chunk("stop")) + event("[DONE]"))


async def _reset(request: web.Request, _: web.StreamResponse) -> None:
    if request.transport:
        request.transport.abort()  # type: ignore[attr-defined]


async def _error_first(_: web.Request, response: web.StreamResponse) -> None:
    error = {"error": {"message": "Something broke before the first word", "type": "server_error", "code": 500}}
    await response.write(event(error) + event("[DONE]"))


async def _hang(_: web.Request, __: web.StreamResponse) -> None:
    await asyncio.Event().wait()


async def _stall(_: web.Request, response: web.StreamResponse) -> None:
    await response.write(event(chunk(content="part")))
    await asyncio.Event().wait()


async def _pings(_: web.Request, response: web.StreamResponse) -> None:
    """Signs of life and nothing else, as some send while a model is busy."""
    while True:
        await response.write(b": still here\n\n")
        await asyncio.sleep(0.05)


async def _drop(request: web.Request, response: web.StreamResponse) -> None:
    await response.write(event(chunk(content="part")))
    await asyncio.sleep(0.05)
    if request.transport:
        request.transport.abort()  # type: ignore[attr-defined]


async def _drop_in_line(request: web.Request, response: web.StreamResponse) -> None:
    await response.write(event(chunk(content="part")) + event(chunk(content="more"))[:40])
    await asyncio.sleep(0.05)
    if request.transport:
        request.transport.abort()  # type: ignore[attr-defined]


async def _bad_json(_: web.Request, response: web.StreamResponse) -> None:
    await response.write(event(chunk(content="part")) + b"data: {bad json\n\n" + event(chunk("stop")) + event("[DONE]"))


async def _bad_utf8(_: web.Request, response: web.StreamResponse) -> None:
    broken = event(chunk(content="part")).replace(b"part", b"p\xff\xfert")
    await response.write(broken + event(chunk("stop")) + event("[DONE]"))


async def _error_in_stream(_: web.Request, response: web.StreamResponse) -> None:
    error = {"error": {"message": "Overloaded in mid-stream", "type": "server_error", "code": 503}}
    await response.write(event(chunk(content="part")) + event(error) + event("[DONE]"))


async def _huge_line(_: web.Request, response: web.StreamResponse) -> None:
    await response.write(event(chunk(content="x" * HUGE)) + event(chunk("stop")) + event("[DONE]"))


async def _buffered(_: web.Request, response: web.StreamResponse) -> None:
    """Everything at once, so that the reader never has to wait."""
    body = b"".join(event(chunk(content=piece)) for piece in pieces(markdown(20_000)))
    await response.write(body + event(chunk("stop")) + event("[DONE]"))


if __name__ == "__main__":
    serve(FakeOpenAI())
