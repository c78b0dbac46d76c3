"""A run as decisions: what the agent observed, what it decided, how it acted on it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from app.domain.events import Entry, MessageAdded, ModelReturned
from app.domain.messages import Message, ToolResult, Usage
from app.domain.trace.calls import CallView, call_views


@dataclass(frozen=True, slots=True)
class Decision:
    """One answer of the model."""

    kind: Literal["act", "respond"]
    reasoning: str
    text: str
    seq: int
    at: datetime
    usage: Usage
    cost: float | None
    ms: float


@dataclass(frozen=True, slots=True)
class TrajectoryStep:
    """Observe → decide → act. Several calls of one decision ran side by side."""

    number: int
    """Counts from 1."""
    observed: tuple[Message | ToolResult, ...]
    """What came in since the decision before: user messages and tool results."""
    decision: Decision
    calls: tuple[CallView, ...]


def trajectory(entries: Sequence[Entry]) -> list[TrajectoryStep]:
    """One step for each answer of the model, in order."""
    calls = call_views(entries)
    costs = _costs(entries)
    found: list[TrajectoryStep] = []
    observed: list[Message | ToolResult] = []
    for entry in entries:
        match entry.event:
            case MessageAdded(message=message) if message.role == "user":
                observed.append(message)
            case MessageAdded(message=message) if message.role == "assistant":
                own_calls = tuple(calls[call.call_id] for call in message.tool_calls)
                decision = _decision(entry, message, costs.get(entry.seq))
                found.append(TrajectoryStep(len(found) + 1, tuple(observed), decision, own_calls))
                observed = [call.result for call in own_calls if call.result is not None]
            case _:
                pass
    return found


def step_number(entries: Iterable[Entry], seq: int) -> int:
    """The step that the entry belongs to, as `trajectory` counts them; 0 before the first."""
    return sum(
        isinstance(entry.event, MessageAdded) and entry.event.message.role == "assistant"
        for entry in entries
        if entry.seq <= seq
    )


def _decision(entry: Entry, message: Message, returned: ModelReturned | None) -> Decision:
    return Decision(
        kind="act" if message.tool_calls else "respond",
        reasoning=message.reasoning,
        text=message.text,
        seq=entry.seq,
        at=entry.at,
        usage=returned.usage if returned else Usage(),
        cost=returned.cost if returned else None,
        ms=returned.total_ms if returned else 0.0,
    )


def _costs(entries: Sequence[Entry]) -> dict[int, ModelReturned]:
    """By the place of the message: the end of the model call that wrote it."""
    ends: dict[int, ModelReturned] = {}
    message_seq: int | None = None
    for entry in entries:
        match entry.event:
            case MessageAdded(message=message) if message.role == "assistant":
                message_seq = entry.seq
            case ModelReturned() as returned if message_seq is not None:
                ends[message_seq] = returned
                message_seq = None
            case _:
                pass
    return ends
