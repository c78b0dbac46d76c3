"""The agent loop: answer the open tool calls, ask the model, until it asks for no more tools.

It starts from what the trace says, so a run that was paused or interrupted goes on by being run again.
"""

import asyncio
import traceback

from app.domain.errors import ErrorInfo, ModelFailure, NodeFailure, WorkbenchError
from app.domain.events import FileChanged, FinalStatus, LimitReached, MessageAdded, RunFinished
from app.domain.messages import FinishReason, Usage
from app.domain.trace import finished, last_words
from app.domain.values import now
from app.engine.loop.asking import ask_model, keep_draft
from app.engine.loop.attachments import attach
from app.engine.loop.calling import answer_calls, refuse_calls
from app.engine.loop.fitting import next_prompt
from app.engine.loop.unpriced import agree_to_unpriced
from app.engine.run.control import Steer, Steered
from app.engine.run.limits import sentence
from app.engine.run.run import Run


async def run_agent(run: Run) -> None:
    """Run to the end, which is always `RunFinished`.

    Only when the process itself ends under the run is nothing written: the run then shows as interrupted or paused and
    can go on later.
    """
    try:
        async with run.stopwatch.timer:
            limit = await (run.walk or _work)(run)
        _end(run, "limited" if limit else "completed", limit)
    except asyncio.CancelledError:
        if run.control.stopped:
            _end(run, "cancelled")
        raise
    except ModelFailure as failure:
        _fail(run, ErrorInfo(failure=failure.failure, text=failure.text))
    except NodeFailure as failure:
        _fail(run, failure.error)
    except WorkbenchError as error:
        _fail(run, ErrorInfo(failure="internal", text=str(error)))
    except Exception as error:  # noqa: BLE001  the border of a run: a bug fails it and keeps its traceback
        if not run.stopwatch.timer.expired():
            _fail(run, _bug(error))
            return
        seconds = run.stopwatch.seconds
        _end(run, "limited", LimitReached(limit="time", allowed=seconds, reached=seconds))
    finally:
        run.control.close()


def end_stopped(run: Run) -> None:
    """Record the end of a run that was stopped before its loop had taken a step."""
    if run.control.stopped and finished(run.recorder.entries) is None:
        _end(run, "cancelled")
    run.control.close()


async def _work(run: Run) -> LimitReached | None:
    """Steps until the model has answered, or a limit is reached: then that limit."""
    if (said := last_words(run.recorder.entries)) is not None:
        return _cut_off(run, said.finish_reason, said.usage)
    while True:
        await answer_calls(run)
        while (steer := run.control.next_steer()) is not None:  # now that nothing that was begun is left open
            _take_in(run, steer)
        try:
            with run.control.breakable():
                if limit := await _limit_reached(run):
                    return limit
                reply = await ask_model(run)
        except Steered:
            continue
        finally:
            run.budget.settle(run.recorder.entries)
        if limit := _cut_off(run, reply.finish_reason, reply.usage):
            return limit
        if not reply.message.tool_calls and not run.control.steered:
            return None
        if not reply.message.tool_calls:  # a step with calls ends with their results, which are flushed
            await run.recorder.flush()
        if limit := run.budget.passed(run.recorder.entries):
            return limit


def _take_in(run: Run, steer: Steer) -> None:
    """Make a message that waits a turn of the run."""
    attached = attach(steer.message, run.files)
    for path in attached.files.keys() - run.files.keys():
        digest = attached.files[path]
        run.files[path] = digest
        run.recorder.record(FileChanged(call_id="", path=path, before=None, after=digest))
    waited_ms = None if steer.queued is None else steer.queued.waited_ms(now())
    run.recorder.record(MessageAdded(message=attached.message, origin="steer", waited_ms=waited_ms))
    steer.landed.set_result(True)


def _cut_off(run: Run, reason: FinishReason | None, usage: Usage) -> LimitReached | None:
    """The limit at which the answer broke off, if it did; raises `ModelFailure` for one that was held back."""
    if reason == "content_filter":
        raise ModelFailure("safety_filter", "The provider's safety filter cut this answer off.")
    if reason != "length":
        return None
    return LimitReached(limit="tokens", allowed=run.started.parameters.max_tokens, reached=usage.output_tokens)


async def _limit_reached(run: Run) -> LimitReached | None:
    """The limit that forbids one more model call, if one does."""
    prompt = await next_prompt(run)
    await agree_to_unpriced(run)
    return run.budget.forbids(run.recorder.entries, prompt, run.models.price(run.started.model))


def _end(run: Run, status: FinalStatus, limit: LimitReached | None = None) -> None:
    refuse_calls(run, "This call was not run: the run had ended.")
    if limit is None:
        run.recorder.record(RunFinished(status=status))
        return
    error = ErrorInfo(failure="limit", text=sentence(limit))
    run.recorder.record(limit, RunFinished(status=status, error=error))


def _fail(run: Run, error: ErrorInfo) -> None:
    keep_draft(run, run.started.model)
    refuse_calls(run, "This call was not run: the run had failed.")
    run.recorder.record(RunFinished(status="failed", error=error))


def _bug(error: Exception) -> ErrorInfo:
    text = f"Something went wrong inside the app: {type(error).__name__}: {error}"
    return ErrorInfo(failure="internal", text=text, traceback="".join(traceback.format_exception(error)))
