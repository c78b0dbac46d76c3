"""Traces for tests of projections, written as a run would write them."""

from datetime import UTC, datetime, timedelta

from app.domain.agents import Parameters
from app.domain.events import (
    Entry,
    Event,
    MessageAdded,
    ModelCalled,
    ModelReturned,
    RunFinished,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from app.domain.messages import Message, ReasoningPart, TextPart, ToolCall, ToolResult, Usage, user_message
from app.domain.provenance import AgentRef

BEGAN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def trace_of(*events: Event, run_id: str = "r1") -> list[Entry]:
    """The events as entries, a tenth of a second apart."""
    return [
        Entry(run_id=run_id, seq=seq, at=BEGAN + timedelta(milliseconds=100 * seq), event=event)
        for seq, event in enumerate(events)
    ]


def started(**changes: object) -> RunStarted:
    agent = AgentRef(id="a1", slug="assistant", name="Assistant", variant=1)
    return RunStarted(session_id="s1", agent=agent, model="demo/agent").model_copy(update=changes)


def asked(text: str) -> MessageAdded:
    return MessageAdded(message=user_message(text), origin="user")


def said(text: str = "", *calls: ToolCall, reasoning: str = "", partial: bool = False) -> MessageAdded:
    parts = (
        *([ReasoningPart(text=reasoning)] if reasoning else []),
        *([TextPart(text=text)] if text else []),
        *calls,
    )
    message = Message(role="assistant", parts=parts, model="demo/agent", partial=partial)
    return MessageAdded(message=message, origin="model")


def called(call_id: str = "m1") -> ModelCalled:
    return ModelCalled(call_id=call_id, model="demo/agent", parameters=Parameters(), message_count=1)


def returned(
    call_id: str = "m1", *, tokens: int = 10, cost: float | None = 0.5, first_token_ms: float | None = 20
) -> ModelReturned:
    return ModelReturned(
        call_id=call_id,
        usage=Usage(input_tokens=tokens, output_tokens=2 * tokens),
        cost=cost,
        finish_reason="stop",
        first_token_ms=first_token_ms,
        total_ms=100,
    )


def call(call_id: str, name: str = "calculator", **arguments: object) -> ToolCall:
    return ToolCall(call_id=call_id, name=name, arguments=dict(arguments))


def ran(asked_call: ToolCall, text: str, *, status: str = "ok") -> tuple[ToolCalled, ToolReturned]:
    result = ToolResult(call_id=asked_call.call_id, name=asked_call.name, status=status, parts=(TextPart(text=text),))
    return (
        ToolCalled(call_id=asked_call.call_id, name=asked_call.name, arguments=asked_call.arguments),
        ToolReturned(call_id=asked_call.call_id, result=result, ms=1.5),
    )


def finished(status: str = "completed") -> RunFinished:
    return RunFinished(status=status)


ADD = call("c1", operation="add", x=5, y=10)
MULTIPLY = call("c2", operation="multiply", x=15, y=3)


def the_sum() -> list[Entry]:
    """What is 5 + 10, then multiply by 3?"""
    return trace_of(
        started(),
        asked("What is 5 + 10, then multiply by 3?"),
        called("m1"),
        said("", ADD, reasoning="First the sum."),
        returned("m1"),
        *ran(ADD, "5 + 10 = 15"),
        called("m2"),
        said("", MULTIPLY, reasoning="Then the product."),
        returned("m2"),
        *ran(MULTIPLY, "15 * 3 = 45"),
        called("m3"),
        said("The answer is 45."),
        returned("m3"),
        finished(),
    )
