"""Asks the model: one call streamed into the trace, tried again where that may help."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from random import uniform
from time import perf_counter

from app.domain.errors import FailureClass, ModelFailure
from app.domain.events import MessageAdded, ModelCalled, ModelFailed, ModelReturned
from app.domain.messages import FinishReason, Message, ReasoningPart, TextPart, ToolCall, Usage, has_attachments
from app.domain.streaming import ModelRequest, Reply
from app.domain.values import new_id
from app.engine.loop.fitting import next_prompt, shorten
from app.engine.ports import Models
from app.engine.run.run import Run


@dataclass(frozen=True)
class RetryRule:
    retries: int
    first_wait: float
    """Seconds before the first retry; each further one waits twice as long."""


RULES: dict[FailureClass, RetryRule] = {
    "rate_limit": RetryRule(retries=3, first_wait=30),
    "timeout": RetryRule(retries=2, first_wait=1),
    "network": RetryRule(retries=2, first_wait=1),
    "provider_error": RetryRule(retries=2, first_wait=1),
}
OVERLOADED = frozenset({503, 529})
LONGEST_WAIT = 180.0
JITTER = 0.1


@dataclass
class Asked:
    """A model call that is going on."""

    request: ModelRequest
    attempt: int
    """Counts from 1."""
    overflowed: bool = False
    """True when a longer request before it was too long for the model."""
    call_id: str = field(default_factory=new_id)
    began: float = field(default_factory=perf_counter)
    first_token_ms: float | None = None

    @property
    def elapsed_ms(self) -> float:
        return (perf_counter() - self.began) * 1000


async def ask_model(run: Run) -> Reply:
    """The model's reply, which is in the trace by then. Raises `ModelFailure` when no further attempt may help."""
    overflowed = False
    for attempt in count(1):
        request = (await next_prompt(run)).request
        if any(map(has_attachments, request.messages)):
            await run.recorder.flushed()  # to be prepared they may be sent
        request = await run.models.prepared(request)
        asked = Asked(request, attempt, overflowed)
        try:
            return await _stream(run, asked)
        except ModelFailure as failure:
            if not await _is_tried_again(run, asked, failure):
                raise
            overflowed = overflowed or failure.failure == "context_overflow"
        except asyncio.CancelledError:
            await _keep_cut_off(run, asked)
            raise
    raise AssertionError("count() never ends")


async def _is_tried_again(run: Run, asked: Asked, failure: ModelFailure) -> bool:
    """Record the failed call and what was shown of its answer; true when the time of another attempt has come."""
    shown = keep_draft(run, asked.request.model)
    wait = await _wait(run, asked, failure, text_shown=shown is not None)
    retry_at = None if wait is None else run.clock.now() + timedelta(seconds=wait)
    run.recorder.record(
        ModelFailed(
            call_id=asked.call_id,
            failure=failure.failure,
            text=failure.text,
            attempt=asked.attempt,
            retry_at=retry_at,
        )
    )
    if not wait:
        return wait is not None
    with run.stopwatch.standing_still():
        return await run.control.retrying.wait(run.clock.sleep(wait))


async def _wait(run: Run, asked: Asked, failure: ModelFailure, *, text_shown: bool) -> float | None:
    """Seconds until the next attempt, `None` when there is none; what was too long is shorter by then."""
    if failure.failure == "context_overflow" and not text_shown and not asked.overflowed:
        return 0.0 if await shorten(run, asked.request) else None
    retries = run.started.limits.retries
    return retry_wait(failure, attempt=asked.attempt, text_shown=text_shown, most_retries=retries)


def retry_wait(failure: ModelFailure, *, attempt: int, text_shown: bool, most_retries: int) -> float | None:
    """Seconds to wait before the next attempt, `None` when there is none.

    `attempt` counts from 1. Nothing is tried again after text was shown. What the provider asked for (Retry-After)
    goes before our own wait; a wait longer than three minutes is not waited for.
    """
    rule = _rule(failure)
    if rule is None or text_shown or most_retries == 0:
        return None
    allowed = rule.retries if failure.failure == "rate_limit" else min(rule.retries, most_retries)
    if attempt > allowed:
        return None
    wait = failure.retry_after
    if wait is None:
        wait = rule.first_wait * 2 ** (attempt - 1) * uniform(1, 1 + JITTER)  # noqa: S311  spreads retries, hides nothing
    return wait if wait <= LONGEST_WAIT else None


