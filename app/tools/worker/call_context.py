"""What a tool's function gets as its `Context`: every wish is a message to the app."""

import itertools
import math
import threading
import time

from pydantic import JsonValue

from app.domain.errors import ToolError
from app.domain.tools import Progress, Question
from app.tools.function.authoring import Answer, File
from app.tools.worker.printing import CallOutput
from app.tools.worker.protocol import (
    MOST_CONTENT,
    AskPerson,
    Call,
    Contents,
    KeptFile,
    ListFiles,
    Progressed,
    ReadFile,
    Reply,
    Request,
    WriteFile,
    pieces,
    too_much_content,
)
from app.tools.worker.results import media_type_of
from app.tools.worker.wire import Wire

PROGRESS_SECONDS = 0.05
"""Between two words on progress; what comes sooner is left out."""


class CallCancelled(BaseException):
    """The call was cancelled: raised by the context, so that a function that uses it ends there."""


class CallFiles:
    """See `app.tools.function.authoring.Files`."""

    def __init__(self, context: "CallContext") -> None:
        self._context = context

    def names(self) -> list[str]:
        return self._context.file_names()

    def read(self, path: str) -> bytes:
        return self._context.file(path)

    def write(self, path: str, content: bytes | str) -> None:
        self._context.put_file(path, _bytes(content, "files.write"))


class CallContext:
    """See `app.tools.function.authoring.Context`. Safe from any thread."""

    def __init__(self, call: Call, wire: Wire, output: CallOutput) -> None:
        self._call = call
        self._wire = wire
        self._output = output
        self._contents = itertools.count(1)
        self._room = MOST_CONTENT
        self._told_progress = 0.0
        self.received = Contents(math.inf)
        """Files that the app sent."""
        self.cancelled = threading.Event()
        self._artifacts: list[tuple[bytes, KeptFile]] = []
        self.files = CallFiles(self)

    @property
    def call_id(self) -> str:
        return self._call.call_id

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        self._go_on()
        if not (math.isfinite(done) and math.isfinite(total or 0)):
            raise ValueError(f"context.progress takes finite numbers, not {done} of {total}")
        now = time.monotonic()
        if now - self._told_progress >= PROGRESS_SECONDS or done == total:
            self._told_progress = now
            self._wire.send(Progressed(call=self._call.call, progress=Progress(done=done, total=total, text=text)))

    def log(self, text: str) -> None:
        self._go_on()
        self._output.show(self._call.call, f"{text}\n")

    def artifact(self, content: bytes | str, filename: str, media_type: str | None = None) -> File:
        self._go_on()
        whole = _bytes(content, "artifact")
        file = File(whole, filename, media_type or media_type_of(filename, whole))
        self._artifacts.append((whole, self._handed_over(whole, file.media_type, filename)))
        return file

    def ask(self, text: str, form: dict[str, JsonValue] | None = None) -> Answer:
        number = self._wire.new_request()
        reply = self._request(AskPerson(call=self._call.call, request=number, question=Question(text=text, form=form)))
        if reply.answer is None:
            raise ToolError("Nobody answered.")
        return Answer(reply.answer.decision, reply.answer.values)

    def file_names(self) -> list[str]:
        return list(self._request(ListFiles(call=self._call.call, request=self._wire.new_request())).names)

    def file(self, path: str) -> bytes:
        reply = self._request(ReadFile(call=self._call.call, request=self._wire.new_request(), path=path))
        return b"" if reply.content is None else self.received.take(reply.content)

    def put_file(self, path: str, content: bytes) -> None:
        number = self._sent(content)
        self._request(WriteFile(call=self._call.call, request=self._wire.new_request(), path=path, content=number))

    def keep(self, content: bytes, media_type: str, filename: str) -> KeptFile:
        """A file that the function returned; one that it handed to `artifact` before is that one."""
        for kept in self._artifacts:
            if kept[0] is content:
                self._artifacts.remove(kept)
                return kept[1]
        return self._handed_over(content, media_type, filename)

    def artifacts(self) -> tuple[KeptFile, ...]:
        """What was handed to `artifact` and not returned as well."""
        return tuple(kept for _, kept in self._artifacts)

    def _handed_over(self, content: bytes, media_type: str, filename: str) -> KeptFile:
        return KeptFile(content=self._sent(content), media_type=media_type, filename=filename)

    def _sent(self, content: bytes) -> int:
        """Send the bytes; the number under which the app then knows them. Raises `ToolError` when it is too much."""
        self._room -= len(content)
        if self._room < 0:
            raise ToolError(too_much_content())
        number = next(self._contents)
        for piece in pieces(self._call.call, number, content):
            self._wire.send(piece)
        return number

    def _request(self, request: Request) -> Reply:
        self._go_on()
        reply = self._wire.reply_to(request)
        self._go_on()
        return reply

    def _go_on(self) -> None:
        if self.cancelled.is_set():
            raise CallCancelled


def _bytes(content: bytes | str, where: str) -> bytes:
    if isinstance(content, str):
        return content.encode(errors="replace")
    if isinstance(content, bytes | bytearray | memoryview):
        return bytes(content)
    raise TypeError(f"context.{where} takes bytes or text, not {type(content).__name__}")
