"""One model call while it happens: what is asked, the pieces that arrive, and the reply they add up to.

Pieces are live only, the trace keeps the finished message; they are plain dataclasses because there are thousands.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from app.domain.agents import Parameters
from app.domain.messages import Dispositions, FinishReason, Message, SentAttachment, SentKey, Usage
from app.domain.tools import JsonSchema, ToolSpec

Stored = Callable[[], Awaitable[None]]


async def nothing_to_store() -> None:
    """Where nothing is recorded."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    model: str
    """`provider/model`."""
    messages: tuple[Message, ...]
    """The conversation, oldest first; every tool call in it is answered."""
    system: Message | None = None
    tools: tuple[ToolSpec, ...] = ()
    parameters: Parameters = field(default_factory=Parameters)
    output_schema: JsonSchema | None = None
    """What the answer has to be: JSON of this schema; `None` for plain text."""
    idle_timeout: float = 60
    """Seconds of silence after which the call fails as `timeout`."""
    dispositions: Dispositions = field(default_factory=dict)
    """What the agent does with attachments, by their media type."""
    session_id: str = ""
    """The session whose files these are."""
    sent: Mapping[SentKey, SentAttachment] | None = None
    """How each attachment goes along, oldest first; `None` until that is decided."""
    stored: Stored = field(default=nothing_to_store, compare=False, repr=False)
    """Awaited when the request is ready and none of it has left: what came before it is on disk then."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    text: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A piece of a tool call's arguments."""

    call_id: str
    name: str
    text: str


Delta = TextDelta | ReasoningDelta | CallDelta


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's whole answer, the last item of its stream."""

    message: Message
    usage: Usage
    finish_reason: FinishReason


class Model(Protocol):
    """Anything that can be asked and streams its answer."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        """Yield deltas as they come, then exactly one reply; closing it closes the provider's connection.

        Raises `ModelFailure`. A stream that ends without a finish reason is a failure, never a reply.
        """
        ...


class GrowingText:
    """Text that grows by thousands of pieces and is read a few times a second: joined when it is read."""

    __slots__ = ("_pieces",)

    def __init__(self, text: str = "") -> None:
        self._pieces = [text]

    def add(self, piece: str) -> None:
        self._pieces.append(piece)

    def __str__(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]


class DraftCall:  # noqa: PLW1641  it changes, so nothing may keep it by its hash
    """A tool call whose arguments are still being written."""

    __slots__ = ("_arguments", "call_id", "name")

    def __init__(self, call_id: str, name: str, arguments: str = "") -> None:
        self.call_id = call_id
        self.name = name
        self._arguments = GrowingText(arguments)

    @property
    def arguments(self) -> str:
        return str(self._arguments)

    def take(self, piece: str) -> None:
        self._arguments.add(piece)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DraftCall) and (self.call_id, self.name, self.arguments) == (
            other.call_id,
            other.name,
            other.arguments,
        )


class Draft:  # noqa: PLW1641  it changes, so nothing may keep it by its hash
    """Live text: the message being written. Empty between messages."""

    __slots__ = ("_reasoning", "_text", "calls")

    def __init__(self, text: str = "", reasoning: str = "", calls: Iterable[DraftCall] = ()) -> None:
        self._text = GrowingText(text)
        self._reasoning = GrowingText(reasoning)
        self.calls = {call.call_id: call for call in calls}

    @property
    def text(self) -> str:
        return str(self._text)

    @property
    def reasoning(self) -> str:
        return str(self._reasoning)

    @property
    def empty(self) -> bool:
        return not (self.calls or self.text or self.reasoning)

    def take(self, delta: Delta) -> None:
        """Add a piece."""
        match delta:
            case TextDelta(text=text):
                self._text.add(text)
            case ReasoningDelta(text=text):
                self._reasoning.add(text)
            case CallDelta(call_id=call_id, name=name, text=text):
                if call_id not in self.calls:
                    self.calls[call_id] = DraftCall(call_id, name)
                self.calls[call_id].take(text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Draft) and (self.text, self.reasoning, self.calls) == (
            other.text,
            other.reasoning,
            other.calls,
        )
