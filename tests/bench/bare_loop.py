"""The loop that anybody would write: LiteLLM behind FastAPI, with one tool, and nothing kept of what was done.

`python -m tests.bench.bare_loop PORT MODEL`; the provider's address and key are in the environment. `POST /run` streams
each answer as the app does; `POST /run_whole` asks for it in one piece.
"""

import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import litellm
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

Json = dict[str, Any]
Ask = Callable[[list[Json]], Awaitable[Json]]

MODEL = sys.argv[2]
NUMBER = {"type": "number"}
CALCULATOR = {
    "type": "function",
    "function": {
        "name": "calculator",
        "description": "Calculate with two numbers.",
        "parameters": {
            "type": "object",
            "properties": {"operation": {"type": "string", "enum": ["add", "subtract"]}, "x": NUMBER, "y": NUMBER},
            "required": ["operation", "x", "y"],
        },
    },
}
server = FastAPI()
litellm.suppress_debug_info = True


class Question(BaseModel):
    input: str


@server.get("/health")
async def health() -> str:
    return "ok"


@server.post("/run")
async def streamed(question: Question) -> Json:
    return await answered(question.input, ask_streaming)


@server.post("/run_whole")
async def in_one_piece(question: Question) -> Json:
    return await answered(question.input, ask)


async def answered(text: str, ask: Ask) -> Json:
    messages: list[Json] = [{"role": "user", "content": text}]
    steps = 0
    while True:
        message = await ask(messages)
        messages.append(message)
        if not message.get("tool_calls"):
            return {"output_text": message["content"], "steps": steps}
        for call in message["tool_calls"]:
            said = calculator(**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": said})
            steps += 1


async def ask_streaming(messages: list[Json]) -> Json:
    stream = await litellm.acompletion(
        MODEL, messages, tools=[CALCULATOR], stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    return litellm.stream_chunk_builder(chunks, messages=messages).choices[0].message.model_dump(exclude_none=True)


async def ask(messages: list[Json]) -> Json:
    answer = await litellm.acompletion(MODEL, messages, tools=[CALCULATOR])
    return answer.choices[0].message.model_dump(exclude_none=True)


def calculator(operation: str, x: float, y: float) -> str:
    return f"{x} + {y} = {x + y}" if operation == "add" else f"{x} - {y} = {x - y}"


if __name__ == "__main__":
    uvicorn.run(server, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
