"""Tools as the model sees them, and what a call of one gives back."""

from collections.abc import Mapping
from typing import Literal, Protocol

from pydantic import JsonValue

from app.domain.messages import ResultPart, TextPart
from app.domain.values import Text, Value

Policy = Literal["auto", "ask", "off"]
JsonSchema = dict[str, JsonValue]


class ToolSpec(Value):
    """A tool's face: all that a model is told of it, and how a person is shown it."""

    name: str
    description: str
    parameters: JsonSchema
    """JSON Schema of the arguments, exactly as it is sent to the model."""
    title: str = ""
    icon: str = "build"
    """A Material icon's name."""
    kit: str = ""
    """The kit it belongs to; its name then starts with `kit__`."""
    idempotent: bool = False
    """True when calling it twice does the same as calling it once."""
    side_effects: bool = False
    """True when it changes something outside the conversation; the trace is on disk before it runs."""
    cancellable: bool = True
    handles: tuple[str, ...] = ()
    """Media types of files it can open."""


class ToolOutput(Value):
    """What a tool returned."""

    parts: tuple[ResultPart, ...] = ()
    printed: Text = ""
    """What it wrote to its standard output and error."""

    @classmethod
    def of_text(cls, text: str, printed: str = "") -> "ToolOutput":
        return cls(parts=(TextPart(text=text),), printed=printed)


class FileWrite(Value):
    """What a write did to a session file."""

    path: str
    before: str | None
    """The sha256 of what was there, `None` for a new file."""
    after: str
    size: int
    """Bytes."""


class SessionFiles(Protocol):
    """The files of a session: a folder of names only, each naming an artifact; no path leads out of it."""

    def digests(self) -> Mapping[str, str]:
        """Path to sha256 of every file, as of now."""
        ...

    async def read(self, path: str) -> bytes:
        """The file's bytes; `ToolError` where there is none."""
        ...

    async def write(self, path: str, content: bytes) -> FileWrite:
        """Write or replace the file; the trace gets a `FileChanged`."""
        ...


class CallContext(Protocol):
    """What a tool may use while it is called."""

    @property
    def call_id(self) -> str: ...

    @property
    def files(self) -> SessionFiles: ...

    def printed(self, text: str) -> None:
        """Show `text` on the call's card at once; the tool still returns it in `ToolOutput.printed`."""
        ...


def canonical_name(name: str) -> str:
    """The spelling under which a tool or kit is known: `-` and `_` are the same."""
    return name.replace("-", "_")
