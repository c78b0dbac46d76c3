"""The calls of a loaded file: async functions on the loop, all others in a thread each."""

import asyncio
import contextvars
import inspect
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from app.domain.errors import InvalidArguments, ToolError
from app.tools.function.tool import AnyTool
from app.tools.worker.call_context import CallCancelled, CallContext
from app.tools.worker.loading import FileContents
from app.tools.worker.printing import CURRENT_CALL, CallOutput
from app.tools.worker.protocol import Call, Piece, Raised, Returned
from app.tools.worker.results import result_parts
from app.tools.worker.trouble import LONGEST_ERROR, cut, in_words, own_line, own_traceback
from app.tools.worker.wire import Wire

MOST_THREADS = 64


@dataclass
class Running:
    context: CallContext
    task: asyncio.Task[None] | None = None
    """Of an async function."""


class Calls:
    """Runs calls side by side; each ends with one message."""

    def __init__(self, file: FileContents, wire: Wire, output: CallOutput) -> None:
        self._file = file
        self._wire = wire
        self._output = output
        self._running: dict[int, Running] = {}
        self._threads = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="call")

    def start(self, call: Call) -> None:
        running = self._running[call.call] = Running(CallContext(call, self._wire, self._output))
        tool = self._file.tools.get(call.name)
        if tool is None:
            self._end(call, self._unknown(call))
        elif inspect.iscoroutinefunction(tool.function):
            running.task = asyncio.get_running_loop().create_task(self._run_async(call, tool, running.context))
            running.task.add_done_callback(partial(self._never_ran, call, running.context))
        else:
            self._threads.submit(contextvars.copy_context().run, self._run_sync, call, tool, running.context)

    def cancel(self, number: int) -> None:
        """End it where it is: an async function at its `await`, another one when it uses its context."""
        running = self._running.get(number)
        if running:
            running.context.cancelled.set()
            if running.task:
                running.task.cancel()

    def received(self, piece: Piece) -> None:
        """A part of a file that the call asked for. Called by the thread that reads, so a blocked loop gets it too."""
        running = self._running.get(piece.call)
        if running:
            running.context.received.add(piece)

    async def _run_async(self, call: Call, tool: AnyTool, context: CallContext) -> None:
        CURRENT_CALL.set(call.call)
        function = tool.function
        ended: Returned | Raised
        try:
            value = await function(**self._filled(call, tool, context))  # type: ignore[misc]  # a coroutine function
            ended = _returned(call, value, context)
        except BaseException as error:  # noqa: BLE001  the author's code may raise anything, `SystemExit` too
            ended = self._raised(call, error, context)
        self._end(call, ended)

    def _never_ran(self, call: Call, context: CallContext, task: asyncio.Task[None]) -> None:
        """A task that is cancelled before its first step never runs any of it, so it tells of no end either."""
        if task.cancelled():
            self._end(call, self._raised(call, asyncio.CancelledError(), context))

    def _run_sync(self, call: Call, tool: AnyTool, context: CallContext) -> None:
        CURRENT_CALL.set(call.call)
        ended: Returned | Raised
        try:
            ended = _returned(call, tool.function(**self._filled(call, tool, context)), context)
        except BaseException as error:  # noqa: BLE001  as above
            ended = self._raised(call, error, context)
        self._end(call, ended)

    def _filled(self, call: Call, tool: AnyTool, context: CallContext) -> dict[str, object]:
        filled = tool.checked(call.arguments)
        if tool.context_name:
            filled[tool.context_name] = context
        return filled

    def _end(self, call: Call, ended: Returned | Raised) -> None:
        self._output.finish(call.call)
        self._running.pop(call.call, None)
        self._wire.send(ended)

    def _raised(self, call: Call, error: BaseException, context: CallContext) -> Raised:
        match error:
            case InvalidArguments():
                return Raised(call=call.call, kind="invalid", text=str(error))
            case ToolError():
                return Raised(call=call.call, kind="told", text=cut(str(error), LONGEST_ERROR))
            case CallCancelled() | asyncio.CancelledError() if context.cancelled.is_set():
                return Raised(call=call.call, kind="cancelled", text="The call was cancelled.")
        line = own_line(error, self._file.path)
        text = in_words(error) + (f" (line {line})" if line else "")
        return Raised(call=call.call, kind="crashed", text=text, traceback=own_traceback(error, self._file.path))

    def _unknown(self, call: Call) -> Raised:
        names = ", ".join(self._file.tools) or "none"
        text = f"{call.name} is not in its file any more: the file names its tools anew each time. It has: {names}."
        return Raised(call=call.call, kind="unknown", text=text)


def _returned(call: Call, value: object, context: CallContext) -> Returned:
    """The value, and what was kept besides; the files alone where nothing was returned."""
    parts = result_parts(value, context.keep)
    artifacts = context.artifacts()
    return Returned(call=call.call, parts=artifacts if value is None and artifacts else (*parts, *artifacts))
