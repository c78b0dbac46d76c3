"""What is sent to a provider on the direct route is what LiteLLM's own call sends, to the byte."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

import pytest

from app.domain.agents import Parameters
from app.domain.errors import ModelFailure
from app.domain.messages import (
    FilePart,
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    user_message,
)
from app.domain.streaming import ModelRequest
from app.llm.attachments.attachments import Attachments
from app.llm.litellm.direct import SWITCH
from app.llm.litellm.litellm_model import LiteLLMModel, ensure_litellm
from app.llm.providers.providers import PROVIDERS, connection
from tests.llm.calling import CATALOG, WEATHER
from tests.llm.sending import PDF, picture

MODELS = (
    *("openai/gpt-4o", "openai/gpt-5", "openai/gpt-5.4", "openai/o3-mini", "openai/gpt-4o-audio-preview"),
    *("openai/unheard-of", "compatible/any", "lmstudio/qwen", "llamacpp/gguf", "mistral/mistral-large-latest"),
    *("mistral/magistral-small-latest", "groq/llama-3.3-70b-versatile", "groq/openai/gpt-oss-120b"),
    *("deepseek/deepseek-chat", "deepseek/deepseek-reasoner", "xai/grok-3", "xai/grok-4", "xai/grok-3-mini"),
    *("together_ai/meta-llama/Llama-3-70b-chat-hf", "fireworks_ai/accounts/fireworks/models/llama-v3p1-8b-instruct"),
    *("openrouter/anthropic/claude-3.5-sonnet", "openrouter/openai/gpt-4o", "openrouter/some/other"),
    *("anthropic/claude-sonnet-4-5", "anthropic/claude-opus-4-6", "anthropic/claude-3-haiku-20240307"),
    *("anthropic/claude-3-7-sonnet-20250219", "anthropic/unheard-of", "ollama/llama3.1", "ollama/gpt-oss:20b"),
)
PICTURE = picture()
BY_LITELLM = {"openai/gpt-5.4": 2, "groq/llama-3.3-70b-versatile": 2, "groq/openai/gpt-oss-120b": 2}
"""How many of the shapes go by LiteLLM's call even so: in OpenAI's other protocol, or as a tool for a schema."""
OWN = frozenset({"user-agent", "host"})
CALL = ToolCall(call_id="call_0123456789", name="get_weather", arguments={"city": "Zürich"})
RESULT = Message.of_result(ToolResult(call_id=CALL.call_id, name=CALL.name, parts=(TextPart(text="5 °C"),)))
ASKED = user_message("How warm is it? 🌡️")
SCHEMA = {"type": "object", "properties": {"degrees": {"type": "number"}}, "required": ["degrees"]}
IMAGE = ImagePart(artifact="a1", media_type="image/png")


def assistant(*parts: TextPart | ToolCall | ReasoningPart, model: str = "") -> Message:
    return Message(role="assistant", parts=parts, model=model)


PLAIN = ModelRequest("", (ASKED,))
TURN = (ASKED, assistant(TextPart(text="Let me see."), CALL), RESULT)
THOUGHT = ReasoningPart(text="Hm.", provider_fields={"field": "reasoning_content"})
SIGNED = ReasoningPart(
    text="Hm.", provider_fields={"blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}]}
)
ODD = WEATHER.model_copy(update={"name": "weather/of.all"})
BARE = WEATHER.model_copy(update={"name": "list_cities", "parameters": {"type": "object"}})
SHOWN = Message.of_result(ToolResult(call_id=CALL.call_id, name=CALL.name, parts=(IMAGE,)))
FILE = FilePart(artifact="f1", media_type="application/pdf", filename="a.pdf", size=len(PDF), path="/a.pdf")
SHAPES: dict[str, ModelRequest] = {
    "plain": PLAIN,
    "with a system prompt": replace(PLAIN, system=Message(role="system", parts=(TextPart(text="Sei nett.\n“So”"),))),
    "with a tool": replace(PLAIN, tools=(WEATHER,)),
    "with a tool without arguments": replace(PLAIN, tools=(BARE,)),
    "with one call at a time": replace(PLAIN, tools=(WEATHER,), parameters=Parameters(parallel_tool_calls=False)),
    "behind a call": replace(PLAIN, messages=TURN, tools=(WEATHER,)),
    "behind a call without words": replace(PLAIN, messages=(ASKED, assistant(CALL), RESULT), tools=(WEATHER,)),
    "behind a call, without tools": replace(PLAIN, messages=TURN),
    "in a second turn": replace(PLAIN, messages=(*TURN, assistant(TextPart(text="5 °C.")), user_message("And now?"))),
    "with all that can be chosen": replace(
        PLAIN, parameters=Parameters(temperature=0.3, top_p=0.9, max_tokens=500, stop=("END", "\n\n"), seed=7)
    ),
    "with an effort": replace(PLAIN, parameters=Parameters(reasoning_effort="low")),
    "with an effort and a tool": replace(PLAIN, tools=(WEATHER,), parameters=Parameters(reasoning_effort="high")),
    "with a schema": replace(PLAIN, output_schema=SCHEMA),
    "with a schema and a tool": replace(PLAIN, output_schema=SCHEMA, tools=(WEATHER,)),
    "with a schema and an effort": replace(PLAIN, output_schema=SCHEMA, parameters=Parameters(reasoning_effort="low")),
    "with a picture": replace(PLAIN, messages=(user_message("Look", IMAGE),)),
    "with a picture from a tool": replace(PLAIN, messages=(*TURN[:2], SHOWN), tools=(WEATHER,)),
    "with a file": replace(PLAIN, messages=(user_message("Read", FILE),)),
    "with a tool of a name that some refuse": replace(PLAIN, tools=(ODD,)),
    "behind thinking": replace(PLAIN, messages=(ASKED, assistant(THOUGHT, CALL), RESULT), tools=(WEATHER,)),
    "behind signed thinking": replace(
        PLAIN,
        messages=(ASKED, assistant(SIGNED, TextPart(text="Let me see."), CALL), RESULT),
        tools=(WEATHER,),
        parameters=Parameters(reasoning_effort="medium"),
    ),
}


@dataclass
class Capture:
    """A server that refuses all, and keeps what it was sent."""

    url: str = ""
    direct: int = 0
    """How many came by the direct route."""
    heads: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"(?i)content-length: (\d+)", head)
        self.bodies.append(await reader.readexactly(int(length[1]) if length else 0))
        self.heads.append(head)
        self.direct += "User-Agent: agent-playground" in head
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        writer.close()

    def taken(self) -> list[tuple[str, dict[str, str], bytes]]:
        """The first line, the headers that are not its own, and the body of each."""
        taken = [(*_head(head), body) for head, body in zip(self.heads, self.bodies, strict=True)]
        self.heads.clear()
        self.bodies.clear()
        return taken


def _head(head: str) -> tuple[str, dict[str, str]]:
    first, *lines = head.strip().split("\r\n")
    named = (line.split(": ", 1) for line in lines)
    headers = {name.lower(): value for name, value in named}
    return first, {
        name: value for name, value in headers.items() if name not in OWN and not name.startswith("x-stainless")
    }


@asynccontextmanager
async def capturing() -> AsyncIterator[Capture]:
    capture = Capture()
    server = await asyncio.start_server(capture.answer, "127.0.0.1", 0)
    async with server:
        capture.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield capture


async def send(name: str, request: ModelRequest, url: str) -> None:
    provider = PROVIDERS[name.partition("/")[0]]
    known = {**dict.fromkeys(provider.keys, "sk-test-0123456789"), "OPENAI_ORGANIZATION": "org-1"}
    if provider.bases:
        known[provider.bases[0]] = f"{url}/v1"
    known[f"{name.partition('/')[0]}:address"] = f"{url}/v1"

    async def read(digest: str) -> bytes:
        return PDF if digest == FILE.artifact else PICTURE

    model = LiteLLMModel(
        name, lambda: connection(name, lambda variable: known.get(variable, "")), Attachments(CATALOG, read)
    )
    messages = tuple(replace_model(message, name) for message in request.messages)
    with suppress(ModelFailure):
        async for _ in model.stream(replace(request, model=name, messages=messages, idle_timeout=60)):
            pass


def replace_model(message: Message, name: str) -> Message:
    return message.model_copy(update={"model": name}) if message.role == "assistant" else message


@pytest.mark.parametrize("name", MODELS)
async def test_each_request_is_that_of_litellms_own_call(name: str, monkeypatch: pytest.MonkeyPatch):
    await ensure_litellm()
    async with capturing() as capture:
        for shape, request in SHAPES.items():
            monkeypatch.setenv(SWITCH, "direct")
            for _ in range(2):  # the second time much of it is remembered
                await send(name, request, capture.url)
            ours = capture.taken()
            monkeypatch.setenv(SWITCH, "litellm")
            await send(name, request, capture.url)
            assert ours == capture.taken() * 2, shape
            assert len(ours) == 2, shape
        assert capture.direct == 2 * (len(SHAPES) - BY_LITELLM.get(name, 0))
