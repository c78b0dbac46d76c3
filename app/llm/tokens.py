"""About how many tokens a prompt has, before anybody is asked.

Counted with tiktoken and the vocabulary that LiteLLM brings along, so neither LiteLLM nor a network is needed. Other
providers split text in other ways; the count is meant for a forecast and for trimming, not for the bill.
"""

import asyncio
import importlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b

from app.domain.media_types import SHOWN_IMAGES
from app.domain.messages import (
    FilePart,
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    SentKey,
    TextPart,
    ToolCall,
    ToolResult,
    sent_key,
)
from app.domain.streaming import ModelRequest
from app.domain.tools import ToolSpec
from app.llm.demo import is_demo
from app.llm.litellm.wire import result_text
from app.llm.providers.catalog import inside_litellm

_VOCABULARY = "litellm_core_utils/tokenizers/9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
"""The file of `cl100k_base`, under the name that tiktoken gives it: the sha1 of its address."""
_MESSAGE_TOKENS = 4
_IMAGE_TOKENS = 800
_CHARACTERS_PER_TOKEN = 4
_REMEMBERED_TEXTS = 4096
_LONGEST_REMEMBERED = 20_000
"""Characters; of a longer text only the digest is kept, since texts of that size would fill the memory."""

Measure = Callable[[str], int]
Weights = Mapping[SentKey, int]
NOTHING: Weights = {}


@dataclass(frozen=True, slots=True)
class TokenCount:
    tokens: int
    estimated: bool
    """True when there was no vocabulary and characters were counted instead."""


async def count_tokens(request: ModelRequest, files: Weights = NOTHING) -> TokenCount:
    """The tokens of the request's whole prompt: system prompt, conversation, tools and output schema.

    `files` says what those take that go within a message; of others only their names are counted.
    """
    return await asyncio.to_thread(_count, request, files)


async def text_tokens(text: str, model: str) -> TokenCount:
    """The tokens of a text that is being written; it is not remembered, for the next keystroke makes another one.

    The demo model counts characters, so no vocabulary, of some 50 MB in memory, is read for it.
    """
    if is_demo(model):
        return TokenCount(_by_characters(text), estimated=False)
    return await asyncio.to_thread(_count_text, text)


async def tool_tokens(tools: Iterable[ToolSpec], model: str) -> dict[str, int]:
    """By name: the tokens that each tool takes of a prompt."""
    if is_demo(model):
        return {tool.name: about_tokens(tool) for tool in tools}
    return await asyncio.to_thread(lambda: {tool.name: _measure()(_written(tool)) for tool in tools})


@cache
def read_vocabulary() -> None:
    """Have it read beside all else, once: whoever breaks an answer off counts what was asked, and would wait for it."""
    threading.Thread(target=_measure, daemon=True, name="read a vocabulary").start()


def about_tokens(tool: ToolSpec) -> int:
    """The tokens that it takes of a prompt, without a vocabulary being read for it."""
    return _by_characters(_written(tool))


def _count_text(text: str) -> TokenCount:
    count = _counter()
    return TokenCount(count(text), estimated=count is _by_characters)


def _count(request: ModelRequest, files: Weights) -> TokenCount:
    measure = _measure()
    system = measure(request.system.text) + _MESSAGE_TOKENS if request.system else 0
    tools = sum(measure(_written(tool)) for tool in request.tools)
    schema = measure(json.dumps(request.output_schema)) if request.output_schema else 0
    messages = sum(_message_tokens(message, measure, files) for message in request.messages)
    return TokenCount(system + tools + schema + messages, estimated=measure is _by_characters)


def _written(tool: ToolSpec) -> str:
    return json.dumps([tool.name, tool.description, tool.parameters])


def _message_tokens(message: Message, measure: Measure, files: Weights) -> int:
    tokens = _MESSAGE_TOKENS
    for part in message.parts:
        match part:
            case TextPart():
                tokens += measure(part.text)
            case ReasoningPart():
                tokens += measure(part.text) if part.provider_fields else 0
            case ToolCall():
                tokens += measure(part.name) + measure(json.dumps(part.arguments)) + _MESSAGE_TOKENS
            case ToolResult():
                tokens += measure(result_text(part)) + _MESSAGE_TOKENS
                tokens += _IMAGE_TOKENS * sum(map(_is_shown, part.parts))
            case ImagePart() if _is_shown(part):
                tokens += _IMAGE_TOKENS
            case FilePart() if sent_key(part) in files:
                tokens += files[sent_key(part)]
            case FilePart() | ImagePart():
                tokens += measure(part.name) + 10 * _MESSAGE_TOKENS
            case _:
                pass
    return tokens


def _is_shown(part: Part) -> bool:
    if not isinstance(part, ImagePart):
        return False
    return part.media_type in SHOWN_IMAGES and part.disposition in ("auto", "inline", "native")


def _by_characters(text: str) -> int:
    return -(-len(text) // _CHARACTERS_PER_TOKEN)


@cache
def _measure() -> Measure:
    """Counts the tokens of a text; remembers what it has counted, for a conversation is counted again each step."""
    count = _counter()
    if count is _by_characters:
        return count
    remembered = lru_cache(maxsize=_REMEMBERED_TEXTS)(count)
    long_ones: dict[bytes, int] = {}

    def measure(text: str) -> int:
        if len(text) <= _LONGEST_REMEMBERED:
            return remembered(text)
        digest = blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
        known = long_ones.get(digest)
        if known is None:  # threads count at once: what one looks for may be cleared by another
            if len(long_ones) >= _REMEMBERED_TEXTS:
                long_ones.clear()
            known = long_ones[digest] = count(text)
        return known

    return measure


@cache
def _counter() -> Measure:
    path = inside_litellm(_VOCABULARY)
    if path is None:
        return _by_characters
    # As LiteLLM sets it, too: without it tiktoken would look for its vocabulary on the network.
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(path.parent))
    encoding = importlib.import_module("tiktoken").get_encoding("cl100k_base")  # half a second, in a thread

    def count(text: str) -> int:
        return len(encoding.encode_ordinary(text))

    return count
