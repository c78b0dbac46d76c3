"""What a run that its process left has left open: calls, a request to the model, time."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.events import (
    ChildFinished,
    Entry,
    Forked,
    MessageAdded,
    ModelCalled,
    ModelFailed,
    ModelReturned,
    PauseRequested,
    PauseResolved,
    RunResumed,
    ToolCalled,
    ToolReturned,
)
from app.domain.messages import Message, ToolCall


@dataclass(slots=True)
class LeftCall:
    """A call without a result."""

    call: ToolCall
    """With the arguments it was begun with, where it was begun."""
    begun: bool = False
    """True when the tool was called: nobody knows whether it did its work."""
    pause: PauseRequested | None = None
    """What was asked of a person about it last."""
    decided: PauseResolved | None = None
    """What they decided on that, and nothing has come of yet."""

    def take(self, entry: Entry) -> None:
        """Take one more entry into account."""
        match entry.event:
            case ToolCalled(call_id=call_id, arguments=arguments) if call_id == self.call.call_id:
                if arguments != self.call.arguments:  # a person changed them
                    self.call = self.call.model_copy(update={"arguments": arguments, "malformed": None})
                self.begun, self.pause, self.decided = True, None, None
            case PauseRequested(call_id=call_id) as pause if call_id == self.call.call_id:
                self.pause, self.decided = pause, None
            case PauseResolved(pause_id=pause_id) as decided if self.pause and pause_id == self.pause.pause_id:
                self.decided = decided
            case _:
                pass


def left_calls(entries: Sequence[Entry]) -> list[LeftCall]:
    """The calls of the last message that have no result yet; reads no more than what came after that message."""
    behind: list[Entry] = []
    answered: set[str] = set()
    for entry in reversed(entries):
        match entry.event:
            case ToolReturned(call_id=call_id):
                answered.add(call_id)
            case MessageAdded(message=message):
                calls = [LeftCall(call) for call in message.tool_calls if call.call_id not in answered]
                for call in calls:
                    for later in reversed(behind):
                        call.take(later)
                return calls
            case _:
                behind.append(entry)
    return []


def unanswered_request(entries: Sequence[Entry]) -> tuple[ModelCalled, Message | None] | None:
    """The last request to the model when its end is not in the trace, and its message where that is."""
    answer: Message | None = None
    for entry in reversed(entries):
        match entry.event:
            case ModelReturned() | ModelFailed():
                return None
            case MessageAdded(message=message, origin="model"):
                answer = message
            case ModelCalled() as called:
                return called, answer
            case _:
                pass
    return None


def last_words(entries: Sequence[Entry]) -> ModelReturned | None:
    """The end of the model's last answer, where that left the run nothing to do but to end."""
    returned: ModelReturned | None = None
    for entry in reversed(entries):
        match entry.event:
            case RunResumed() | ChildFinished():
                pass
            case ModelReturned() as returned:
                pass
            case MessageAdded(message=message, origin="model") if not (message.tool_calls or message.partial):
                return returned
            case _:
                return None
    return None


def active_seconds(entries: Sequence[Entry]) -> float:
    """How long the run has worked: neither a wait for a person or a retry counts, nor the time it was left.

    Of a fork what came after its copied prefix counts.
    """
    seconds, waiting = 0.0, set[str]()
    before: Entry | None = None
    for entry in entries:
        if before is not None and not waiting and not _rested(before, entry):
            seconds += (entry.at - before.at).total_seconds()
        match entry.event:
            case PauseRequested(pause_id=pause_id):
                waiting.add(pause_id)
            case PauseResolved(pause_id=pause_id):
                waiting.discard(pause_id)
            case Forked():
                seconds = 0.0
            case _:
                pass
        before = entry
    return seconds


def _rested(before: Entry, entry: Entry) -> bool:
    """Whether nothing was done between the two."""
    waited = isinstance(before.event, ModelFailed) and before.event.retry_at is not None
    return waited or isinstance(entry.event, RunResumed)
