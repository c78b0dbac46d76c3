"""Reading one streamed answer: deltas as they come, the idle timeout, and whether it came to its end."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

from app.domain.errors import ModelFailure
from app.domain.messages import FinishReason, Usage
from app.domain.streaming import Delta, ModelRequest, Reply
from app.llm.litellm.accumulator import LONGEST_ANSWER, Accumulator
from app.llm.litellm.chunks import feed, finish_of, has_usage, usage_of
from app.llm.litellm.kept_chunks import LAST, join_kept
from app.llm.litellm.stream_end import Ended

_TURN = 0.005
"""Seconds of reading after which the rest of the loop gets its turn: a full buffer never waits by itself."""


class AnswerReader:
    """One answer of LiteLLM's: first `deltas`, to its end, then `reply`."""

    def __init__(self, request: ModelRequest, model: str) -> None:
        self._request = request
        self._model = model
        self._answer = Accumulator(call.call_id for message in request.messages for call in message.tool_calls)
        self._finish: FinishReason | None = None
        self._usage: Usage | None = None

    async def deltas(self, chunks: AsyncIterator[object], ended: Ended) -> AsyncGenerator[Delta, None]:
        clock = asyncio.get_running_loop().time
        turn_began = clock()
        while (chunk := await self._next(chunks)) is not None:
            for delta in feed(self._answer, chunk):
                yield delta
            self._note(chunk, chunks)
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
        if not ended():
            self._finish = None

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
        async with asyncio.timeout(self._request.idle_timeout):
            return await anext(chunks, None)

    def _note(self, chunk: object, chunks: object) -> None:
        join_kept(chunks)
        self._finish = finish_of(chunk) or self._finish
        if has_usage(chunk):
            self._usage = usage_of(chunk, estimated=not _named_usage(chunks))

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