def _rule(failure: ModelFailure) -> RetryRule | None:
    if failure.failure == "model_unavailable" and failure.status in OVERLOADED:
        return RULES["provider_error"]
    return RULES.get(failure.failure)


async def _stream(run: Run, asked: Asked) -> Reply:
    run.recorder.record(
        ModelCalled(
            call_id=asked.call_id,
            model=asked.request.model,
            parameters=asked.request.parameters,
            message_count=len(asked.request.messages),
            attempt=asked.attempt,
            attachments=tuple((asked.request.sent or {}).values()),
        )
    )
    model = await run.models.open(asked.request.model)
    request = replace(asked.request, stored=run.recorder.flushed)
    async with aclosing(model.stream(request)) as stream:
        async for item in stream:
            if isinstance(item, Reply):
                return _keep_reply(run, asked, await _with_usage(item, asked.request, run.models))
            if asked.first_token_ms is None:
                asked.first_token_ms = asked.elapsed_ms
            run.recorder.take(item)
    raise ModelFailure("bad_response", "The model's answer ended without a reply.")


async def _with_usage(reply: Reply, request: ModelRequest, models: Models) -> Reply:
    """The reply with the usage that its provider named, else counted here: a limit must not rest on silence."""
    if reply.usage.total_tokens > 0:
        return reply
    answer = replace(request, system=None, tools=(), output_schema=None, messages=(reply.message,))
    usage = Usage(
        input_tokens=await models.count_tokens(request),
        output_tokens=await models.count_tokens(answer),
        estimated=True,
    )
    return replace(reply, usage=usage)


def _keep_reply(run: Run, asked: Asked, reply: Reply) -> Reply:
    message = _with_own_call_ids(run, reply.message)
    run.recorder.drop_draft()
    run.recorder.record(
        MessageAdded(message=message, origin="model"),
        _returned(run, asked, reply.usage, reply.finish_reason),
    )
    return Reply(message, reply.usage, reply.finish_reason)


async def _keep_cut_off(run: Run, asked: Asked) -> None:
    """The call was cancelled: an ending run keeps the text as a message, an ending process as live text."""
    if not run.cut_short:
        run.recorder.checkpoint()
        return
    shown = keep_draft(run, asked.request.model)
    if shown is None:
        text = "Steered away" if run.control.steered else "Stopped"
        text += " before the model answered."
        run.recorder.record(ModelFailed(call_id=asked.call_id, failure="cancelled", text=text, attempt=asked.attempt))
        return
    usage = Usage(
        input_tokens=await run.models.count_tokens(asked.request),
        output_tokens=(len(shown.text) + len(shown.reasoning)) // 4,
        estimated=True,
    )
    run.recorder.record(_returned(run, asked, usage, None))


def keep_draft(run: Run, model: str) -> Message | None:
    """Make the live text, if there is any, a partial message; half-built tool calls are left out, they must not run."""
    draft = run.recorder.drop_draft()
    parts: list[ReasoningPart | TextPart] = []
    if draft.reasoning.strip():
        parts.append(ReasoningPart(text=draft.reasoning))
    if draft.text.strip():
        parts.append(TextPart(text=draft.text))
    if not parts:
        return None
    message = Message(role="assistant", parts=tuple(parts), model=model, partial=True)
    run.recorder.record(MessageAdded(message=message, origin="model"))
    return message


def _returned(run: Run, asked: Asked, usage: Usage, finish_reason: FinishReason | None) -> ModelReturned:
    price = run.models.price(asked.request.model)
    return ModelReturned(
        call_id=asked.call_id,
        usage=usage,
        cost=None if price is None else price.cost(usage),
        finish_reason=finish_reason,
        first_token_ms=asked.first_token_ms,
        total_ms=asked.elapsed_ms,
    )


def _with_own_call_ids(run: Run, message: Message) -> Message:
    """The message with call ids that this run has not used: some providers count from 0 in each answer."""
    if not message.tool_calls:
        return message
    used = {
        call.call_id
        for entry in run.recorder.entries
        if isinstance(entry.event, MessageAdded)
        for call in entry.event.message.tool_calls
    }
    if not any(call.call_id in used for call in message.tool_calls):
        return message
    parts = tuple(
        part.model_copy(update={"call_id": f"{part.call_id}-{new_id()[:6]}"})
        if isinstance(part, ToolCall) and part.call_id in used
        else part
        for part in message.parts
    )
    return message.model_copy(update={"parts": parts})
