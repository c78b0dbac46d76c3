"""Calls the tools that the model asked for. Whatever happens, every call gets a result."""

import asyncio
import traceback
from dataclasses import dataclass
from time import perf_counter

from app.domain.errors import InvalidArguments, ToolError, UnknownTool
from app.domain.events import PauseRequested, PauseResolved, ToolCalled, ToolReturned
from app.domain.messages import ResultPart, TextPart, ToolCall, ToolResult, ToolStatus
from app.domain.trace import open_calls
from app.domain.values import new_id
from app.engine.files import CallFiles, RunningCall
from app.engine.run import Run

STATUS_OF: dict[type[ToolError], ToolStatus] = {UnknownTool: "unknown", InvalidArguments: "invalid"}


@dataclass(frozen=True)
class Outcome:
    status: ToolStatus
    parts: tuple[ResultPart, ...]
    printed: str = ""
    traceback: str = ""

    @classmethod
    def told(cls, status: ToolStatus, text: str, printed: str = "", traceback: str = "") -> "Outcome":
        return cls(status, (TextPart(text=text),), printed, traceback)


async def answer_calls(run: Run) -> None:
    """Run the open calls of the last message side by side; returns when each has its result on disk."""
    calls = open_calls(run.recorder.entries)
    if not calls:
        return
    try:
        async with asyncio.TaskGroup() as group:
            for call in calls:
                group.create_task(_answer(run, call), name=f"tool {call.name}")
    except ExceptionGroup as errors:  # a call raises only when the trace cannot be written: one word of it is enough
        raise errors.exceptions[0] from errors
    await run.recorder.flush()


def refuse_calls(run: Run, text: str) -> None:
    """Give the open calls of the last message the result that they were cancelled."""
    for call in open_calls(run.recorder.entries):
        _returned(run, call, Outcome.told("cancelled", text), ms=0)


async def _answer(run: Run, call: ToolCall) -> None:
    decided = await _approval(run, call)
    if decided is not None:
        if decided.decision == "deny":
            _returned(run, call, Outcome.told("denied", _denial(decided)), ms=0)
            return
        if decided.arguments is not None:
            call = call.model_copy(update={"arguments": decided.arguments, "malformed": None})
    tool = run.granted(call.name)
    run.recorder.record(
        ToolCalled(
            call_id=call.call_id, name=call.name, arguments=call.arguments, tool=tool.spec.digest if tool else ""
        )
    )
    if tool is not None and tool.spec.side_effects:
        await run.recorder.flush()
    began = perf_counter()
    try:
        outcome = await _call(run, call)
    except asyncio.CancelledError:
        if run.ending:
            outcome = Outcome.told("cancelled", "This call was cancelled before it finished.", _printed(run, call))
            _returned(run, call, outcome, ms=(perf_counter() - began) * 1000)
        raise
    _returned(run, call, outcome, ms=(perf_counter() - began) * 1000)


async def _call(run: Run, call: ToolCall) -> Outcome:
    """How the call ended. Errors of tools are the model's to read; a traceback is kept for the developer."""
    if run.granted(call.name) is None:
        names = ", ".join(tool.spec.name for tool in run.started.tools) or "none"
        return Outcome.told("unknown", f"There is no tool named {call.name!r}. Available tools: {names}.")
    seconds = run.started.limits.tool_timeout
    files = CallFiles(call.call_id, run.files, run.artifacts, run.recorder)
    timer = asyncio.timeout(seconds)
    try:
        async with timer:
            output = await run.toolbox.call(call, RunningCall(call.call_id, files, run.recorder))
    except ToolError as error:
        return Outcome.told(STATUS_OF.get(type(error), "error"), str(error), _printed(run, call))
    except Exception as error:  # noqa: BLE001  a tool may raise anything
        if not timer.expired():
            return _crashed(run, call, error)
        told = f"{call.name} took longer than {seconds:g} seconds and was stopped."
        return Outcome.told("timeout", told, _printed(run, call))
    return Outcome("ok", output.parts, output.printed or _printed(run, call))


def _crashed(run: Run, call: ToolCall, error: Exception) -> Outcome:
    trace = "".join(traceback.format_exception(error))
    return Outcome.told("error", f"{type(error).__name__}: {error}", _printed(run, call), trace)


def _printed(run: Run, call: ToolCall) -> str:
    return run.recorder.printed.get(call.call_id, "")


def _returned(run: Run, call: ToolCall, outcome: Outcome, *, ms: float) -> None:
    result = ToolResult(call_id=call.call_id, name=call.name, status=outcome.status, parts=outcome.parts)
    run.recorder.record(
        ToolReturned(call_id=call.call_id, result=result, printed=outcome.printed, ms=ms, traceback=outcome.traceback)
    )
    run.recorder.printed.pop(call.call_id, None)


async def _approval(run: Run, call: ToolCall) -> PauseResolved | None:
    """A person's decision on the call, `None` for a tool that needs none."""
    tool = run.granted(call.name)
    if tool is None or tool.policy != "ask":
        return None
    pause = PauseRequested(
        pause_id=new_id(), reason="approval", call_id=call.call_id, name=call.name, arguments=call.arguments
    )
    with run.control.expecting(pause.pause_id) as decision, run.stopwatch.standing_still():
        run.recorder.record(pause)
        await run.recorder.flush()
        resolved = await decision
    run.recorder.record(resolved)
    return resolved


def _denial(resolved: PauseResolved) -> str:
    note = resolved.note.strip()
    return f"The user denied this call: {note}" if note else "The user denied this call."
