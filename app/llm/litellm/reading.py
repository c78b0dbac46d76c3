"""Reading one streamed answer: deltas as they come, the idle timeout, and whether it came to its end."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import NamedTuple

from app.domain.errors import ModelFailure
from app.domain.messages import FinishReason, Usage
from app.domain.streaming import Delta, ModelRequest, Reply
from app.llm.litellm.accumulator import LONGEST_ANSWER, Accumulator
from app.llm.litellm.chunks import attributes, feed, finish_of, has_usage, usage_of
from app.llm.tokens import count_tokens, text_tokens

_TURN = 0.005
"""Seconds of reading after which the rest of the loop gets its turn: a full buffer never waits by itself."""

LAST = 8
"""Chunks that stay as they are: LiteLLM compares the last ones, and usage comes with them."""
LONGEST = 4_000
"""Characters of one chunk, since each join copies it."""

Ended = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Opened:
    """An answer that begins to come."""

    chunks: AsyncIterator[object]
    ended: Ended
    """Asked behind the last chunk: did the provider end its answer?"""
    kept: object = None
    """LiteLLM's stream object, which keeps chunks in order to count them where no usage is named."""


_SAID_BY_LINE = frozenset({"gemini"})
"""Providers for which LiteLLM names a finish reason in every chunk; theirs is looked for in what they sent."""


class _Text(NamedTuple):
    """What a chunk adds to one text, and where that stands."""

    of: tuple[str, object]
    holder: object
    name: str
    text: str


class AnswerReader:
    """One answer of LiteLLM's: first `deltas`, to its end, then `reply`."""

    def __init__(self, request: ModelRequest, model: str) -> None:
        self._request = request
        self._model = model
        self._answer = Accumulator(call.call_id for message in request.messages for call in message.tool_calls)
        self._finish: FinishReason | None = None
        self._usage: Usage | None = None

    async def deltas(self, answer: Opened) -> AsyncGenerator[Delta, None]:
        clock = asyncio.get_running_loop().time
        turn_began = clock()
        while (chunk := await self._next(answer.chunks)) is not None:
            for delta in feed(self._answer, chunk):
                yield delta
            self._note(chunk, answer.kept)
            if self._answer.size > LONGEST_ANSWER:
                self._finish = "length"
                return
            if self._finish and self._usage:
                break  # reading on, LiteLLM would log the answer, and for that ask Ollama something and block the loop
            if clock() - turn_began > _TURN:
                await asyncio.sleep(0)
                turn_began = clock()
        for delta in self._answer.end():
            yield delta
        if not answer.ended():
            self._finish = None

    async def count(self) -> None:
        """Estimate the usage, where the provider named none and LiteLLM did not."""
        if self._usage is None and self._finish is not None:
            message = self._answer.message(self._model)
            calls = "".join(call.name + json.dumps(call.arguments) for call in message.tool_calls)
            asked = await count_tokens(self._request)
            answered = await text_tokens(message.reasoning + message.text + calls, self._model)
            self._usage = Usage(input_tokens=asked.tokens, output_tokens=answered.tokens, estimated=True)

    def reply(self, provider: str) -> Reply:
        """The whole answer. Raises `ModelFailure` when it was broken off, is empty, or was filtered away."""
        if self._finish is None:
            raise ModelFailure("bad_response", f"The answer of {provider} broke off before its end.")
        if not self._answer.has_text and not self._answer.has_calls:
            raise self._empty(provider, self._finish)
        return Reply(
            self._answer.message(self._model), self._usage or Usage(estimated=True), self._reason(self._finish)
        )

    async def _next(self, chunks: AsyncIterator[object]) -> object | None:
        """The next chunk, `None` behind the last one."""
        try:
            async with asyncio.timeout(self._request.idle_timeout):
                return await anext(chunks, None)
        except Exception as error:
            if self._finish is None or not _hung_up(error):
                raise
            return None  # as LiteLLM's own call has it: an answer is whole once its end was named

    def _note(self, chunk: object, kept: object) -> None:
        join_kept(kept)
        self._finish = finish_of(chunk) or self._finish
        if has_usage(chunk):
            self._usage = usage_of(chunk, estimated=kept is not None and not _named_usage(kept))

    def _reason(self, finish: FinishReason) -> FinishReason:
        """Some servers end a turn with tool calls by `stop`."""
        if self._answer.has_calls:
            return "tool_calls" if finish == "stop" else finish
        return "stop" if finish == "tool_calls" else finish

    def _empty(self, provider: str, finish: FinishReason) -> ModelFailure:
        if finish == "content_filter":
            return ModelFailure(
                "safety_filter",
                f"{provider} stopped the answer for reasons of safety.",
            )
        if finish == "length":
            return ModelFailure(
                "bad_response",
                f"The model used up its {self._request.parameters.max_tokens} tokens before it said anything. "
                "Allow it more of them in the settings.",
            )
        return ModelFailure("bad_response", f"{provider} sent an empty answer.")


