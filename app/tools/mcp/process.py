"""A server's process: its own group, ended with all its children, also when the app itself is killed.

The SDK's `stdio_client` leaves children of a server that ends by itself, ends nothing when the app is killed, and
logs a traceback for every line that is no message; this one is used everywhere but on Windows, where the SDK's job
objects do what process groups do here.
"""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process, SubprocessStreamProtocol
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from app.tools.mcp.launching import Launch
from app.tools.mcp.server_log import ServerLog

CHUNK = 65_536
GRACE_SECONDS = 1.0
"""After its input was closed, and again after it was asked to end."""
LAST_OUTPUT_SECONDS = 0.5
"""For what is still in its pipes when it has ended; a child of it may hold them for ever."""
GUARD = 'read -r _; kill -s KILL -- "-$1"'
"""A shell that waits for its input to end, as it does when the app is gone, and then ends the group."""


class ServerProcess:
    """A running server. Use `server_process`, which also ends it."""

    def __init__(self, process: Process, protocol: "_Exiting", guard: Process) -> None:
        if not (process.stdin and process.stdout and process.stderr):
            raise ValueError("A server's process needs its three pipes.")
        self.stdin, self.stdout, self.stderr = process.stdin, process.stdout, process.stderr
        self._process = process
        self._exited = protocol.exited
        self._guard = guard

    @property
    def pid(self) -> int:
        return self._process.pid

    async def exit_code(self) -> int | None:
        """Negative for the signal that ended it; `None` when it goes on for longer than the grace."""
        await self._ended()
        return self._process.returncode

    async def last_output(self) -> None:
        """Wait for its end and, a moment later, end its output, which a child of it may hold open."""
        await self._exited.wait()
        await asyncio.sleep(LAST_OUTPUT_SECONDS)
        self.stdout.feed_eof()

    async def end(self) -> None:
        """Close its input, give it a moment, then kill whatever is left of its group."""
        with suppress(OSError):
            self.stdin.close()
        if not await self._ended():
            _signal_group(self._process.pid, signal.SIGTERM)
            await self._ended()
        _signal_group(self._process.pid, signal.SIGKILL)
        await self._ended()
        if self._guard.returncode is None:
            self._guard.kill()
        await self._guard.wait()

    async def _ended(self) -> bool:
        """Whether it is gone within the grace. Not `wait()`, which waits for whoever else holds its pipes too."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._exited.wait(), GRACE_SECONDS)
        return self._exited.is_set()


class _Exiting(SubprocessStreamProtocol):
    """Tells of the end of the process itself."""

    def __init__(self) -> None:
        super().__init__(limit=CHUNK, loop=asyncio.get_running_loop())
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


@asynccontextmanager
async def server_process(launch: Launch, log: ServerLog) -> AsyncIterator[ServerProcess]:
    """The started process, its standard error read into the log. Raises `OSError` when it cannot be started."""
    process, protocol = await _started(launch)
    try:
        running = ServerProcess(process, protocol, await _guarding(process.pid))
    except BaseException:
        _signal_group(process.pid, signal.SIGKILL)
        raise
    tasks = [
        asyncio.create_task(_read_errors(running.stderr, log), name="standard error of an MCP server"),
        asyncio.create_task(running.last_output(), name="last output of an MCP server"),
    ]
    try:
        yield running
    finally:
        await _in_spite_of_cancelling(asyncio.create_task(running.end(), name="end of an MCP server"))
        for task in tasks:
            task.cancel()
        log.finish()


async def _started(launch: Launch) -> tuple[Process, _Exiting]:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        _Exiting,
        launch.program,
        *launch.args,
        env=dict(launch.env),
        cwd=launch.cwd,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        start_new_session=True,
    )
    return Process(transport, protocol, loop), protocol


async def _guarding(group: int) -> Process:
    command = ("/bin/sh", "-c", GUARD, "guard", str(group))
    return await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, env={}, start_new_session=True
    )


async def _read_errors(stream: asyncio.StreamReader, log: ServerLog) -> None:
    while chunk := await stream.read(CHUNK):
        log.wrote(chunk)
        await asyncio.sleep(0)  # a read returns at once from a flooded pipe, and others want to run too


async def _in_spite_of_cancelling(task: asyncio.Task[None]) -> None:
    """Wait for the task to its end; a process that is half ended would stay."""
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError


def _signal_group(group: int, number: int) -> None:
    if sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
