"""Asks no more of a model than it takes: a prompt is counted before it is sent, and shortened where it is too long."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from app.domain.errors import ModelFailure
from app.domain.events import ContextTrimmed, Entry, MessageAdded, ToolReturned
from app.domain.messages import Message
from app.domain.streaming import ModelRequest
from app.domain.trace import conversation, left_out_of, stub
from app.engine.loop.trimming import Trimming, Weighed, trimmed
from app.engine.ports import Models
from app.engine.run.limits import Prompt
from app.engine.run.run import LONG, Run

SPARE = 0.8
"""A prompt that is too long is shortened to this share of the room, so that the next steps fit without a trim each."""
AFTER_OVERFLOW = 0.7
"""The share that is left of a prompt which its provider found too long."""


async def next_prompt(run: Run) -> Prompt:
    """What the model is asked next, which its window holds as far as both are known; counted once for each step.

    What had to be left out for that is in the trace. Raises `ModelFailure` where even the last turn does not fit.
    """
    if run.prompt is None or _grown(run.recorder.entries[run.prompt.entries :]):
        run.prompt = await _fitted(run)
    return run.prompt


async def shorten(run: Run, refused: ModelRequest) -> bool:
    """After a provider found the prompt too long: leave more out of the next; false when there is nothing to leave out.

    What was left out is in the trace.
    """
    tokens = await run.models.count_tokens(refused)
    return await _trim(run, refused, tokens, room=int(tokens * AFTER_OVERFLOW))


def room_in(window: int, max_tokens: int) -> int:
    """Tokens of prompt that a window holds beside the answer, for which at most half of it is kept."""
    return window - min(max_tokens, window // 2)


async def _fitted(run: Run) -> Prompt:
    window = await run.models.window(run.started.model)
    request = await _request(run)
    if window is None and not _tokens_matter(run):
        return Prompt(request, None, len(run.recorder.entries))
    tokens = await run.models.count_tokens(request)
    if window is not None and tokens > (room := room_in(window, request.parameters.max_tokens)):
        await _trim(run, request, tokens, room=int(room * SPARE))
        request = await _request(run)
        tokens = await run.models.count_tokens(request)
        if tokens > window:
            raise _too_long(request, tokens, window)
    return Prompt(request, tokens, len(run.recorder.entries))


async def _request(run: Run) -> ModelRequest:
    """What the run asks next; a long conversation is put together in a thread."""
    if len(run.recorder.entries) < LONG:
        return run.request()
    return await asyncio.to_thread(run.request)


def _tokens_matter(run: Run) -> bool:
    price = run.models.price(run.started.model)
    return run.budget.counts_tokens or (price is not None and (price.input > 0 or price.output > 0))


async def _trim(run: Run, request: ModelRequest, tokens: int, *, room: int) -> bool:
    entries = run.recorder.entries
    trimming = await trimming_for(request, conversation(entries), run.models, room=room)
    if trimming.left_out == left_out_of(entries) or trimming.tokens >= tokens:
        return False
    run.recorder.record(ContextTrimmed(left_out=trimming.left_out, tokens_before=tokens, tokens_after=trimming.tokens))
    return True


async def trimming_for(request: ModelRequest, messages: Sequence[Message], models: Models, *, room: int) -> Trimming:
    """What to leave out of the messages so that the request with them takes at most `room` tokens; its tokens then."""
    bare = await models.count_tokens(replace(request, messages=()))
    trimming = trimmed(await _weighed(request, messages, models), room=room - bare)
    return replace(trimming, tokens=trimming.tokens + bare)


async def _weighed(request: ModelRequest, messages: Sequence[Message], models: Models) -> list[Weighed]:
    empty = replace(request, system=None, tools=(), messages=(), output_schema=None)
    none = await models.count_tokens(empty)

    async def tokens(message: Message) -> int:
        return await models.count_tokens(replace(empty, messages=(message,))) - none

    weighed = []
    for message in messages:
        whole = await tokens(message)
        short = await tokens(stub(message)) if message.role == "tool" else whole
        weighed.append(Weighed(message, whole, short if short < whole else None))
    return weighed


def _grown(entries: Sequence[Entry]) -> bool:
    """Whether the conversation is another one after these entries."""
    return any(isinstance(entry.event, MessageAdded | ToolReturned | ContextTrimmed) for entry in entries)


def _too_long(request: ModelRequest, tokens: int, window: int) -> ModelFailure:
    return ModelFailure(
        "context_overflow",
        f"This turn is too long for {request.model}: about {tokens:,} tokens with the system prompt and the tools and "
        f"without all that was said before, and the model takes {window:,}. Shorten the message or the system prompt, "
        "or choose a model that reads more.",
    )
