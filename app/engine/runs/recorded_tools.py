"""Tools that answer again what they answered before, for runs that are made from a record."""

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from app.domain.edits import ToolSource
from app.domain.errors import ToolError
from app.domain.events import ChildFinished, ChildStarted, Entry, Event, FileChanged, ToolReturned
from app.domain.messages import ToolCall
from app.domain.tools import CallContext, ToolOutput
from app.domain.trace.recorded import RecordedCall, asked_calls, recorded_calls
from app.engine.ports import Toolset
from app.engine.run.run import Run

LIVE = ToolSource()
RECORDED = ToolSource(mode="recorded")
ELSE_LIVE = ToolSource(mode="recorded_or_live")
UNASKED = ("recorded", "edited")
"""Modes in which nothing is called, so nobody is asked for leave."""


class NotRecorded(ToolError):
    """The record holds no such call."""


class Recording:
    """Recorded calls: each answers one call of the same tool with the same arguments, in the order they were made."""

    def __init__(self, calls: Iterable[RecordedCall], asked: Iterable[RecordedCall] = ()) -> None:
        """`asked` are those about which a person was asked, as the model wanted them."""
        self._left = _by_key(calls)
        self._asked = _by_key(asked)
        self._used: set[str] = set()

    def take(self, name: str, arguments: Mapping[str, JsonValue], *, decided_then: bool = False) -> RecordedCall | None:
        """The next one of that call, which is then used up; `None` where none is left.

        With `decided_then` also one that a person denied, or let be made with other arguments only.
        """
        key = call_key(name, arguments)
        found = self._next(self._asked.get(key)) if decided_then else None
        return found or self._next(self._left.get(key))

    def skip(self, entries: Sequence[Entry]) -> None:
        """Use up what the calls among these entries were answered with, by an earlier process."""
        for call in recorded_calls(entries):
            if call.returned is not None:
                name, arguments = call.called.name, call.called.arguments
                made = None if call.returned.result.status == "denied" else self.take(name, arguments)
                if made is None:
                    self.take(name, arguments, decided_then=True)

    def _next(self, left: deque[RecordedCall] | None) -> RecordedCall | None:
        while left:
            call = left.popleft()
            if call.called.call_id not in self._used:
                self._used.add(call.called.call_id)
                return call
        return None


@dataclass
class RecordedTools:
    """The toolset of a run, some of whose tools answer out of a recording."""

    run: Run
    live: Toolset
    recording: Recording
    source: Callable[[str], ToolSource]
    """By name: where the results of the tool come from."""
    origin: str = ""
    """The run that the recording is of; without one also the questions that were asked are told again, as in a replay.
    """

    _answers: dict[str, RecordedCall | None] = field(default_factory=dict)
    """By call: its record, also where it is tried again."""

    async def call(self, call: ToolCall, context: CallContext) -> ToolOutput:
        source = self.source(call.name)
        # Also a call that is made for real uses up its record, once: after a restart the trace tells what is left.
        if call.call_id not in self._answers:
            unasked = source.mode in UNASKED
            self._answers[call.call_id] = self.recording.take(call.name, call.arguments, decided_then=unasked)
        recorded = self._answers[call.call_id]
        if source.mode == "edited":
            return ToolOutput.of_text(source.text)
        if source.mode == "live":
            return await self.live.call(call, context)
        if recorded is not None:
            context.load(recorded.returned.loaded if recorded.returned else ())
            return self._again(recorded, call.call_id)
        if source.mode == "recorded_or_live":
            return await self.live.call(call, context)
        raise NotRecorded(
            f"No result of {call.name} with these arguments was recorded, and this run answers it from the record only."
        )

    def only_recorded(self, call: ToolCall) -> bool:
        """Whether nothing is called for it now."""
        return self.source(call.name).mode in UNASKED

    def reads_outside(self, name: str) -> bool:
        return self.source(name).mode != "edited" and self.live.reads_outside(name)

    def label(self, name: str) -> str:
        return self.live.label(name)

    def release(self) -> None:
        self.live.release()

    def _again(self, recorded: RecordedCall, call_id: str) -> ToolOutput:
        """What the call did to the files is done once more; then what it gave."""
        for event in recorded.within:
            match event:
                case FileChanged():
                    self._change(event, call_id)
                case ChildStarted() if self.origin:
                    told = event.model_copy(update={"of_run": event.of_run or self.origin})
                    self.run.recorder.record(_of_call(told, call_id))
                case ChildFinished():
                    self.run.recorder.record(_of_call(event, call_id))
                case _ if not self.origin:
                    self.run.recorder.record(_of_call(event, call_id))
                case _:
                    pass
        returned = recorded.returned
        if returned is None:
            raise ToolError("The record of this call breaks off before its end.")
        return ToolOutput(parts=returned.result.parts, printed=returned.printed, status=returned.result.status)

    def _change(self, change: FileChanged, call_id: str) -> None:
        files = self.run.files
        before = files.get(change.path)
        if change.after is None:
            files.pop(change.path, None)
        else:
            files[change.path] = change.after
        if before != change.after:
            self.run.recorder.record(change.model_copy(update={"call_id": call_id, "before": before}))


def recording_after(prefix: Sequence[Entry], origin: Sequence[Entry]) -> Recording:
    """The calls of `origin` whose results are not in what a fork copied of it."""
    copied = {entry.event.call_id for entry in prefix if isinstance(entry.event, ToolReturned)}

    def further(calls: Iterable[RecordedCall]) -> Iterator[RecordedCall]:
        return (call for call in calls if call.called.call_id not in copied)

    return Recording(further(recorded_calls(origin)), further(asked_calls(origin)))


def sources(chosen: Mapping[str, ToolSource]) -> Callable[[str], ToolSource]:
    """Where each tool's results come from; a tool that nothing is said of is live."""
    return lambda name: chosen.get(name, LIVE)


def _of_call(event: Event, call_id: str) -> Event:
    return event.model_copy(update={"call_id": call_id}) if "call_id" in type(event).model_fields else event


def _by_key(calls: Iterable[RecordedCall]) -> dict[str, deque[RecordedCall]]:
    found: defaultdict[str, deque[RecordedCall]] = defaultdict(deque)
    for call in calls:
        if call.returned is not None:
            found[call_key(call.called.name, call.called.arguments)].append(call)
    return found


def call_key(name: str, arguments: Mapping[str, JsonValue]) -> str:
    """The same for two calls of one tool with arguments that JSON takes for equal: 5 and 5.0 are one number."""
    return f"{name} {json.dumps(_one_number({**arguments}), sort_keys=True)}"


def _one_number(value: JsonValue) -> JsonValue:
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_one_number(one) for one in value]
        case dict():
            return {name: _one_number(one) for name, one in value.items()}
        case _:
            return value
