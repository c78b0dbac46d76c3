"""Calls the tools that the model asked for. Whatever happens, every call gets a result."""

import asyncio
from contextlib import nullcontext
from dataclasses import replace
from itertools import count
from time import perf_counter

from app.domain.events import PauseResolved, ToolCalled, ToolReturned
from app.domain.messages import ToolCall, ToolResult
from app.domain.tools import FIND_TOOLS, GrantedTool, Workspace
from app.domain.trace import LeftCall, left_calls, open_pauses, unsent_tools
from app.engine.loop.asking_people import PersonOfRun, withdraw
from app.engine.loop.files import CallFiles
from app.engine.loop.outcomes import Outcome, call_once
from app.engine.loop.permission import STEERED, Permitted, permitted
from app.engine.loop.results import named_in, offload_large_result, whole_name
from app.engine.loop.running_call import NoTasks, RunningCall, Screen, TasksOfRun
from app.engine.run.control import Steered
from app.engine.run.run import Run
from app.engine.run.stopwatch import Stopwatch

RETRY_SECONDS = 0.2
"""Before the first further attempt; each one after it waits twice as long."""


async def answer_calls(run: Run) -> None:
    """Run the open calls of the last message side by side; each has its result, which is on its way to the disk."""
    calls = left_calls(run.recorder.entries)
    if not calls:
        return
    try:
        async with asyncio.TaskGroup() as group:
            for left in calls:
                tool = run.granted(left.call.name)
                group.create_task(_beside_others(run, left, tool), name=f"tool {left.call.name}")
    except ExceptionGroup as errors:  # a call raises only when the trace cannot be written: one word of it is enough
        raise errors.exceptions[0] from errors
    run.recorder.flush_soon()


async def _beside_others(run: Run, left: LeftCall, tool: GrantedTool | None) -> None:
    """The run stands still only while each of its calls waits for a person."""
    with run.working(left.call.call_id):
        await answer_call(run, left, tool)


def refuse_calls(run: Run, text: str) -> None:
    """Give the open calls of the last message the result that they were cancelled."""
    for left in left_calls(run.recorder.entries):
        returned(run, left.call, Outcome.of("cancelled", text))


async def answer_call(
    run: Run, left: LeftCall, tool: GrantedTool | None, *, seconds: float | None = None
) -> ToolResult:
    """Run the call of that tool, if it may be; its result, in the trace by then. `seconds` in place of its time-out."""
    if tool is None or tool.spec.name in run.tools_since.gone:
        _withdraw_left(run, left)
        run.recorder.record(_called(left.call, ""))
        return returned(run, left.call, _unknown(run, left.call))
    allowed = await permitted(run, left, tool)
    if run.control.steered:
        allowed = Outcome.of("cancelled", STEERED)
    if isinstance(allowed, Outcome):
        return returned(run, left.call, allowed)
    await begin_call(run, allowed.call, tool)
    result = await _call(run, allowed, tool, seconds or run.started.limits.tool_timeout)
    _withdraw_left(run, left)
    return result


async def begin_call(run: Run, call: ToolCall, tool: GrantedTool) -> None:
    """Record that the tool is called: on disk before it may have done anything."""
    run.recorder.record(_called(call, run.digest_now(tool), run.toolset.label(call.name)))
    if tool.spec.side_effects or not tool.spec.idempotent:  # so that after a kill nobody takes it for not begun
        await run.recorder.flush()


def _withdraw_left(run: Run, left: LeftCall) -> None:
    """Take back what an earlier start of the call asked and this one did not."""
    if left.pause is None or left.decided is not None:
        return
    if any(pause.pause_id == left.pause.pause_id for pause in open_pauses(run.recorder.entries)):
        withdraw(run, left.pause)


def _called(call: ToolCall, digest: str, label: str = "") -> ToolCalled:
    return ToolCalled(call_id=call.call_id, name=call.name, arguments=call.arguments, tool=digest, label=label)


