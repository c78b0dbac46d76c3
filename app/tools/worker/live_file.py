"""A tool file while its process runs: loaded once, then called."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import JsonValue
from pydantic_core import PydanticSerializationError

from app.domain.errors import InvalidArguments
from app.domain.tools import CallContext, ToolOutput, ToolSpec
from app.tools.worker.app_call import AppCall, Ending
from app.tools.worker.printing import PrintRoom
from app.tools.worker.process import WorkerProcess
from app.tools.worker.protocol import Call, Cancel, FileFailed, FileLoaded, FromChild, Load, Neighbours, Printed, Ready
from app.tools.worker.trouble import LoadFailed, ended_in_a_call, ended_while_loaded, never_started, stuck_while_loaded

GRACE_SECONDS = 0.2
"""What a cancelled call gets to end by itself."""
OTHERS_SECONDS = 5.0
"""What the other calls get to end when the process has to be killed for one that does not."""
START_SECONDS = 30.0
"""What Python gets to come up."""
WHERE_SECONDS = 1.0
"""What a stuck process gets to say where it is."""
END_SECONDS = 2.0
"""What a killed process gets to be gone."""

T = TypeVar("T")


@dataclass(frozen=True)
class Loaded:
    """What a file holds."""

    tools: tuple[ToolSpec, ...]
    printed: str = ""
    """What it printed while it was loaded."""
    left_out: tuple[str, ...] = ()
    """A sentence for each function that looks like a tool and cannot be one."""


class LiveFile:
    """One process with the file in it, once that was started."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.loaded = Loaded(())
        self.retired = False
        """True when no call should begin here any more."""
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._loading: asyncio.Future[FileLoaded | FileFailed] = asyncio.get_running_loop().create_future()
        self._calls: dict[int, AppCall] = {}
        self._last_call = 0
        self._room = PrintRoom()
        self._printed: list[str] = []
        self._retiring: asyncio.Task[None] | None = None
        self._process = WorkerProcess(self._heard, self._stray)
        self._process.ended.add_done_callback(lambda _: self._gone())

    async def start(
        self, source: str | None, neighbours: Neighbours | None, *, interpreter: str, seconds: float
    ) -> None:
        """Load the file within that time. Raises `LoadFailed`, also where it was ended; then no process is left."""
        try:
            await self._come_up(source, neighbours, interpreter)
            await self._load(seconds)
        except BaseException:
            await self.close()
            raise

    @property
    def gone(self) -> bool:
        return self._process.ended.done()

    @property
    def pid(self) -> int:
        return self._process.pid

    async def call(self, name: str, arguments: Mapping[str, JsonValue], context: CallContext | None) -> ToolOutput:
        """Run the tool; raises like `FileWorker.call`."""
        self._last_call += 1
        call = AppCall(self._last_call, context, self._process.send)
        self._calls[call.number] = call
        try:
            call_id = context.call_id if context else ""
            self._process.send(Call(call=call.number, call_id=call_id, name=name, arguments=dict(arguments)))
            return await call.output()
        except PydanticSerializationError as error:
            raise InvalidArguments(f"The arguments of {name} cannot be sent on: {error}") from error
        except asyncio.CancelledError:
            await self._cancel(call)
            raise
        finally:
            call.stop_helping()
            self._calls.pop(call.number)

    async def close(self) -> None:
        """End the process with all that it started, and wait until it is gone."""
        self.end()
        await asyncio.wait({self._process.ended}, timeout=END_SECONDS)

    def end(self) -> None:
        """End the process with all that it started."""
        self.retired = True
        self._process.kill()

    async def _come_up(self, source: str | None, neighbours: Neighbours | None, interpreter: str) -> None:
        """Have the process run the file next: how long that takes is not the file's doing."""
        python = interpreter or "Python"
        try:
            life = await self._process.start(interpreter)
        except OSError as error:
            text = f"{python} could not be started: {error.strerror}. Choose another Python for {self.path.name}."
            raise LoadFailed(text) from error
        if self.retired:
            raise LoadFailed(f"{self.path.name} was ended before it ran.")
        self._process.send(Load(path=str(self.path), source=source, life=life, neighbours=neighbours))
        if await _first(self._ready, self._process.ended, START_SECONDS):
            return
        if self._process.ended.done():
            raise never_started(self.path, python, self._process)
        raise LoadFailed(f"{python} did not come up for {self.path.name} in {START_SECONDS:g} seconds. Try again.")

    async def _load(self, seconds: float) -> None:
        if not await _first(self._loading, self._process.ended, seconds):
            if self._process.ended.done():
                raise ended_while_loaded(self.path, self._process)
            raise stuck_while_loaded(self.path, seconds, await self._process.where(WHERE_SECONDS))
        told = self._loading.result()
        if isinstance(told, FileFailed):
            raise LoadFailed(told.text, line=told.line, traceback=told.traceback, missing=told.missing)
        self.loaded = Loaded(told.tools, "".join(self._printed), told.left_out)

    def _heard(self, message: FromChild) -> None:
        match message:
            case Ready():
                self._ready.set_result(None)
            case FileLoaded() | FileFailed():
                if not self._loading.done():
                    self._loading.set_result(message)
            case Printed(call=None, text=text):
                self._stray(text)
            case _:
                call = self._calls.get(message.call) if message.call is not None else None
                if call:
                    call.heard(message)

    def _stray(self, text: str) -> None:
        """What nobody can say the call of: most likely it is of the last one that began."""
        if self._calls:
            self._calls[max(self._calls)].printed(text)
        elif not self._loading.done():
            self._printed.append(self._room.take(text))

    async def _cancel(self, call: AppCall) -> None:
        """Give it a moment to end by itself; then its process has to go."""
        self._process.send(Cancel(call=call.number))
        call.stop_helping()
        try:
            await asyncio.wait({call.ended}, timeout=GRACE_SECONDS)
        finally:
            if not call.ended.done():
                self._retire(call)
        if self._process.killed:
            await asyncio.wait({self._process.ended}, timeout=END_SECONDS)

    def _retire(self, stuck: AppCall) -> None:
        """Kill the process, once the other calls are through or had their time for it."""
        self.retired = True
        others = [call.ended for call in self._calls.values() if call is not stuck and not call.ended.done()]
        if others:
            self._retiring = asyncio.get_running_loop().create_task(self._kill_after(others))
        else:
            self._process.kill()

    async def _kill_after(self, others: list[Ending]) -> None:
        await asyncio.wait(others, timeout=OTHERS_SECONDS)
        self._process.kill()

    def _gone(self) -> None:
        """Tell the calls that the process has ended under them."""
        error = ended_in_a_call(self.path, self._process, retired=self.retired)
        for call in self._calls.values():
            call.end(error)
        self.retired = True


async def _first(awaited: asyncio.Future[T], end: asyncio.Future[int], seconds: float) -> bool:
    """Wait for one of them; whether what is awaited came."""
    futures: set[asyncio.Future[T] | asyncio.Future[int]] = {awaited, end}
    await asyncio.wait(futures, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    return awaited.done()
