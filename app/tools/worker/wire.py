"""The process's end of the line to the app, out of reach of what user code prints."""

import faulthandler
import os
import queue
import signal
import sys
import threading
from collections.abc import Iterator

from app.domain.errors import ToolError
from app.domain.values import Value
from app.tools.worker.protocol import TO_CHILD, Reply, Request, ToChild, line


class Wire:
    """Sends and receives messages. Sending is safe from any thread."""

    def __init__(self) -> None:
        """Takes stdin and stdout for itself: afterwards stdin is empty, and stdout is stderr."""
        self._in, self._out = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        self._lock = threading.Lock()
        self._replies: dict[int, queue.SimpleQueue[Reply]] = {}
        self._last_request = 0

    def send(self, message: Value) -> None:
        """Returns when the app's end of the line has room for it."""
        rest = memoryview(line(message))
        with self._lock:
            while rest:
                rest = rest[os.write(self._out, rest) :]

    def messages(self) -> Iterator[ToChild]:
        """What the app says, until it hangs up."""
        with os.fdopen(self._in, "rb") as lines:
            for received in lines:
                yield TO_CHILD.validate_json(received)

    def new_request(self) -> int:
        with self._lock:
            self._last_request += 1
            self._replies[self._last_request] = queue.SimpleQueue()
            return self._last_request

    def reply_to(self, request: Request) -> Reply:
        """Send the request and wait. Raises `ToolError` with the app's words when it refuses."""
        try:
            self.send(request)
            reply = self._replies[request.request].get()
        finally:
            self._replies.pop(request.request)
        if reply.error is not None:
            raise ToolError(reply.error)
        return reply

    def replied(self, reply: Reply) -> None:
        waiting = self._replies.get(reply.request)
        if waiting:
            waiting.put(reply)


def end_everything() -> None:
    """End this process and what the file's code has started."""
    if sys.platform != "win32" and os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


def die_with_the_app(life: int | None) -> None:
    """Have the kernel end the whole process group when the app is gone, even while user code keeps Python busy.

    On Linux a pipe can send a signal of choice to a group when its other end is closed (fcntl(2): F_SETOWN, F_SETSIG,
    O_ASYNC). The parent-death signal only stands in for it: it is for this process alone, and where it comes first
    nobody is left to end the others. Elsewhere the end of stdin has to do.
    """
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415  only on Linux

    parent_death = 1
    if life is None or os.getpgrp() != os.getpid() or not _signals_the_group(life):
        ctypes.CDLL(None).prctl(parent_death, int(signal.SIGKILL))


def _signals_the_group(life: int) -> bool:
    """Whether the end of that pipe will kill this process's group."""
    import fcntl  # noqa: PLC0415  not on Windows

    set_signal = 10
    os.set_inheritable(life, False)
    try:
        fcntl.fcntl(life, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(life, set_signal, int(signal.SIGKILL))
        fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC)
    except OSError:
        return False
    return True


def say_where_on_demand() -> None:
    """On SIGUSR1 write where every thread is to stderr, even while the file's code keeps Python busy."""
    if sys.platform != "win32":
        faulthandler.register(signal.SIGUSR1, file=2, all_threads=True)
