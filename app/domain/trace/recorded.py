"""What a run recorded of its models and tools, so that the same can be answered again without asking them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from app.domain.errors import ModelFailure
from app.domain.events import (
    ChildFinished,
    ChildStarted,
    Entry,
    Event,
    FileChanged,
    MessageAdded,
    ModelCalled,
    ModelFailed,
    ModelReturned,
    PauseRequested,
    PauseResolved,
    ToolCalled,
    ToolReturned,
)
from app.domain.messages import Message
from app.domain.streaming import Reply
from app.domain.trace.fork_points import call_of


@dataclass(slots=True)
class RecordedAnswer:
    """How one request to a model ended."""

    message: Message | None
    """What it wrote, also before it failed."""
    ended: ModelReturned | ModelFailed

    @property
    def whole(self) -> bool:
        return self.message is not None and isinstance(self.ended, ModelReturned) and not self.message.partial

    def reply(self) -> Reply:
        """The answer as it came; raises `ModelFailure` as the model did."""
        match self.ended:
            case ModelFailed() as failed:
                raise ModelFailure(failed.failure, failed.text)
            case ModelReturned(usage=usage, finish_reason=reason):
                message = self.message or Message(role="assistant", parts=())
                return Reply(message, usage, reason or "stop")


@dataclass(slots=True)
class RecordedCall:
    """One call of a tool from its beginning to its end."""

    called: ToolCalled
    within: list[Event] = field(default_factory=list)
    """What it did meanwhile: files that it changed, questions that it asked, runs that it started."""
    returned: ToolReturned | None = None
    """`None` where its end is not recorded."""


def recorded_answers(entries: Iterable[Entry]) -> list[RecordedAnswer]:
    """The requests to models that came to an end, in order."""
    found: list[RecordedAnswer] = []
    message: Message | None = None
    for entry in entries:
        match entry.event:
            case ModelCalled():
                message = None
            case MessageAdded(message=said, origin="model"):
                message = said
            case (ModelReturned() | ModelFailed()) as ended:
                found.append(RecordedAnswer(message, ended))
            case _:
                pass
    return found


def recorded_calls(entries: Sequence[Entry]) -> list[RecordedCall]:
    """The calls that were begun, in that order; one that was begun again after a restart counts from there."""
    found: dict[str, RecordedCall] = {}
    asked: dict[str, str] = {}
    for entry in entries:
        match entry.event:
            case ToolCalled(call_id=call_id) as called:
                found[call_id] = RecordedCall(called)
            case ToolReturned(call_id=call_id) as returned if call_id in found:
                found[call_id].returned = returned
            case (FileChanged() | ChildStarted() | ChildFinished()) as did if call_of(entry) in found:
                found[did.call_id].within.append(did)
            case PauseRequested(pause_id=pause_id, call_id=call_id) as pause if call_id in found:
                asked[pause_id] = call_id
                found[call_id].within.append(pause)
            case PauseResolved(pause_id=pause_id) as resolved if pause_id in asked:
                found[asked[pause_id]].within.append(resolved)
            case _:
                pass
    return list(found.values())


def asked_calls(entries: Sequence[Entry]) -> list[RecordedCall]:
    """The calls about which a person was asked, with the arguments that the model wanted, in the order of their ends.

    Some were made with other arguments; those that were denied were never begun.
    """
    begun = {call.called.call_id: call.within for call in recorded_calls(entries)}
    asked: dict[str, PauseRequested] = {}
    found: list[RecordedCall] = []
    for entry in entries:
        match entry.event:
            case PauseRequested(reason="approval", call_id=call_id) as pause:
                asked.setdefault(call_id, pause)
            case ToolReturned(call_id=call_id, result=result) as returned if call_id in asked:
                if call_id in begun or result.status != "cancelled":
                    called = ToolCalled(call_id=call_id, name=result.name, arguments=asked[call_id].arguments)
                    found.append(RecordedCall(called, begun.get(call_id, []), returned))
            case _:
                pass
    return found
