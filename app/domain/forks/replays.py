"""Whether a run comes out the same when its recorded answers and results are put through the engine once more."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from app.domain.agents import LimitName
from app.domain.errors import ErrorInfo
from app.domain.events import (
    ChildFinished,
    Entry,
    Event,
    LimitReached,
    MessageAdded,
    ModelCalled,
    ModelFailed,
    ModelReturned,
    PauseRequested,
    PauseResolved,
    RunFinished,
    RunResumed,
    ToolCalled,
    ToolReturned,
)
from app.domain.trace.fork_points import call_of
from app.domain.values import Value

_SOME_TIME = datetime(2000, 1, 1, tzinfo=UTC)
OUTSIDE_LIMITS: frozenset[LimitName] = frozenset(
    {"time", "session_cost", "day_cost", "app_day_cost", "app_month_cost", "depth"}
)


class ReplayReport(Value):
    identical: bool
    """Whether all that can be repeated came out the same."""
    steps: int
    """Requests to the model that were compared."""
    events: int
    """Events that were compared."""
    first_difference: int | None = None
    """The entry of the run that came out differently; the step is named in `words`."""
    step: int | None = None
    """The request to the model that it belongs to, from 1."""
    words: str = ""
    """What differs, and where the replay had to end; empty for an identical run that was repeated to its end."""


def repeatable(entries: Sequence[Entry]) -> tuple[int, str]:
    """How many entries a replay can repeat, and in words what came then from outside; empty where nothing did."""
    for place, entry in enumerate(entries):
        if why := _from_outside(entry.event):
            return (place if isinstance(entry.event, LimitReached) else _begun_before(entries, place)), why
        if isinstance(entry.event, ModelFailed) and entry.event.retry_at is not None:
            following = entries[place + 1].event if place + 1 < len(entries) else None
            if isinstance(following, RunFinished):
                return place + 1, "the user did not want to wait for another attempt"
    if not isinstance(entries[-1].event, RunFinished):
        return _begun_before(entries, len(entries)), "the app was closed, or the run still goes on"
    return len(entries), ""


def report_of(original: Sequence[Entry], again: Sequence[Entry], *, begun_with: int, stopped_by: str) -> ReplayReport:
    """The comparison of what can be repeated of a run with what came of it, from the entry `begun_with` on."""
    ours, theirs = _canonical(original[begun_with:]), _canonical(again[begun_with:])
    if stopped_by:
        theirs = theirs[: len(ours)]
    steps = sum(isinstance(event, ModelCalled) for _, event in ours)
    for place in range(max(len(ours), len(theirs))):
        one = ours[place] if place < len(ours) else None
        other = theirs[place] if place < len(theirs) else None
        if one is None or other is None or _plain(one[1]) != _plain(other[1]):
            return _different(ours[: place + 1], one, other, steps)
    words = f"The same as far as it can be repeated: then {stopped_by}." if stopped_by else ""
    return ReplayReport(identical=True, steps=steps, events=len(ours), words=words)


def _from_outside(event: Event) -> str:
    """What of the world, and not of models and tools, the event comes from; empty for none."""
    match event:
        case MessageAdded(origin="steer") | PauseResolved(by="steer"):
            return "the user broke in with a new message"
        case RunResumed():
            return "the app was closed, and the run went on later"
        case LimitReached(limit=limit) if limit in OUTSIDE_LIMITS:
            return "a ceiling was reached that depends on the clock or on other runs"
        case RunFinished(status="cancelled"):
            return "the user stopped it"
        case _:
            return _cut_off(event)


def _cut_off(event: Event) -> str:
    match event:
        case ModelFailed(failure="cancelled") | ModelReturned(finish_reason=None):
            return "the answer was cut off by the user or the end of its time"
        case ToolReturned(result=result) if result.status == "cancelled":
            return "the call was cut off by the user or the end of its time"
        case _:
            return ""


def _begun_before(entries: Sequence[Entry], place: int) -> int:
    """The place of the request, or of the calls, in the middle of which something came from outside."""
    for earlier in range(place - 1, -1, -1):
        match entries[earlier].event:
            case ModelCalled():
                return earlier
            case ModelReturned() | ModelFailed():
                return earlier + 1
            case _:
                pass
    return place


_Placed = tuple[int, Event]


def _canonical(entries: Iterable[Entry]) -> list[_Placed]:
    """Events with their places; those of calls that ran side by side one call after the other, as they were asked."""
    found: list[_Placed] = []
    asked: list[str] = []
    of_calls: dict[str, list[_Placed]] = {}
    pauses: dict[str, str] = {}

    def settle() -> None:
        for call_id in asked:
            found.extend(of_calls.pop(call_id, []))
        for left in of_calls.values():
            found.extend(left)
        of_calls.clear()

    for entry in entries:
        event = entry.event
        if isinstance(event, ChildFinished):  # when it ends is up to the clock
            continue
        call_id = pauses.get(event.pause_id, "") if isinstance(event, PauseResolved) else call_of(entry)
        if isinstance(event, PauseRequested):
            pauses[event.pause_id] = event.call_id
        if call_id:
            of_calls.setdefault(call_id, []).append((entry.seq, event))
            continue
        settle()
        if isinstance(event, MessageAdded):
            asked = [call.call_id for call in event.message.tool_calls]
        found.append((entry.seq, event))
    settle()
    return found


_VARYING: dict[str, dict[str, object]] = {
    "model_called": {"call_id": ""},
    "model_returned": {"call_id": "", "cost": None, "first_token_ms": None, "total_ms": 0},
    "model_failed": {"call_id": ""},
    "tool_returned": {"ms": 0, "printed": "", "traceback": "", "attempts": 1},
    "pause_requested": {"pause_id": ""},
    "pause_resolved": {"pause_id": "", "subject": ""},
}
"""By type: what is another one each time, such as ids, times and prices."""


def _plain(event: Event) -> Event:
    varying = dict(_VARYING.get(event.type, {}))
    match event:
        case ModelFailed(retry_at=datetime()):
            varying["retry_at"] = _SOME_TIME
        case RunFinished(error=ErrorInfo() as error):
            varying["error"] = error.model_copy(update={"traceback": ""})
        case _:
            pass
    return event.model_copy(update=varying)


def _different(before: Sequence[_Placed], one: _Placed | None, other: _Placed | None, steps: int) -> ReplayReport:
    step = sum(isinstance(event, ModelCalled) for _, event in before)
    place = one[0] if one is not None else (other[0] if other is not None else None)
    words = _words(one[1] if one else None, other[1] if other else None)
    return ReplayReport(
        identical=False,
        steps=steps,
        events=len(before),
        first_difference=place,
        step=step,
        words=f"Step {step}: {words}" if step else words,
    )


def _words(one: Event | None, other: Event | None) -> str:
    match one, other:
        case (ToolCalled() as ours, ToolCalled() as theirs) if ours.name == theirs.name and ours.tool != theirs.tool:
            return f"the tool {ours.name!r} has changed since: its description or its arguments are others now."
        case (ToolReturned(result=ours_result), ToolReturned(result=theirs_result)):
            return (
                f"the result of {ours_result.name!r} is another one: it was {ours_result.status}, "
                f"now it is {theirs_result.status}: {theirs_result.text[:200]}"
            )
        case (ToolCalled() as ours, _):
            return f"the call of {ours.name!r} is not made any more, or with other arguments."
        case (ModelCalled() as ours, ModelCalled() as theirs):
            return f"the model was sent {ours.message_count} messages, now it is sent {theirs.message_count}."
        case _ if "context_trimmed" in (_type(one), _type(other)):
            return "the conversation is shortened in another way now, or at another place."
        case _:
            return f"the run has {_named(one)} here, the replay {_named(other)}."


def _type(event: Event | None) -> str:
    return event.type if event is not None else ""


def _named(event: Event | None) -> str:
    return f"{event.type.replace('_', ' ')!r}" if event is not None else "nothing"
