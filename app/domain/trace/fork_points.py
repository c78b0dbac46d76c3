"""Where a run can be gone on from: after what a person said, or when all calls of an answer have their results."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from app.domain.events import (
    ChildFinished,
    ChildStarted,
    Entry,
    FileChanged,
    MessageAdded,
    ModelCalled,
    ModelFailed,
    ModelReturned,
    NodeEnded,
    PauseRequested,
    PauseResolved,
    RunStarted,
    ToolCalled,
    ToolReturned,
)


@dataclass(slots=True)
class _Open:
    """What has begun and not ended."""

    calls: set[str] = field(default_factory=set)
    pauses: set[str] = field(default_factory=set)
    requests: set[str] = field(default_factory=set)
    messages: int = 0

    def take(self, entry: Entry) -> bool:
        """Take the entry into account; whether the model may be asked right after it."""
        match entry.event:
            case MessageAdded(message=message):
                self.messages += 1
                self.calls |= {call.call_id for call in message.tool_calls}
                return message.role == "user" and self.nothing
            case ToolCalled(call_id=call_id):
                self.calls.add(call_id)
            case ToolReturned(call_id=call_id):
                self.calls.discard(call_id)
                return self.nothing and self.messages > 0
            case PauseRequested(pause_id=pause_id):
                self.pauses.add(pause_id)
            case PauseResolved(pause_id=pause_id):
                self.pauses.discard(pause_id)
            case ModelCalled(call_id=call_id):
                self.requests.add(call_id)
            case ModelReturned(call_id=call_id) | ModelFailed(call_id=call_id):
                self.requests.discard(call_id)
            case _:
                pass
        return False

    @property
    def nothing(self) -> bool:
        return not (self.calls or self.pauses or self.requests)


def fork_points(entries: Sequence[Entry]) -> Iterator[int]:
    """The lengths of all prefixes from which the model can be asked, in order; none of a workflow, which asks none."""
    if not entries or not isinstance(entries[0].event, RunStarted) or entries[0].event.workflow is not None:
        return
    still_open = _Open()
    for entry in entries:
        if still_open.take(entry):
            yield entry.seq + 1


@dataclass(frozen=True, slots=True)
class DecisionSpan:
    """An answer of the model that asked for calls, with all that belongs to it."""

    message: int
    """The place of the message."""
    end: int
    """The place behind the last entry about its calls."""


def decision_span(entries: Sequence[Entry], message: int) -> DecisionSpan:
    """What belongs to the answer of the model at that place."""
    return DecisionSpan(message, _end(entries, message))


def _end(entries: Sequence[Entry], place: int) -> int:
    """Behind the last entry that is about the calls of the message, or the end of the request that brought it."""
    event = entries[place].event
    calls = {call.call_id for call in event.message.tool_calls} if isinstance(event, MessageAdded) else set()
    end = place + 1
    for entry in entries[place + 1 :]:
        if isinstance(entry.event, MessageAdded | ModelCalled):
            break
        if isinstance(entry.event, ModelReturned) or call_of(entry) in calls:
            end = entry.seq + 1
    return end


def call_of(entry: Entry) -> str:
    """The tool call or the node that the entry is about; empty for none."""
    match entry.event:
        case (
            NodeEnded(call_id=call_id)
            | ToolCalled(call_id=call_id)
            | ToolReturned(call_id=call_id)
            | FileChanged(call_id=call_id)
            | PauseRequested(call_id=call_id)
            | ChildStarted(call_id=call_id)
            | ChildFinished(call_id=call_id)
        ):
            return call_id
        case _:
            return ""
