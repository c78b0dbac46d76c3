"""Runs a tool once under its time-out, in a run or by hand: whatever happens, there is an outcome."""

import asyncio
import traceback
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.domain.errors import Denied, InvalidArguments, ToolCrashed, ToolError, ToolTimedOut, UnknownTool
from app.domain.messages import ResultPart, TextPart, ToolCall, ToolStatus
from app.engine.loop.running_call import RunningCall
from app.engine.ports import Toolset

if TYPE_CHECKING:
    from app.domain.secrets.redaction import Redaction

LONG = 100_000
"""Characters of a result that take the event loop too much time."""
STATUS_OF: dict[type[ToolError], ToolStatus] = {
    UnknownTool: "unknown", InvalidArguments: "invalid", ToolTimedOut: "timeout", Denied: "denied"
}  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """How a call ended."""

    status: ToolStatus
    parts: tuple[ResultPart, ...]
    printed: str = ""
    traceback: str = ""
    may_pass: bool = False
    """True when it broke down, so that another attempt may do better; what took too long would only take it again."""
    attempts: int = 1
    ms: float = 0.0
    loaded: tuple[str, ...] = ()

    @classmethod
    def of(cls, status: ToolStatus, text: str, printed: str = "", traceback: str = "") -> "Outcome":
        return cls(status, (TextPart(text=text),), printed, traceback)

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart))


async def call_once(toolset: Toolset, call: ToolCall, running: RunningCall) -> Outcome:
    """How the call ended. Errors of tools are for the model to read; a traceback is kept for the developer.

    Raises only `CancelledError`. The call's stopwatch is the time-out, and is used up afterwards.
    """
    outcome = await _called(toolset, call, running)
    return outcome if running.redaction is None else await _without_secrets(outcome, running.redaction)


async def _called(toolset: Toolset, call: ToolCall, running: RunningCall) -> Outcome:
    stopwatch = running.stopwatch
    try:
        async with stopwatch.timer:
            output = await toolset.call(call, running)
    except ToolCrashed as error:
        return _may_pass(Outcome.of("error", str(error), running.shown, error.traceback))
    except ToolError as error:
        return Outcome.of(STATUS_OF.get(type(error), "error"), str(error), running.shown)
    except Exception as error:  # noqa: BLE001  a tool may raise anything
        if stopwatch.timer.expired():
            s = "" if stopwatch.seconds == 1 else "s"
            words = f"{call.name} took longer than {stopwatch.seconds:g} second{s} and was stopped."
            return Outcome.of("timeout", words, running.shown)
        trace = "".join(traceback.format_exception(error))
        return _may_pass(Outcome.of("error", f"{type(error).__name__}: {error}", running.shown, trace))
    return Outcome(output.status, output.parts, output.printed or running.shown)


async def _without_secrets(outcome: Outcome, redaction: "Redaction") -> Outcome:
    """What a person and the model get is the same; a long text is looked through off the event loop."""
    if len(outcome.text) + len(outcome.printed) > LONG:
        return await asyncio.to_thread(_cleaned, outcome, redaction)
    return _cleaned(outcome, redaction)


def _cleaned(outcome: Outcome, redaction: "Redaction") -> Outcome:
    return replace(
        outcome,
        parts=tuple(redaction.value(part) for part in outcome.parts),
        printed=redaction.text(outcome.printed),
        traceback=redaction.text(outcome.traceback),
    )


def _may_pass(outcome: Outcome) -> Outcome:
    return replace(outcome, may_pass=True)
