"""One process of a tool file as the app sees it: messages in and out, and an end that leaves nothing behind."""

import asyncio
import codecs
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Protocol, runtime_checkable

from pydantic import ValidationError

from app.domain.values import Value
from app.tools.worker.protocol import FROM_CHILD, LONGEST_LINE, FromChild, line

TURN_SECONDS = 0.005
"""How long messages are taken in before others have their turn."""
MOST_WAITING = 1024 * 1024
"""Bytes that wait to be taken in before the process has to wait."""
LAST_FRAME = b" in main\n"
"""Of the stack of the process's main thread, which is written last."""
STDERR_KEPT = 16_384
"""Bytes of the end of stderr, where a crash of Python itself says where it was."""
LINGER_SECONDS = 0.2
"""How long pipes are read after the process ended, should something that left its group hold them open."""

ROOT = str(Path(__file__).resolve().parents[3])
"""What `app` is imported from."""
CHILD = """\
import sys
import pydantic
sys.path.insert(0, sys.argv[1])
from app.tools.worker.child import main
sys.path.remove(sys.argv[1])
main()
"""
"""The interpreter's own packages come first, and of the app's folder nothing but the app itself is seen."""
KEPT_VARIABLES = (
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TMP", "TEMP", "TZ", "SYSTEMROOT", "SYSTEMDRIVE",
    "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PATHEXT", "COMSPEC",
)  # fmt: skip
BUNDLE_VARIABLES = ("_PYI_", "LD_LIBRARY_PATH")
"""With these the executable starts once; else it would start itself again to find its libraries."""


@runtime_checkable
class ProcessTransport(Protocol):
    """A child process by what can be done with it: uvloop's is of none of asyncio's classes, nor are its pipes."""

    def get_pid(self) -> int | None: ...

    def get_returncode(self) -> int | None: ...

    def get_pipe_transport(self, fd: int) -> object: ...

    def send_signal(self, signal: int) -> None: ...

    def close(self) -> None: ...


@runtime_checkable
class IntoProcess(Protocol):
    """The pipe to its standard input."""

    def is_closing(self) -> bool: ...

    def write(self, data: bytes) -> None: ...


