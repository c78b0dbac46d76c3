"""What the model got: each call of a run with its prompt, and what changed in it since the call before."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from app.domain.errors import FailureClass, NotFound
from app.domain.events import Entry, LeftOut, ModelCalled, ModelFailed, ModelReturned, RunStarted
from app.domain.messages import Message, Usage
from app.domain.tools import JsonSchema, ToolSpec
from app.domain.trace.conversation import conversation
from app.domain.trace.loaded import sent_tools
from app.domain.trace.sent import left_out_of, stub

SentChange = Literal["kept", "new", "changed", "stubbed", "dropped"]
Setting = Literal["model", "parameters", "tools"]


@dataclass(slots=True)
class ModelCall:
    """One call of the model on one line."""

    number: int
    """Counts from 1."""
    seq: int
    model: str
    message_count: int
    attempt: int
    usage: Usage | None = None
    ms: float | None = None
    failure: FailureClass | None = None


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message of the conversation, and what is new about it since the call before."""

    place: int
    """Its place in the whole conversation, from 0."""
    message: Message
    """As it was sent; one that was dropped, as it was."""
    change: SentChange
    """`stubbed` and `dropped`: left out from this call on, for the prompt was too long."""


@dataclass(frozen=True, slots=True)
class ModelRequestView:
    """What one call of the model was made with."""

    call: ModelCalled
    seq: int
    is_first: bool
    """There is no call before it in this run, so that nothing can have changed."""
    system: Message | None
    tools: tuple[ToolSpec, ...]
    output_schema: JsonSchema | None
    messages: tuple[SentMessage, ...]
    left_out: int
    """Messages that an earlier call had left out already: they are not among `messages`."""
    history: int
    """How many messages of the conversation were said before this run."""
    changed: tuple[Setting, ...]
    """What else differs from the call before."""


def model_calls(entries: Sequence[Entry]) -> list[ModelCall]:
    """All calls of the model in order."""
    calls: list[ModelCall] = []
    by_id: dict[str, ModelCall] = {}
    for entry in entries:
        match entry.event:
            case ModelCalled() as called:
                call = ModelCall(len(calls) + 1, entry.seq, called.model, called.message_count, called.attempt)
                calls.append(call)
                by_id[called.call_id] = call
            case ModelReturned(call_id=call_id, usage=usage, total_ms=ms) if call_id in by_id:
                by_id[call_id].usage, by_id[call_id].ms = usage, ms
            case ModelFailed(call_id=call_id, failure=failure) if call_id in by_id:
                by_id[call_id].failure = failure
            case _:
                pass
    return calls


def request_at(entries: Sequence[Entry], seq: int) -> ModelRequestView:
    """What the call of that entry was made with; reads the trace up to there. Raises `NotFound`."""
    place = bisect_left(entries, seq, key=lambda entry: entry.seq)
    called = entries[place].event if place < len(entries) else None
    if not isinstance(called, ModelCalled):
        raise NotFound(f"Step {seq} of this run is no call of the model.")
    before = _call_before(entries, place)
    earlier = entries[before].event if before is not None else None
    started = entries[0].event if isinstance(entries[0].event, RunStarted) else None
    messages, left_out = _compared(entries[: before or 0], entries[:place])
    tools = sent_tools(entries[:place])
    loaded = before is not None and tools != sent_tools(entries[:before])
    return ModelRequestView(
        call=called,
        seq=seq,
        is_first=before is None,
        system=started.system if started else None,
        tools=tools,
        output_schema=started.output_schema if started else None,
        messages=messages,
        left_out=left_out,
        history=len(started.history) if started else 0,
        changed=_changed(earlier, called, loaded=loaded) if isinstance(earlier, ModelCalled) else (),
    )


def request_json(view: ModelRequestView) -> dict[str, JsonValue]:
    """The request as JSON: only what was sent, in the order it was sent."""
    sent = [one.message for one in view.messages if one.change != "dropped"]
    written: dict[str, JsonValue] = {
        "model": view.call.model,
        "parameters": view.call.parameters.model_dump(mode="json", exclude_none=True),
        "system": view.system.text if view.system else None,
        "messages": [_message_json(message) for message in sent],
        "tools": [
            {"name": spec.name, "description": spec.description, "parameters": spec.parameters} for spec in view.tools
        ],
    }
    if view.output_schema is not None:
        written["output_schema"] = view.output_schema
    return written


def _message_json(message: Message) -> JsonValue:
    dumped: JsonValue = message.model_dump(mode="json", exclude_defaults=True)
    return dumped


def _compared(before: Sequence[Entry], now: Sequence[Entry]) -> tuple[tuple[SentMessage, ...], int]:
    """The messages of a call beside those of the one before, and how many stayed left out."""
    earlier, later = conversation(before) if before else [], conversation(now)
    was, how = _how(left_out_of(before)), _how(left_out_of(now))
    sent: list[SentMessage] = []
    left_out = 0
    for place, message in enumerate(later):
        same = place < len(earlier) and earlier[place] == message
        match how.get(place):
            case "dropped" if was.get(place) == "dropped" or not same:
                left_out += 1
            case "dropped":
                sent.append(SentMessage(place, message, "dropped"))
            case "stub":
                sent.append(SentMessage(place, stub(message), "kept" if was.get(place) == "stub" else "stubbed"))
            case _:
                change: SentChange = "kept" if same else "changed" if place < len(earlier) else "new"
                sent.append(SentMessage(place, message, change))
    return tuple(sent), left_out


def _how(left_out: Sequence[LeftOut]) -> dict[int, str]:
    return {one.message: one.how for one in left_out}


def _call_before(entries: Sequence[Entry], place: int) -> int | None:
    earlier = range(place - 1, -1, -1)
    return next((index for index in earlier if isinstance(entries[index].event, ModelCalled)), None)


def _changed(before: ModelCalled, now: ModelCalled, *, loaded: bool) -> tuple[Setting, ...]:
    differing: dict[Setting, bool] = {
        "model": before.model != now.model,
        "parameters": before.parameters != now.parameters,
        "tools": loaded,
    }
    return tuple(setting for setting, differs in differing.items() if differs)
