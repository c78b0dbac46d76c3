"""What the API answers, made from traces."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import JsonValue, TypeAdapter, ValidationError

from app.domain.errors import ErrorInfo
from app.domain.events import Entry, MessageAdded
from app.domain.failure_words import failure_words
from app.domain.trace import RunStatus, call_views, run_row
from app.domain.trace.calls import CallView
from app.domain.values import Value

_OBJECT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


class StepReply(Value):
    """One tool call of a run."""

    step: int
    """Counts from 1."""
    tool: str
    """The kit of the tool in its `-` spelling, or the tool itself when it belongs to none."""
    action: str
    """The tool within its kit, or `invoke`."""
    input: dict[str, JsonValue]
    output: str
    error: str | None
    duration_ms: float | None
    timestamp: datetime | None


class Metrics(Value):
    total_steps: int
    tokens_input: int
    tokens_output: int
    cost_usd: float | None
    """`None` when a price is unknown."""
    duration_ms: float | None


class RunReply(Value):
    run_id: str
    session_id: str
    status: RunStatus
    output: dict[str, JsonValue]
    """The answer, parsed when it is a JSON object, else `{"result": text}`."""
    output_text: str
    error: str | None
    steps: tuple[StepReply, ...]
    metrics: Metrics


def run_reply(entries: Sequence[Entry], *, alive: bool) -> RunReply:
    row = run_row(entries, alive=alive)
    text = answer_of(entries)
    end = entries[-1].event
    error = _in_words(end.error) if end.type == "run_finished" and end.error else None
    calls = [_step(number, call) for number, call in enumerate(call_views(entries).values(), start=1)]
    return RunReply(
        run_id=row.run_id,
        session_id=row.session_id,
        status=row.status,
        output=_parsed(text),
        output_text=text,
        error=error,
        steps=tuple(calls),
        metrics=Metrics(
            total_steps=len(calls),
            tokens_input=row.input_tokens,
            tokens_output=row.output_tokens,
            cost_usd=None if row.unpriced else row.cost,
            duration_ms=row.duration_ms,
        ),
    )


def _in_words(error: ErrorInfo) -> str:
    """What happened, and what to do about it."""
    return f"{error.text} {failure_words(error.failure).next_step}"


def answer_of(entries: Sequence[Entry]) -> str:
    """The text of the run's last answer; empty when there is none."""
    for entry in reversed(entries):
        match entry.event:
            case MessageAdded(message=message) if message.role == "assistant" and not message.tool_calls:
                return message.text
            case _:
                pass
    return ""


def _parsed(text: str) -> dict[str, JsonValue]:
    try:
        return _OBJECT.validate_json(text)
    except ValidationError:
        return {"result": text}


def _step(number: int, call: CallView) -> StepReply:
    kit, separator, action = call.name.partition("__")
    output = call.result.text if call.result else ""
    return StepReply(
        step=number,
        tool=kit.replace("_", "-") if separator else call.name,
        action=action if separator else "invoke",
        input=call.arguments,
        output=output,
        error=output if call.result and call.result.failed else None,
        duration_ms=call.ms,
        timestamp=call.started_at,
    )
