"""What the code of a tool file prints, sent to the app as it is printed and told apart by call."""

import io
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, NoReturn

from app.domain.errors import ToolError
from app.tools.function.printing import LONGEST_PRINT
from app.tools.worker.protocol import Printed

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

CURRENT_CALL: ContextVar[int | None] = ContextVar("current_call", default=None)
"""The call that the running code belongs to. Threads that a tool starts by itself do not inherit it."""
LONGEST_WAIT = 4_096
"""Bytes that are held back while a line is not finished."""
TOO_MUCH = f"\n[… more was printed than the {LONGEST_PRINT:,} characters that are kept]"


class PrintRoom:
    """How much one call may still print."""

    def __init__(self) -> None:
        self._left = LONGEST_PRINT - len(TOO_MUCH)

    def take(self, text: str) -> str:
        """The part of it that is shown; the first text that is cut ends with a word on it."""
        if self._left < 0:
            return ""
        shown = text[: self._left]
        self._left -= len(text)
        return shown if self._left >= 0 else shown + TOO_MUCH


class CallOutput(io.RawIOBase):
    """The bytes below `sys.stdout`; whole lines go out at once, the rest with `flush` or the end of the call."""

    name = "<output of a tool>"

    def __init__(self, send: Callable[[Printed], None]) -> None:
        self._send = send
        self._lock = threading.RLock()
        self._waiting: dict[int | None, bytearray] = {}
        self._rooms: dict[int | None, PrintRoom] = {}

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        """For subprocesses: what is written there reaches the app too."""
        return 1

    def write(self, printed: "ReadableBuffer", /) -> int:
        written = bytes(printed)
        call = CURRENT_CALL.get()
        with self._lock:
            waiting = self._waiting.setdefault(call, bytearray())
            waiting.extend(written)
            if b"\n" in written or len(waiting) > LONGEST_WAIT:
                self.flush()
        return len(written)

    def flush(self) -> None:
        call = CURRENT_CALL.get()
        with self._lock:
            self.show(call, self._waiting.pop(call, bytearray()).decode(errors="replace"))

    def show(self, call: int | None, text: str) -> None:
        """Send what there is room for."""
        with self._lock:
            shown = self._rooms.setdefault(call, PrintRoom()).take(text)
            if shown:
                self._send(Printed(call=call, text=shown))

    def finish(self, call: int | None) -> None:
        """Show the rest of what it printed."""
        with self._lock:
            self.show(call, self._waiting.pop(call, bytearray()).decode(errors="replace"))
            self._rooms.pop(call, None)


class NoInput(io.TextIOBase):
    """`sys.stdin` of a tool: nobody types there."""

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> NoReturn:  # noqa: ARG002  what `input` and friends call
        raise ToolError("A tool cannot read from a keyboard. Take the text as an argument, or use `context.ask`.")

    def readline(self, size: int = -1, /) -> NoReturn:  # type: ignore[override]  # noqa: ARG002
        self.read()


def as_text(output: CallOutput) -> io.TextIOWrapper:
    """A `sys.stdout` on top of it."""
    return io.TextIOWrapper(output, encoding="utf-8", errors="backslashreplace", write_through=True)
