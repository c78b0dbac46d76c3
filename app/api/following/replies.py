"""What the API answers to who runs an agent, made from traces."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Self

from pydantic import ConfigDict, JsonValue, TypeAdapter, ValidationError
from pydantic_core import from_json

from app.api.door.envelopes import Reply
from app.api.following.endings import EXAMPLE_END, EXAMPLE_TRIGGER, Ending, LimitReply, TriggerReply
from app.domain.events import ContextTrimmed, Entry, MessageAdded, ModelCalled, PauseRequested, RunResumed, RunStarted
from app.domain.failure_words import failure_words
from app.domain.messages import fallen_words
from app.domain.trace import RunRow, RunStatus, call_views, error_of, limit_of, nodes, open_pauses, run_row
from app.domain.trace.calls import CallView
from app.domain.trace.usage import own_entries

EXAMPLE_CALL: dict[str, JsonValue] = {
    "step": 1,
    "tool": "calculator",
    "action": "invoke",
    "input": {"operation": "add", "x": 5, "y": 10},
    "output": "5 + 10 = 15",
    "error": None,
    "duration_ms": 0.4,
    "timestamp": "2026-03-01T09:30:01Z",
}
EXAMPLE_METRICS: dict[str, JsonValue] = {
    "total_steps": 1,
    "tokens_input": 310,
    "tokens_output": 42,
    "cost_usd": 0.0,
    "duration_ms": 812.0,
}
_EXAMPLE: dict[str, JsonValue] = {
    "run_id": "r2k4m6p8r0t2v4x6",
    "session_id": "s2k4m6p8r0t2v4x6",
    "status": "completed",
    "output": {"result": "5 + 10 = 15"},
    "output_text": "5 + 10 = 15",
    **EXAMPLE_END,
    "trigger": EXAMPLE_TRIGGER,
    "steps": [EXAMPLE_CALL],
    "pauses": [],
    "metrics": EXAMPLE_METRICS,
}
_FENCED = re.compile(r"\A```[a-zA-Z]*\n(.*)\n```\Z", re.DOTALL)
_OBJECT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


class StepReply(Reply):
    """One tool call of a run, or a node of a workflow's."""

    step: int
    """Counts from 1."""
    tool: str
    """The kit of the tool in its `-` spelling, or the tool itself when it belongs to none; of a node its id."""
    action: str
    """The tool within its kit, or `invoke`; of a node its kind."""
    input: dict[str, JsonValue]
    output: JsonValue
    """What came out, parsed when it is a JSON object or array, else the text of it."""
    error: str | None
    duration_ms: float | None
    timestamp: datetime | None


class Deleted(Reply):
    """What was taken out of the lists."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"id": "h2k4m6p8r0t2v4x6", "deleted": True}]})

    id: str
    deleted: bool = True


class PauseReply(Reply):
    """What a run waits for; POST /runs/{run_id}/pauses/{pause_id} decides on it."""

    run_id: str
    """The run itself, or one below it."""
    pause_id: str
    call_id: str
    reason: str
    tool: str
    arguments: dict[str, JsonValue]
    question: str

    @classmethod
    def of(cls, pause: PauseRequested, run_id: str) -> Self:
        return cls(
            run_id=run_id,
            pause_id=pause.pause_id,
            call_id=pause.call_id,
            reason=pause.reason,
            tool=pause.name,
            arguments=pause.arguments,
            question=pause.question,
        )

    @property
    def awaited(self) -> str:
        """What it waits for, in words."""
        return self.question or (f"leave to call {self.tool}" if self.reason == "approval" else self.reason)


class Metrics(Reply):
    """What a run took: tokens, US dollars, milliseconds."""

    total_steps: int
    tokens_input: int
    tokens_output: int
    cost_usd: float | None
    """`None` when a price is unknown."""
    duration_ms: float | None


class MayWait(Ending):
    """How a run ended, where it stands, or what it waits for."""

    pauses: tuple[PauseReply, ...] = ()
    """What it waits for; while there is one its status is `paused`."""

    def waiting_for(self, pauses: Sequence[PauseReply]) -> Self:
        """The same where it does nothing before these are decided on."""
        return self.model_copy(update={"status": "paused", "pauses": tuple(pauses)}) if pauses else self


class RunReply(MayWait):
    """How a run of an agent ended, or where it stands."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    run_id: str
    session_id: str
    output: dict[str, JsonValue]
    """The answer, parsed when it is a JSON object, else `{"result": text}`."""
    output_text: str
    trigger: TriggerReply
    steps: tuple[StepReply, ...]
    metrics: Metrics


