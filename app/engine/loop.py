"""The agent loop: answer the open tool calls, ask the model, until it asks for no more tools.

It starts from what the trace says, so a run that was paused or interrupted goes on by being run again.
"""

import asyncio
import traceback

from app.domain.errors import ErrorInfo, ModelFailure, WorkbenchError
from app.domain.events import FinalStatus, LimitReached, RunFinished
from app.engine.asking import ask_model, keep_draft
from app.engine.calling import answer_calls, refuse_calls
from app.engine.limits import sentence
from app.engine.run import Run


async def run_agent(run: Run) -> None:
    """Run to the end, which is always `RunFinished`.

    Only when the process itself ends under the run is nothing written: the run then shows as interrupted or paused and
    can go on later.
    """
    try:
        async with run.stopwatch.timer:
            limit = await _work(run)
        _end(run, "limited" if limit else "completed", limit)
    except asyncio.CancelledError:
        if run.control.stopped:
            _end(run, "cancelled")
        raise
    except ModelFailure as failure:
        _fail(run, ErrorInfo(failure=failure.failure, text=failure.text))
    except WorkbenchError as error:
        _fail(run, ErrorInfo(failure="internal", text=str(error)))
    except Exception as error:  # noqa: BLE001  the border of a run: a bug fails it and keeps its traceback
        if not run.stopwatch.timer.expired():
            _fail(run, _bug(error))
            return
        seconds = run.stopwatch.seconds
        _end(run, "limited", LimitReached(limit="time", allowed=seconds, reached=seconds))


async def _work(run: Run) -> LimitReached | None:
    """Steps until the model has answered, or a limit is reached: then that limit."""
    while True:
        await answer_calls(run)
        if limit := await run.limit_reached():
            return limit
        reply = await ask_model(run)
        if reply.finish_reason == "length":
            allowed = run.started.parameters.max_tokens
            return LimitReached(limit="tokens", allowed=allowed, reached=reply.usage.output_tokens)
        if reply.finish_reason == "content_filter":
            raise ModelFailure("safety_filter", "The provider's safety filter cut this answer off.")
        if not reply.message.tool_calls:
            return None
        await run.recorder.flush()


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
