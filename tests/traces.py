"""Traces for tests of projections, written as a run would write them."""

from datetime import UTC, datetime, timedelta

from app.domain.agents import Parameters
from app.domain.events import (
    Entry,
    Event,
    MessageAdded,
    ModelCalled,
    ModelReturned,
    NodeEnded,
    NodeStarted,
    RunFinished,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from app.domain.messages import Message, ReasoningPart, TextPart, ToolCall, ToolResult, Usage, user_message
from app.domain.provenance import AgentRef
from app.domain.workflows.document import Edge, InputNode, MapNode, OutputNode, ToolNode, TransformNode, Workflow

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


def said(
    text: str = "", *calls: ToolCall, reasoning: str = "", partial: bool = False, model: str = "demo/agent"
) -> MessageAdded:
    parts = (
        *([ReasoningPart(text=reasoning)] if reasoning else []),
        *([TextPart(text=text)] if text else []),
        *calls,
    )
    message = Message(role="assistant", parts=parts, model=model, partial=partial)
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


SUMMING = Workflow(
    nodes=(
        InputNode(id="input", title="Question"),
        MapNode(id="each", title="Each number"),
        ToolNode(id="double", title="Double it", tool="calculator", scope="each"),
        TransformNode(id="total", title="Total"),
        OutputNode(id="output", title="Answer"),
    ),
    edges=(
        Edge(source="input", target="each"),
        Edge(source="each", target="total"),
        Edge(source="total", target="output"),
    ),
)


def node_started(call_id: str, **changes: object) -> NodeStarted:
    rounds = tuple(int(part.partition("]")[0]) for part in call_id.split("[")[1:])
    return NodeStarted(call_id=call_id, node=call_id.rpartition(".")[2], rounds=rounds).model_copy(update=changes)


def node_ended(call_id: str, output: object = None, **changes: object) -> NodeEnded:
    begun = node_started(call_id)
    ended = NodeEnded(call_id=call_id, node=begun.node, rounds=begun.rounds, status="done", port="next", ms=100)
    return ended.model_copy(update={"output": output, **changes})


def a_workflow_run() -> list[Entry]:
    """Double 1 and 2 beside each other, and add up what came of it."""
    first, second = call("each[0].double", x=1), call("each[1].double", x=2)
    (first_called, first_returned), (second_called, second_returned) = ran(first, "2"), ran(second, "4")
    return trace_of(
        started(workflow=SUMMING, model="", format=2),
        asked("1 and 2"),
        node_started("input", inputs={"text": "1 and 2"}),
        node_ended("input", {"text": "1 and 2"}),
        node_started("each", inputs={"items": [1, 2]}, of=2),
        node_started("each[0].double", inputs={"x": 1}),
        first_called,
        node_started("each[1].double", inputs={"x": 2}),
        second_called,
        second_returned,
        node_ended("each[1].double", as_returned=True),
        first_returned,
        node_ended("each[0].double", as_returned=True),
        node_ended("each", [2, 4]),
        node_started("total", inputs={"each": [2, 4]}),
        node_ended("total", 6),
        node_started("output", inputs={"value": 6}),
        node_ended("output", 6, port=None),
        said("6", model=""),
        finished(),
    )