def pauses_of(entries: Sequence[Entry]) -> tuple[PauseReply, ...]:
    """What the run waits for itself."""
    return tuple(PauseReply.of(pause, entries[0].run_id) for pause in open_pauses(entries))


def run_reply(entries: Sequence[Entry], *, alive: bool, below: Sequence[RunRow] = ()) -> RunReply:
    """`below`: the runs that it started, where what they used is told with its own."""
    row = run_row(entries, alive=alive)
    text = answer_of(entries)
    calls = call_replies(entries)
    return RunReply(
        run_id=row.run_id,
        session_id=row.session_id,
        output=parsed(text),
        output_text=text,
        **ending_of(entries, row.status).model_dump(),
        trigger=TriggerReply.of(row.trigger),
        steps=calls,
        pauses=pauses_of(entries) if row.status == "paused" else (),
        metrics=metrics_of(row, *below, total_steps=len(calls)),
    )


def ending_of(entries: Sequence[Entry], status: RunStatus) -> Ending:
    error, limit = error_of(entries), limit_of(entries)
    return Ending(
        status=status,
        error=error_in_words(entries),
        failure=error.failure if error else None,
        limit=LimitReply(name=limit.limit, allowed=limit.allowed, reached=limit.reached) if limit else None,
        warnings=tuple(dict.fromkeys(_warnings(entries))),
    )


def _warnings(entries: Sequence[Entry]) -> Iterator[str]:
    for entry in own_entries(entries):
        match entry.event:
            case ContextTrimmed():
                yield "The conversation was too long for the model: earlier messages or tool results were left out."
            case RunResumed(notes=notes):
                yield from notes
            case ModelCalled(attachments=sent):
                yield from (fallen_words(one) for one in sent if one.why)
            case _:
                pass


def metrics_of(row: RunRow, *below: RunRow, total_steps: int) -> Metrics:
    rows = (row, *below)
    return Metrics(
        total_steps=total_steps,
        tokens_input=sum(one.input_tokens for one in rows),
        tokens_output=sum(one.output_tokens for one in rows),
        cost_usd=None if any(one.unpriced for one in rows) else sum(one.cost for one in rows),
        duration_ms=row.duration_ms,
    )


def call_replies(entries: Sequence[Entry]) -> tuple[StepReply, ...]:
    """The tool calls, in the order in which the model asked for them; of a workflow its nodes, as they began."""
    first = entries[0].event if entries else None
    if isinstance(first, RunStarted) and first.workflow is not None:
        return _node_replies(entries)
    return tuple(_step(number, call) for number, call in enumerate(call_views(entries).values(), start=1))


def error_in_words(entries: Sequence[Entry]) -> str | None:
    """What ended the run, and what to do about it."""
    error = error_of(entries)
    return None if error is None else f"{error.text} {failure_words(error.failure, error.text).next_step}"


def answer_of(entries: Sequence[Entry]) -> str:
    """The text of the run's last answer; empty when there is none."""
    for entry in reversed(entries):
        match entry.event:
            case MessageAdded(message=message) if message.role == "assistant" and not message.tool_calls:
                return message.text
            case _:
                pass
    return ""


def parsed(text: str) -> dict[str, JsonValue]:
    """The answer when it is a JSON object, in a Markdown fence or without one; else `{"result": text}`."""
    fenced = _FENCED.match(text.strip())
    try:
        return _OBJECT.validate_json(fenced[1] if fenced else text)
    except ValidationError:
        return {"result": text}


def _value(text: str) -> JsonValue:
    """The text, parsed when it is a JSON object or array."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        value: JsonValue = from_json(text, allow_inf_nan=False)
    except ValueError:
        return text
    return value


def _node_replies(entries: Sequence[Entry]) -> tuple[StepReply, ...]:
    begun = (one for one in nodes(entries).by_call.values() if one.started_at is not None)
    return tuple(
        StepReply(
            step=number,
            tool=one.call_id,
            action=one.kind or "",
            input=one.inputs,
            output=one.value,
            error=one.error.text if one.error else None,
            duration_ms=one.ms,
            timestamp=one.started_at,
        )
        for number, one in enumerate(begun, start=1)
    )


def _step(number: int, call: CallView) -> StepReply:
    kit, separator, action = call.name.partition("__")
    output = call.result.text if call.result else ""
    return StepReply(
        step=number,
        tool=kit.replace("_", "-") if separator else call.name,
        action=action if separator else "invoke",
        input=call.arguments,
        output=_value(output),
        error=output if call.result and call.result.failed else None,
        duration_ms=call.ms,
        timestamp=call.started_at,
    )
