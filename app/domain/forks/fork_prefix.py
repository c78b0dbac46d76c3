"""What a fork copies of the run it comes from, and which calls are made again there."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from app.domain.edits import EditedArguments, EditedMessage, EditedResult
from app.domain.errors import WorkbenchError
from app.domain.events import (
    Entry,
    MessageAdded,
    ModelReturned,
    PauseRequested,
    PauseResolved,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from app.domain.forks.fork_edits import asking, edited, place, places, with_result
from app.domain.forks.forks import ForkPlan
from app.domain.messages import ToolCall, ToolResult
from app.domain.trace.fork_points import DecisionSpan, call_of, decision_span, fork_points
from app.domain.trace.trajectory import step_number

NOTHING_SAID = "Nothing was said in this run that it could go on from. Send its message again instead."


@dataclass(frozen=True)
class Prefix:
    """The beginning of a run as a fork takes it over."""

    entries: tuple[Entry, ...]
    """With the places that they have in the fork; still named after the run they come from."""
    seq: int
    """The last place of the run that is copied."""
    again: tuple[ToolCall, ...]
    """Calls that are made as soon as the fork starts."""
    edited: tuple[int, ...]
    """Places in the fork whose entries are not as they were."""
    moved: str
    """Why it does not end where it was asked to; empty where it does."""
    rehearsed: tuple[Entry, ...] = ()
    """What follows of the run up to the point and is acted out again, since tools before the point are live."""


def prefix_for(entries: Sequence[Entry], plan: ForkPlan) -> Prefix:
    """What the plan copies. Raises `WorkbenchError` for a plan that does not fit the run."""
    _check_place(entries, plan.seq)
    changed = edited(entries, plan.edits)
    span = _edited_decision(entries, plan)
    length, moved = (span.end, "") if span is not None else point_of(entries, plan.seq)
    _check_edits(entries, plan, length, span)
    live = {name for name, tool in plan.tools.items() if tool.before == "live"}
    first = _first_live(changed[:length], live)
    if first is not None:
        copied = _open_at(changed, decision_span(changed, first), plan, live)
        return _prefix(entries, changed, copied, moved, tuple(changed[copied.end : length]))
    if span is not None:
        return _prefix(entries, changed, _open_at(changed, span, plan, live), moved)
    return _prefix(entries, changed, _Copied(tuple(changed[:length]), length), moved)


def point_of(entries: Sequence[Entry], seq: int) -> tuple[int, str]:
    """How many entries a fork at `seq` copies, and why not all up to it in words; raises `WorkbenchError`.

    A fork starts where no call is open: where that is not so, at the nearest place before, or else at the first one.
    """
    points = list(fork_points(entries))
    if not points:
        raise WorkbenchError(NOTHING_SAID)
    length = max((point for point in points if point <= seq + 1), default=points[0])
    return length, _moved(entries, seq, length)


def _moved(entries: Sequence[Entry], seq: int, length: int) -> str:
    if length > seq + 1:
        return "Nothing was said yet there, so the fork starts after the first message."
    left_out = [entry.event for entry in entries[length : seq + 1]]
    if not any(isinstance(event, MessageAdded | ToolCalled | ToolReturned) for event in left_out):
        return ""
    if any(isinstance(event, MessageAdded) and event.message.tool_calls for event in left_out):
        open_at, start = step_number(entries, seq), _after(entries, length - 1)
        return f"A call is open in step {open_at}, so the fork starts before it was asked for, {start}."
    return (
        f"Behind an answer there is nothing to run on with: it is asked for once more, {_after(entries, length - 1)}."
    )


def _after(entries: Sequence[Entry], seq: int) -> str:
    step = step_number(entries, seq)
    return f"after step {step}" if step else "after the first message"


@dataclass(frozen=True)
class _Copied:
    entries: tuple[Entry, ...]
    end: int
    """The place behind the last that was looked at."""
    again: tuple[ToolCall, ...] = ()
    added: int = 0
    """How many at the end the run had not."""


def _open_at(entries: Sequence[Entry], span: DecisionSpan, plan: ForkPlan, live: Collection[str]) -> _Copied:
    """Up to the answer of the model and with the results of those of its calls that are not made again."""
    message = entries[span.message].event
    calls = message.message.tool_calls if isinstance(message, MessageAdded) else ()
    rewritten = {edit.call_id for edit in plan.edits if isinstance(edit, EditedArguments)}
    given = {edit.call_id: edit for edit in plan.edits if isinstance(edit, EditedResult)}
    behind = entries[span.message + 1 : span.end]
    if not any(isinstance(entry.event, ModelReturned) for entry in behind):
        raise WorkbenchError(
            f"The app was closed while step {step_number(entries, span.message)} was written, so its calls cannot be "
            "edited. "
            "Run on from an earlier step."
        )
    answered = {entry.event.call_id for entry in behind if isinstance(entry.event, ToolReturned)}
    again = tuple(
        call
        for call in calls
        if call.call_id not in given
        if call.call_id in rewritten or call.name in live or call.call_id not in answered
    )
    unanswered = [call for call in calls if call.call_id in given and call.call_id not in answered]
    kept = tuple(_without(behind, {call.call_id for call in (*again, *unanswered)}))
    added = tuple(entry for call in unanswered for entry in _given(entries[span.message], call, given[call.call_id]))
    return _Copied((*entries[: span.message + 1], *kept, *added), span.end, again, len(added))


def _without(entries: Iterable[Entry], calls: Collection[str]) -> Iterable[Entry]:
    """The entries that are not about these calls."""
    pauses: set[str] = set()
    for entry in entries:
        match entry.event:
            case PauseRequested(call_id=call_id, pause_id=pause_id) if call_id in calls:
                pauses.add(pause_id)
            case PauseResolved(pause_id=pause_id) if pause_id in pauses:
                pass
            case _:
                if call_of(entry) not in calls:
                    yield entry


def _given(asked: Entry, call: ToolCall, edit: EditedResult) -> tuple[Entry, ...]:
    """A call that never came to its end, with the result that a person gives it."""
    none = ToolReturned(call_id=call.call_id, result=ToolResult(call_id=call.call_id, name=call.name), ms=0)
    called = ToolCalled(call_id=call.call_id, name=call.name, arguments=call.arguments)
    events = (called, with_result(none, edit))
    return tuple(asked.model_copy(update={"event": event}) for event in events)


def _prefix(
    entries: Sequence[Entry], changed: Sequence[Entry], copied: _Copied, moved: str, rehearsed: tuple[Entry, ...] = ()
) -> Prefix:
    """The copied entries in the places that they have in the fork."""
    odd = set(places(entries, changed))
    own = len(copied.entries) - copied.added
    differing = (seq for seq, entry in enumerate(copied.entries) if seq >= own or entry.seq in odd)
    numbered = tuple(
        entry if entry.seq == seq else entry.model_copy(update={"seq": seq}) for seq, entry in enumerate(copied.entries)
    )
    return Prefix(numbered, copied.entries[own - 1].seq, copied.again, tuple(differing), moved, rehearsed)


def _edited_decision(entries: Sequence[Entry], plan: ForkPlan) -> DecisionSpan | None:
    """The last answer of the model before the point, where calls of it are edited: the fork starts right behind it."""
    calls = (edit.call_id for edit in plan.edits if not isinstance(edit, EditedMessage))
    last = max((asking(entries, call_id) for call_id in calls), default=None)
    if last is None or last > plan.seq:
        return None
    later = entries[last + 1 : plan.seq + 1]
    return None if any(isinstance(entry.event, MessageAdded) for entry in later) else decision_span(entries, last)


def _check_place(entries: Sequence[Entry], seq: int) -> None:
    if not entries or not isinstance(entries[0].event, RunStarted):
        raise WorkbenchError("The beginning of this run cannot be read, so nothing can go on from it.")
    if not 0 <= seq < len(entries):
        raise WorkbenchError(f"This run has no entry {seq}: choose one of 0 to {len(entries) - 1}.")


def _check_edits(entries: Sequence[Entry], plan: ForkPlan, length: int, span: DecisionSpan | None) -> None:
    for edit in plan.edits:
        at = place(entries, edit)
        if at >= length:
            raise WorkbenchError(
                f"What is edited (entry {at}) is not copied: the fork starts {_after(entries, length - 1)}, "
                f"entry {length - 1}. Run on from a later step, or leave the edit out."
            )
        if isinstance(edit, EditedArguments) and (span is None or span.message != at):
            raise WorkbenchError(
                f"The call {edit.call_id!r} would be made again in the middle of what is copied. "
                f"Run on from entry {at}, where it was asked for, to change its arguments."
            )


def _first_live(copied: Sequence[Entry], live: Collection[str]) -> int | None:
    """The place of the first answer that asks for one of the tools that are called for real before the point."""
    for entry in copied:
        match entry.event:
            case MessageAdded(message=message) if any(call.name in live for call in message.tool_calls):
                return _followed_by_answers_only(copied, entry.seq)
            case _:
                pass
    return None


def _followed_by_answers_only(copied: Sequence[Entry], place: int) -> int:
    for entry in copied[place + 1 :]:
        if isinstance(entry.event, MessageAdded) and entry.event.message.role == "user":
            raise WorkbenchError(
                f"Calls before the end of step {step_number(copied, entry.seq)} cannot be made again, since the user "
                "broke in there. "
                "Leave the tools before the point as recorded, or run on from an earlier step."
            )
    return place
