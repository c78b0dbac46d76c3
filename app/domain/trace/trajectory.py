"""A run as decisions: what the agent observed, what it decided, how it acted on it; of a workflow its nodes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from app.domain.events import Entry, MessageAdded, ModelReturned, NodeEnded, NodeStarted
from app.domain.messages import Message, ToolResult, Usage
from app.domain.trace.calls import CallView, call_views
from app.domain.trace.nodes import NodeRun, nodes, text_of


@dataclass(frozen=True, slots=True)
class Decision:
    """One answer of the model, or that a workflow came to one of its nodes."""

    kind: Literal["act", "respond", "node"]
    reasoning: str
    text: str
    """For a node what it gave, or why it failed."""
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
    node: NodeRun | None = None
    """The node, where a workflow decided."""


def trajectory(entries: Sequence[Entry]) -> list[TrajectoryStep]:
    """One step for each answer of the model and each node that began or is pinned, in the order in which they did."""
    calls, runs = call_views(entries), nodes(entries).by_call
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
            case NodeStarted(call_id=call_id) | NodeEnded(call_id=call_id, pinned=True) if (
                runs[call_id].seq == entry.seq
            ):
                found.append(_of_node(len(found) + 1, runs[call_id], entry))
            case _:
                pass
    return found


def _of_node(number: int, node: NodeRun, entry: Entry) -> TrajectoryStep:
    told = text_of(node.value) or (node.error.text if node.error else "")
    decision = Decision("node", "", told, entry.seq, entry.at, Usage(), 0.0, node.ms or 0.0)
    return TrajectoryStep(number, (), decision, tuple(node.calls.values()), node)


def step_number(entries: Iterable[Entry], seq: int) -> int:
    """The step that the entry belongs to, as `trajectory` counts them; 0 before the first."""
    begun: set[str] = set()
    return sum(begins_step(entry, begun) for entry in entries if entry.seq <= seq)


def begins_step(entry: Entry, begun: set[str]) -> bool:
    """Whether `trajectory` counts a step from this entry on. `begun` keeps the nodes between entries."""
    match entry.event:
        case MessageAdded(message=message):
            return message.role == "assistant"
        case NodeStarted(call_id=call_id) | NodeEnded(call_id=call_id, pinned=True) if call_id not in begun:
            begun.add(call_id)
            return True
        case NodeEnded(call_id=call_id):  # what was skipped never begins
            begun.add(call_id)
            return False
        case _:
            return False


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
