"""One model call while it happens: what is asked, the pieces that arrive, and the reply they add up to.

Pieces are live only, the trace keeps the finished message; they are plain dataclasses because there are thousands.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Protocol

from app.domain.agents import Parameters
from app.domain.messages import FinishReason, Message, Usage
from app.domain.tools import JsonSchema, ToolSpec


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


@dataclass(slots=True)
class DraftCall:
    """A tool call whose arguments are still being written."""

    call_id: str
    name: str
    arguments: str = ""


@dataclass(slots=True)
class Draft:
    """Live text: the message being written. Empty between messages."""

    text: str = ""
    reasoning: str = ""
    calls: dict[str, DraftCall] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        return not (self.text or self.reasoning or self.calls)