async def _call(run: Run, allowed: Permitted, tool: GrantedTool, seconds: float) -> ToolResult:
    call = allowed.call
    running, began = _running(run, call, allowed.answer), perf_counter()
    try:
        with run.control.breakable() if tool.spec.cancellable else nullcontext():
            outcome = await _attempts(run, call, tool, running, seconds)
        name, clean = whole_name(call.name), running.files.clean
        outcome = replace(
            outcome, parts=await offload_large_result(outcome.parts, run.artifacts, filename=name, clean=clean)
        )
    except Steered:
        outcome = Outcome.of("cancelled", "This call was cancelled: the user sent a new message.", running.shown)
    except asyncio.CancelledError:
        if run.cut_short or call.call_id in run.dropped:
            cancelled = Outcome.of("cancelled", "This call was cancelled before it finished.", running.shown)
            returned(run, call, _ended(cancelled, running, began))
        raise
    finally:
        running.end()
    return returned(run, call, replace(_ended(outcome, running, began), loaded=running.loaded))


def _ended(outcome: Outcome, running: RunningCall, began: float) -> Outcome:
    """With the time that it took, and the view that the call has brought along though it failed."""
    view = (running.view,) if running.view is not None and outcome.status != "ok" else ()
    return replace(outcome, parts=(*outcome.parts, *view), ms=(perf_counter() - began) * 1000)


async def outcome_of(run: Run, call: ToolCall, tool: GrantedTool) -> Outcome:
    """Make the call under the run's limits; nothing is recorded."""
    running, began = _running(run, call, None), perf_counter()
    try:
        outcome = await _attempts(run, call, tool, running, run.started.limits.tool_timeout)
    finally:
        running.end()
    return replace(outcome, ms=(perf_counter() - began) * 1000)


async def _attempts(run: Run, call: ToolCall, tool: GrantedTool, running: RunningCall, seconds: float) -> Outcome:
    """The outcome of the last attempt. Only a tool that may be called twice is, when it broke down."""
    limits = run.started.limits
    allowed = limits.retries if limits.retry_on_error and tool.spec.idempotent else 0
    for attempt in count(1):
        running.stopwatch = Stopwatch(seconds)
        outcome = await call_once(run.toolset, call, running)
        if not outcome.may_pass or attempt > allowed:
            printed = outcome.printed if attempt == 1 else running.shown
            return replace(outcome, attempts=attempt, printed=printed)
        running.printed(f"[Attempt {attempt} failed: {outcome.text} Trying again.]\n")
        await run.clock.sleep(RETRY_SECONDS * 2 ** (attempt - 1))
    raise AssertionError("count() never ends")


def _running(run: Run, call: ToolCall, answer: PauseResolved | None) -> RunningCall:
    started, recorder, redactions = run.started, run.recorder, run.recorder.redactions
    redaction = redactions.of_tool(reads_outside=run.toolset.reads_outside(call.name)) if redactions else None
    return RunningCall(
        call_id=call.call_id,
        files=CallFiles(call.call_id, run.files, run.artifacts, recorder.record),
        began_with=Workspace(files=started.files, variables=started.variables, depth=started.depth),
        screen=Screen(recorder.printed, recorder.progress),
        person=PersonOfRun(run, call, answer),
        named=lambda: named_in(entry.event for entry in recorder.entries),
        stopwatch=Stopwatch(started.limits.tool_timeout),
        redaction=redaction,
        unsent=unsent_tools(recorder.entries) if call.name == FIND_TOOLS else (),
        tasks=NoTasks() if run.spawner is None else TasksOfRun(run.spawner, run.recorder.run_id, call.call_id),
    )


def _unknown(run: Run, call: ToolCall) -> Outcome:
    if gone := run.tools_since.gone.get(call.name):
        return Outcome.of("unknown", gone)
    names = ", ".join(tool.spec.name for tool in run.started.tools) or "none"
    return Outcome.of("unknown", f"There is no tool named {call.name!r}. Available tools: {names}.")


def returned(run: Run, call: ToolCall, outcome: Outcome, *, times: int = 1) -> ToolResult:
    """Record how the call ended, and how many it stands for; its result."""
    result = ToolResult(call_id=call.call_id, name=call.name, status=outcome.status, parts=outcome.parts)
    run.recorder.record(
        ToolReturned(
            call_id=call.call_id,
            result=result,
            printed=outcome.printed,
            ms=outcome.ms,
            traceback=outcome.traceback,
            attempts=outcome.attempts,
            loaded=outcome.loaded,
            times=times,
        )
    )
    return result