@runtime_checkable
class OutOfProcess(Protocol):
    """The pipe from its standard output."""

    def is_closing(self) -> bool: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class WorkerProcess(asyncio.SubprocessProtocol):
    """`heard` gets each message, `printed` what was written past Python's own streams; both are called on the loop."""

    def __init__(self, heard: Callable[[FromChild], None], printed: Callable[[str], None]) -> None:
        self._heard = heard
        self._printed = printed
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        """What is read may end in the middle of a character."""
        self._transport: ProcessTransport | None = None
        self._loop = asyncio.get_running_loop()
        self._waiting = bytearray()
        self._scanned = 0
        self._taking: asyncio.Handle | None = None
        self._life: int | None = None
        self._paused = False
        self.killed = False
        self.garbled = False
        """True when it wrote something else than messages where only messages go."""
        self.stderr = bytearray()
        self._spoke = asyncio.Event()
        self.ended: asyncio.Future[int] = self._loop.create_future()
        """Its exit code, once all that it said was taken in; negative for a signal, as in `subprocess`."""

    async def start(self, interpreter: str) -> int | None:
        """Start it; the number under which it has the pipe that ends with the app.

        Raises `OSError` when it cannot be started.
        """
        life = self._open_life()
        command, environment = worker_command(interpreter), worker_environment(interpreter)
        start = partial(self._loop.subprocess_exec, lambda: self, *command, env=environment)
        try:
            if sys.platform == "win32":
                await start(creationflags=subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW)
            else:
                await start(start_new_session=True, pass_fds=() if life is None else (life,))
        except BaseException:
            self.kill()
            self._close_life()
            if self._transport is None:
                self.ended.set_result(-1)
            raise
        finally:
            if life is not None:
                os.close(life)
        return life

    @property
    def pid(self) -> int:
        return (self._transport.get_pid() or 0) if self._transport else 0

    def send(self, message: Value) -> None:
        """Hand it to the process; nobody is told when that has ended already."""
        pipe = self._transport.get_pipe_transport(0) if self._transport else None
        if isinstance(pipe, IntoProcess) and not pipe.is_closing():
            pipe.write(line(message))

    def kill(self) -> None:
        """End it at once with all that it started; `ended` says when it is done."""
        if self._transport is None or self._transport.get_returncode() is not None:
            return
        self.killed = True
        if sys.platform == "win32":
            ending = ["taskkill", "/T", "/F", "/PID", str(self.pid)]
            subprocess.Popen(ending, creationflags=subprocess.CREATE_NO_WINDOW)  # noqa: S603  a part of Windows
        else:
            self._kill_group()

    async def where(self, seconds: float) -> str:
        """Where its threads are, as `faulthandler` says it; waits for that up to `seconds`."""
        if sys.platform != "win32" and self._transport and not self.ended.done():
            self._transport.send_signal(signal.SIGUSR1)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    while LAST_FRAME not in self.stderr:
                        self._spoke.clear()
                        await self._spoke.wait()
        return self.stderr.decode(errors="replace")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, ProcessTransport):
            self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.stderr = (self.stderr + data)[-STDERR_KEPT:]
            self._spoke.set()
            self._printed(self._decode(data))
            return
        self._waiting += data
        self._hold_back(len(self._waiting) > MOST_WAITING)
        if self._taking is None:
            self._take_some()

    def process_exited(self) -> None:
        if sys.platform != "win32":
            self._kill_group()
        if self._transport:
            self._loop.call_later(LINGER_SECONDS, self._transport.close)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  the exit code says more
        if self._taking:
            self._taking.cancel()
        while self._take_one():
            pass
        self._close_life()
        code = self._transport.get_returncode() if self._transport else None
        if not self.ended.done():
            self.ended.set_result(-1 if code is None else code)

    def _take_some(self) -> None:
        """Take messages in for a moment, then let others have their turn."""
        until = perf_counter() + TURN_SECONDS
        self._taking = None
        while self._take_one():
            if perf_counter() > until:
                self._taking = self._loop.call_soon(self._take_some)
                return
        self._hold_back(False)

    def _take_one(self) -> bool:
        """Take the next message in; False when none is whole."""
        end = self._waiting.find(b"\n", self._scanned)
        if end < 0:
            self._scanned = len(self._waiting)
            if self._scanned > LONGEST_LINE:
                self._garbled()
            return False
        written = bytes(self._waiting[:end])
        del self._waiting[: end + 1]
        self._scanned = 0
        try:
            message = FROM_CHILD.validate_json(written)
        except ValidationError:
            self._garbled()
            return False
        self._heard(message)
        return True

    def _garbled(self) -> None:
        self.garbled = True
        self._waiting.clear()
        self.kill()

    def _hold_back(self, wanted: bool) -> None:
        pipe = self._transport.get_pipe_transport(1) if self._transport else None
        if wanted != self._paused and isinstance(pipe, OutOfProcess) and not pipe.is_closing():
            self._paused = wanted
            (pipe.pause_reading if wanted else pipe.resume_reading)()

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # gone; macOS forbids it for what is half gone
            os.killpg(self.pid, signal.SIGKILL)

    def _open_life(self) -> int | None:
        """The end of a pipe for the process: the other end closes when the app is gone, however it went."""
        if sys.platform == "win32":
            return None
        reading, self._life = os.pipe()
        return reading

    def _close_life(self) -> None:
        life, self._life = self._life, None
        if life is not None:
            os.close(life)


def worker_command(interpreter: str = "") -> list[str]:
    """Starts a file's process: with the app's own Python, or with `interpreter`, which has to have pydantic."""
    if not interpreter and getattr(sys, "frozen", False):
        return [sys.executable, "--worker"]
    return [interpreter or sys.executable, "-P", "-c", CHILD, ROOT]


def worker_environment(interpreter: str = "") -> dict[str, str]:
    """What programs need to run at all; no key is among it."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    if getattr(sys, "frozen", False) and not interpreter:
        kept |= {name: value for name, value in os.environ.items() if name.startswith(BUNDLE_VARIABLES)}
    return kept
