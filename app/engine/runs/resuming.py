"""Picks up a run that its process left: says in its trace what became of the call that was cut off, and goes on.

Finished steps are kept as they are. What the model had written when it was cut off stays in the trace as a partial
message, but is not sent: the call is made again from the same conversation (see `domain.trace.conversation`).
"""

from collections.abc import Sequence

from app.domain.errors import Conflict
from app.domain.events import (
    Entry,
    Forked,
    ModelCalled,
    ModelFailed,
    ModelReturned,
    PauseRequested,
    PauseResolved,
    RunResumed,
    RunStarted,
)
from app.domain.messages import FinishReason, Message, Usage
from app.domain.streaming import Draft
from app.domain.trace import StoredTrace, finished, unanswered_request
from app.engine.loop.asking import keep_draft
from app.engine.run.run import Run

CUT_OFF = "The app was closed before the model answered; it is asked again."


def can_go_on(trace: StoredTrace) -> RunStarted:
    """How the run began. Raises `Conflict` where it has ended, or cannot be read as a whole."""
    if finished(trace.entries) is not None:
        raise Conflict("This run has ended, so there is nothing to go on with. Send its message again instead.")
    first = trace.entries[0].event if trace.entries else None
    if isinstance(first, RunStarted) and first.trigger.kind == "app":
        raise Conflict("These are calls of an app, which makes them again itself. Open the app where it was shown.")
    if trace.damaged or not isinstance(first, RunStarted):
        raise Conflict(
            "Parts of this run cannot be read, so it cannot go on from where it was. Send its message again instead."
        )
    return first


def allowed_before(entries: Sequence[Entry]) -> set[str]:
    """The tools that a person let be called without being asked again."""
    asked: dict[str, str] = {}
    allowed: set[str] = set()
    for entry in entries:
        match entry.event:
            case PauseRequested(pause_id=pause_id, name=name):
                asked[pause_id] = name
            case PauseResolved(pause_id=pause_id, decision="always") if pause_id in asked:
                allowed.add(asked[pause_id])
            case Forked():  # it was allowed in another session
                allowed.clear()
            case _:
                pass
    return allowed


async def pick_up(run: Run, draft: Draft, *, by: str) -> None:
    """Record how the request that was cut off ended, where one was, and that the run goes on."""
    run.recorder.draft = draft
    if (left := unanswered_request(run.recorder.entries)) is not None:
        called, answer = left
        await _close(run, called, answer)
    run.recorder.drop_draft()
    run.recorder.record(RunResumed(by=by, notes=run.tools_since.notes))


async def _close(run: Run, called: ModelCalled, answer: Message | None) -> None:
    """What was written is paid for, though nobody told how much it was: it is counted here."""
    request = run.request()
    message = answer or keep_draft(run, called.model)
    if message is None:
        failed = ModelFailed(call_id=called.call_id, failure="cancelled", text=CUT_OFF, attempt=called.attempt)
        run.recorder.record(failed)
        return
    usage = Usage(
        input_tokens=await run.models.count_tokens(request),
        output_tokens=(len(message.text) + len(message.reasoning)) // 4,
        estimated=True,
    )
    price = run.models.price(called.model)
    run.recorder.record(
        ModelReturned(
            call_id=called.call_id,
            usage=usage,
            cost=None if price is None else price.cost(usage),
            finish_reason=_finish_reason(message),
            first_token_ms=None,
            total_ms=0,
        )
    )


def _finish_reason(message: Message) -> FinishReason | None:
    if message.partial:
        return None
    return "tool_calls" if message.tool_calls else "stop"
