"""The process of a tool file: takes its source from the app, runs it, and then its calls.

Imports nothing of the app but what tools are made with: it has to start in a moment.
"""

import asyncio
import faulthandler
import sys
import threading
from collections.abc import Iterator

from app.tools.function import authoring
from app.tools.worker.calls import Calls
from app.tools.worker.importing import keep_out
from app.tools.worker.loading import FileContents, FileTrouble, load
from app.tools.worker.printing import CallOutput, NoInput, as_text
from app.tools.worker.protocol import Call, Cancel, FileLoaded, Load, Piece, Ready, Reply, ToChild
from app.tools.worker.wire import Wire, die_with_the_app, end_everything, say_where_on_demand


def main() -> None:
    """Serve one file until the app hangs up."""
    wire = Wire()
    faulthandler.enable(file=2)
    output = CallOutput(wire.send)
    sys.stdout, sys.stderr, sys.stdin = as_text(output), as_text(output), NoInput()
    sys.modules["agent_playground"] = authoring
    try:
        _serve(wire, output)
    finally:
        end_everything()


def _serve(wire: Wire, output: CallOutput) -> None:
    messages = wire.messages()
    first = next(messages, None)
    if not isinstance(first, Load):
        return
    die_with_the_app(first.life)
    say_where_on_demand()
    reader = Reader(wire, messages)
    threading.Thread(target=reader.read, name="app", daemon=True).start()
    wire.send(Ready())
    file = _loaded(first, wire, output)
    if file:
        asyncio.run(_answer(reader, Calls(file, wire, output), file))


def _loaded(first: Load, wire: Wire, output: CallOutput) -> FileContents | None:
    if first.neighbours:
        keep_out(first.neighbours)
    try:
        return load(first.path, first.source)
    except FileTrouble as trouble:
        wire.send(trouble.told)
        return None
    finally:
        output.finish(None)


async def _answer(reader: "Reader", calls: Calls, file: FileContents) -> None:
    reader.connect(calls)
    reader.wire.send(FileLoaded(tools=tuple(tool.spec for tool in file.tools.values()), left_out=tuple(file.left_out)))
    await asyncio.Event().wait()  # until the app hangs up, which ends the process


class Reader:
    """Hears the app in a thread of its own, so that its end is noticed whatever the tools do."""

    def __init__(self, wire: Wire, messages: Iterator[ToChild]) -> None:
        self.wire = wire
        self._messages = messages
        self._calls: Calls | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def connect(self, calls: Calls) -> None:
        """Say where calls go; the app sends none before it is told of the tools."""
        self._calls, self._loop = calls, asyncio.get_running_loop()

    def read(self) -> None:
        try:
            for message in self._messages:
                self._take(message)
        finally:
            end_everything()

    def _take(self, message: ToChild) -> None:
        if isinstance(message, Reply):
            self.wire.replied(message)
        if self._calls is None or self._loop is None:
            return
        match message:
            case Call():
                self._loop.call_soon_threadsafe(self._calls.start, message)
            case Cancel():
                self._loop.call_soon_threadsafe(self._calls.cancel, message.call)
            case Piece():
                self._calls.received(message)


if __name__ == "__main__":
    main()
