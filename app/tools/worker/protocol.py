"""What the app and a file's process say to each other: a JSON object per line, over the process's stdin and stdout."""

import base64
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, JsonValue, TypeAdapter

from app.domain.errors import ToolError
from app.domain.messages import TextPart
from app.domain.tools import Answer, Progress, Question, ToolSpec
from app.domain.values import Text, Value

PIECE_BYTES = 192 * 1024
"""Of content in one message: small enough to be taken in at once without holding others up."""
MOST_CONTENT = 32 * 1024 * 1024
"""Bytes of files that one call may hand over, in each direction."""
LONGEST_RESULT = 4 * 1024 * 1024
"""Characters of text that one result may have."""
LONGEST_LINE = 64 * 1024 * 1024
"""Bytes. No message comes near; the bound keeps a process that has run wild from filling the app's memory."""


class OfCall(Value):
    call: int


class OfRequest(OfCall):
    request: int


class Neighbours(Value):
    """The folder of files like this one, and which of them it may import."""

    folder: str
    allowed: tuple[str, ...]
    """By their paths."""


class Load(Value):
    """Run this source as the file at that path; `None`: import the module of the app's own that is called so."""

    type: Literal["load"] = "load"
    path: str
    source: str | None
    life: int | None = None
    """A pipe that nothing is written to: it closes when the app is gone."""
    neighbours: Neighbours | None = None


class Call(OfCall):
    type: Literal["call"] = "call"
    name: str
    call_id: str
    arguments: dict[str, JsonValue]


class Cancel(OfCall):
    type: Literal["cancel"] = "cancel"


class Piece(OfCall):
    """A part of a file's bytes."""

    type: Literal["piece"] = "piece"
    content: int
    base64: str


class Reply(OfRequest):
    """What came of a request; `error` is the tool's to read."""

    type: Literal["reply"] = "reply"
    error: str | None = None
    names: tuple[str, ...] = ()
    content: int | None = None
    answer: Answer | None = None


ToChild = Annotated[Load | Call | Cancel | Piece | Reply, Field(discriminator="type")]


class Ready(Value):
    """The process is up, and runs the file from now on."""

    type: Literal["ready"] = "ready"


class FileLoaded(Value):
    type: Literal["loaded"] = "loaded"
    tools: tuple[ToolSpec, ...]
    left_out: tuple[str, ...] = ()


class FileFailed(Value):
    """The file did not run to its end, or no tool can be made of what it holds."""

    type: Literal["failed"] = "failed"
    text: Text
    line: int | None = None
    traceback: Text = ""
    missing: tuple[str, ...] = ()


class Printed(Value):
    type: Literal["printed"] = "printed"
    call: int | None
    """`None`: by the file itself while it was loaded, or by a thread that it left behind."""
    text: Text


class Progressed(OfCall):
    type: Literal["progressed"] = "progressed"
    progress: Progress


class ListFiles(OfRequest):
    type: Literal["list_files"] = "list_files"


class ReadFile(OfRequest):
    type: Literal["read_file"] = "read_file"
    path: str


class WriteFile(OfRequest):
    type: Literal["write_file"] = "write_file"
    path: str
    content: int


class AskPerson(OfRequest):
    type: Literal["ask"] = "ask"
    question: Question


class KeptFile(Value):
    """A file in a result: its bytes came before, in pieces."""

    type: Literal["kept"] = "kept"
    content: int
    media_type: str
    filename: str


class Returned(OfCall):
    type: Literal["returned"] = "returned"
    parts: tuple[Annotated[TextPart | KeptFile, Field(discriminator="type")], ...]


class Raised(OfCall):
    type: Literal["raised"] = "raised"
    kind: Literal["told", "invalid", "unknown", "crashed", "cancelled"]
    text: Text
    traceback: Text = ""


Request = ListFiles | ReadFile | WriteFile | AskPerson
FromChild = Annotated[
    Ready | FileLoaded | FileFailed | Printed | Progressed | Piece | Request | Returned | Raised,
    Field(discriminator="type"),
]

TO_CHILD: TypeAdapter[ToChild] = TypeAdapter(ToChild)
FROM_CHILD: TypeAdapter[FromChild] = TypeAdapter(FromChild)


def line(message: Value) -> bytes:
    return message.model_dump_json().encode() + b"\n"


def pieces(call: int, content: int, whole: bytes) -> Iterator[Piece]:
    """The bytes in messages; at least one."""
    for start in range(0, max(len(whole), 1), PIECE_BYTES):
        chunk = whole[start : start + PIECE_BYTES]
        yield Piece(call=call, content=content, base64=base64.b64encode(chunk).decode())


class Contents:
    """The files of one call, put together from their pieces."""

    def __init__(self, room: float = MOST_CONTENT) -> None:
        """`room`: bytes that may be here at once."""
        self._contents: dict[int, bytearray] = {}
        self._room = room

    def add(self, piece: Piece) -> None:
        """Raises `ToolError` when it becomes too much."""
        chunk = base64.b64decode(piece.base64)
        self._room -= len(chunk)
        if self._room < 0:
            raise ToolError(too_much_content())
        self._contents.setdefault(piece.content, bytearray()).extend(chunk)

    def take(self, content: int) -> bytes:
        whole = bytes(self._contents.pop(content))
        self._room += len(whole)
        return whole


def too_much_content() -> str:
    return (
        f"A call may hand over {MOST_CONTENT // 1024**2} MB of files, and these are more. Keep fewer or smaller ones."
    )