def _named_usage(chunks: object) -> bool:
    """True when the provider named a usage: LiteLLM counts one itself where there is none."""
    kept = getattr(chunks, "chunks", None) or []
    return any(has_usage(chunk) for chunk in (*kept[:2], *kept[-LAST:]))


def join_kept(stream: object) -> None:
    """Join the chunks that LiteLLM keeps to count them where no usage is named; to be called after each.

    Text that goes on becomes one chunk with what it goes on from: a hundred thousand chunks fill a gigabyte, and each
    time Python looks through that for garbage, all else stands still.
    """
    kept = getattr(stream, "chunks", None)
    if not isinstance(kept, list) or len(kept) < LAST + 2:
        return
    before, added = (_text(chunk) for chunk in kept[-LAST - 2 : -LAST])
    if before and added and before.of == added.of and len(before.text) < LONGEST:
        setattr(before.holder, before.name, before.text + added.text)
        del kept[-LAST - 1]


def _text(chunk: object) -> _Text | None:
    """`None` where it adds anything else, or more than text."""
    choices = attributes(chunk).get("choices")
    if has_usage(chunk) or not isinstance(choices, list) or len(choices) != 1 or choices[0].finish_reason:
        return None
    delta = choices[0].delta
    added = {name: value for name, value in attributes(delta).items() if value and name != "role"}
    match added:
        case {"content": str(text)} | {"reasoning_content": str(text)} if len(added) == 1:
            [name] = added
            return _Text((name, None), delta, name, text)
        case {"tool_calls": [call]} if len(added) == 1:
            function = getattr(call, "function", None)
            arguments = getattr(function, "arguments", None)
            if isinstance(arguments, str) and not getattr(call, "id", None) and not getattr(function, "name", None):
                return _Text(("arguments", getattr(call, "index", None)), function, "arguments", arguments)
    return None


async def end_of(stream: object, provider: str) -> Ended:
    """A question to ask behind the last chunk: did the provider end its answer?

    LiteLLM makes up a finish reason for a stream that just ends, so a broken connection looks like a short answer. What
    tells them apart is inside its stream object; where a later version no longer has it, every stream counts as broken
    off, and the contract tests say so before anybody else does.
    """
    if provider in _SAID_BY_LINE:
        return await _watched_lines(stream)
    return lambda: getattr(stream, "received_finish_reason", None) is not None


async def _watched_lines(stream: object) -> Ended:
    fetch = getattr(stream, "fetch_stream", None)
    response = await fetch() if fetch else None
    lines = getattr(response, "streaming_response", None)
    ended = False
    if lines is None:
        return lambda: False

    async def watched(lines: AsyncGenerator[str, None]) -> AsyncIterator[str]:
        nonlocal ended
        async with aclosing(lines):
            async for line in lines:
                ended = ended or '"finishReason"' in line
                yield line

    vars(response)["streaming_response"] = watched(lines)
    return lambda: ended


def _hung_up(error: Exception) -> bool:
    import aiohttp  # noqa: PLC0415  it takes a tenth of a second, and is there by now

    return isinstance(error, aiohttp.ClientError)
