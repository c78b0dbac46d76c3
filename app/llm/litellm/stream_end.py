"""Whether a provider itself said that its answer is complete.

LiteLLM makes up a finish reason for a stream that just ends, so a broken connection looks like a short answer. What
tells them apart is inside its stream object; where a later version no longer has it, every stream counts as broken off,
and the contract tests say so before anybody else does.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing

Ended = Callable[[], bool]

_SAID_BY_LINE = frozenset({"gemini"})
"""Providers for which LiteLLM names a finish reason in every chunk; theirs is looked for in what they sent."""


async def end_of(stream: object, provider: str) -> Ended:
    """A question to ask behind the last chunk: did the provider end its answer?"""
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
