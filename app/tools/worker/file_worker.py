"""One version of a tool file: its process starts when it is needed, and ends when nothing needs it any more."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pydantic import JsonValue

from app.domain.errors import ToolError
from app.domain.tools import CallContext, ToolOutput
from app.tools.worker.live_file import LiveFile, Loaded
from app.tools.worker.protocol import Neighbours
from app.tools.worker.trouble import LoadFailed

__all__ = ["FileWorker", "LoadFailed", "Loaded", "Neighbours"]

LOAD_SECONDS = 10.0
IDLE_SECONDS = 60.0


class FileWorker:
    """Loads the file and calls its tools, outside of this process."""

    def __init__(
        self,
        path: Path,
        source: str | None,
        *,
        interpreter: str = "",
        idle_seconds: float = IDLE_SECONDS,
        neighbours: Callable[[], Awaitable[Neighbours]] | None = None,
    ) -> None:
        """`source` is what runs, whatever `path` holds by then. `interpreter`: a Python of its own, with pydantic.

        `neighbours` is asked at each start of the process; without it an import finds whatever lies beside the file.
        Without a source `path` is the name of a module of the app's own.
        """
        self._path = path
        self._source = source
        self._interpreter = interpreter
        self._idle_seconds = idle_seconds
        self._neighbours = neighbours
        self._starting = asyncio.Lock()
        self._live: LiveFile | None = None
        self._retired: list[LiveFile] = []
        """Processes that are replaced, and have calls that may still end."""
        self._busy = 0
        self._sleep: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """Of its process, `None` while there is none."""
        return self._live.pid or None if self._live and not self._live.retired else None

    async def load(self, timeout: float = LOAD_SECONDS) -> Loaded:  # noqa: ASYNC109  the file's time, told in its trouble
        """The tools it holds. Raises `LoadFailed`, also when it is not through after that many seconds."""
        with self._awake():
            return (await self._running(timeout)).loaded

    async def call(
        self, name: str, arguments: Mapping[str, JsonValue], context: CallContext | None = None
    ) -> ToolOutput:
        """Run one of its tools, side by side with others; without a context it has no files and nobody sees it.

        Raises `InvalidArguments`, `UnknownTool` where the file has no such tool any more, `LoadFailed`, `ToolCrashed`
        with a traceback for what the tool did not mean to raise or when the process ended, else `ToolError`.
        Cancelling ends the call, if need be with its process; other calls then get up to 5 seconds to end.
        """
        with self._awake():
            return await (await self._running(LOAD_SECONDS)).call(name, arguments, context)

    def fall_asleep(self) -> None:
        """End its process, unless it is used; the next call starts another one."""
        if self._live and not self._busy:
            self._live.end()

    def shut(self) -> None:
        """Take no call any more, from this moment on, and end its process, which may still be starting."""
        self._closed = True
        if self._sleep:
            self._sleep.cancel()
        for live in self._all():
            live.end()

    async def close(self) -> None:
        """End its process for good; calls that run are told so."""
        self.shut()
        async with self._starting:
            for live in self._all():
                await live.close()

    def _all(self) -> list[LiveFile]:
        return [*self._retired, *([self._live] if self._live else [])]

    async def _running(self, seconds: float) -> LiveFile:
        async with self._starting:
            return self._live if self._live and not self._live.retired else await self._started(seconds)

    async def _started(self, seconds: float) -> LiveFile:
        """A new process in the place of the one before."""
        neighbours = await self._neighbours() if self._neighbours else None
        self._refuse_if_closed()
        self._retired = [one for one in self._all() if not one.gone]
        live = self._live = LiveFile(self._path)
        try:
            await live.start(self._source, neighbours, interpreter=self._interpreter, seconds=seconds)
        except LoadFailed:
            self._refuse_if_closed()
            raise
        return live

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise ToolError(f"{self._path.name} was changed or closed. Call the tool again.")

    @contextmanager
    def _awake(self) -> Iterator[None]:
        """Keep the process while it is used, and for some time afterwards."""
        self._busy += 1
        if self._sleep:
            self._sleep.cancel()
        try:
            yield
        finally:
            self._busy -= 1
            if not self._busy and not self._closed:
                self._sleep = asyncio.get_running_loop().call_later(self._idle_seconds, self.fall_asleep)
