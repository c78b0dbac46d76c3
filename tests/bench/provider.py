"""An OpenAI-compatible provider in a process of its own, for measuring.

Its models: `stream-<characters>-<chunks a second>`, where a pace of 0 is full speed and the text is varied Markdown,
since equal chunks are taken for a stuck model; `mixed-<characters>-<chunks a second>`, which calls the calculator
before every second of such answers; `echo-0-0`, which says what it was told; and `sums-<calls>-0`, which asks for that
many sums, one after the other, and then answers, at once, streamed or not.
"""

import asyncio
import itertools
import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from tests.app_process import ROOT, free_port

CHUNK = 4
"""Characters in one chunk, about one token."""
ENOUGH = asyncio.Event()


def markdown(characters: int) -> str:
    """Headings, lists, tables, formulas and code, never twice the same."""
    blocks = (
        f"## Part {number}\n\nSome **bold** words and `code` about item {number}, in a sentence of usual length.\n\n"
        f"- first point {number}\n- second point {number}\n\n| a | b |\n|---|---|\n| {number} | {number * 7} |\n\n"
        f"With $x_{{{number}}}^2$ it is\n\n$$\n\\sum_{{i=1}}^{{{number}}} i > \\frac{{{number}^2}}{{2}}\n$$\n\n"
        f"```python\nprint({number} + 1)\n```\n\n"
        for number in itertools.count()
    )
    text = ""
    while len(text) < characters:
        text += next(blocks)
    return text[:characters]


def chunks(text: str) -> Iterator[bytes]:
    for start in range(0, len(text), CHUNK):
        yield event({"content": text[start : start + CHUNK]}, None)


def event(delta: dict[str, object], finish: str | None, usage: dict[str, int] | None = None) -> bytes:
    chunk: dict[str, object] = {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "bench",
        "choices": [] if usage else [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    if usage:
        chunk["usage"] = usage
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


async def complete(request: web.Request) -> web.StreamResponse:
    asked = await request.json()
    kind, characters, pace = asked["model"].split("-")
    said = [message["role"] for message in asked["messages"]]
    if kind == "sums" or (kind == "mixed" and said[-1] == "user" and said.count("user") % 2):
        return sums(asked, said.count("tool") + 1 if kind == "mixed" else int(characters))
    text = asked["messages"][-1]["content"] if kind == "echo" else markdown(int(characters))
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    began = time.monotonic()
    ENOUGH.clear()
    for number, chunk in enumerate(chunks(text)):
        if ENOUGH.is_set():
            break
        if int(pace):
            await asyncio.sleep(max(0, began + number / int(pace) - time.monotonic()))
        await response.write(chunk)
    await response.write(event({}, "stop"))
    await response.write(
        event({}, None, {"prompt_tokens": 9, "completion_tokens": int(characters) // 4, "total_tokens": 9})
    )
    await response.write(b"data: [DONE]\n\n")
    return response


def sums(asked: dict[str, Any], wanted: int) -> web.Response:
    """The next sum, or the answer when there were enough of them, all of it in one piece."""
    done = sum(message["role"] == "tool" for message in asked["messages"])
    message: dict[str, object] = {"role": "assistant", "content": f"Done after {done} sums."}
    if done < wanted:
        arguments = json.dumps({"operation": "add", "x": done, "y": 1})
        function = {"name": "calculator", "arguments": arguments}
        message = {"role": "assistant", "content": None}
        message["tool_calls"] = [{"index": 0, "id": f"call_{done}", "type": "function", "function": function}]
    finish = "tool_calls" if done < wanted else "stop"
    usage = {"prompt_tokens": 90 + 40 * done, "completion_tokens": 20, "total_tokens": 110 + 40 * done}
    if asked.get("stream"):
        events = [event(message, None), event({}, finish), event({}, None, usage), b"data: [DONE]\n\n"]
        return web.Response(body=b"".join(events), headers={"Content-Type": "text/event-stream"})
    choice = {"index": 0, "message": message, "finish_reason": finish}
    whole = {"id": "c1", "object": "chat.completion", "created": 1, "model": "bench", "choices": [choice]}
    return web.json_response({**whole, "usage": usage})


async def health(_: web.Request) -> web.Response:
    return web.Response(text="ok")


async def enough(_: web.Request) -> web.Response:
    ENOUGH.set()
    return web.Response(text="ok")


@contextmanager
def provider() -> Iterator[str]:
    """The address of a running provider, for `OPENAI_BASE_URL`."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", "tests.bench.provider", str(port)], cwd=ROOT)
    try:
        while not serving(port):
            assert process.poll() is None
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(10)


def say_enough(address: str) -> None:
    """End the answer that the provider of that address streams: it is complete then."""
    with urllib.request.urlopen(f"{address.removesuffix('/v1')}/enough", timeout=60):
        pass


def serving(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False


def main(port: int) -> None:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", complete)
    app.router.add_get("/health", health)
    app.router.add_get("/enough", enough)
    web.run_app(app, host="127.0.0.1", port=port, print=None, handler_cancellation=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
