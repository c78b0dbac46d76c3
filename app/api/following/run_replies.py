"""Runs as the API lists them and shows them step by step, made from rows and traces."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self, assert_never

from pydantic import ConfigDict, JsonValue

from app.api.door.envelopes import Reply
from app.api.following.endings import EXAMPLE_END, EXAMPLE_TRIGGER, TriggerReply
from app.api.following.replies import (
    EXAMPLE_CALL,
    EXAMPLE_METRICS,
    MayWait,
    Metrics,
    StepReply,
    answer_of,
    call_replies,
    ending_of,
    metrics_of,
    parsed,
    pauses_of,
)
from app.domain.events import Entry, MessageAdded
from app.domain.provenance import Trigger
from app.domain.trace import RunRow, RunStatus, Step, StepType, run_row, steps

_STEP: dict[str, JsonValue] = {
    "id": "r2k4m6p8r0t2v4x6-3",
    "type": "tool-call",
    "content": {"toolName": "calculator", "params": {"operation": "add", "x": 5, "y": 10}},
    "timestamp": "2026-03-01T09:30:01Z",
    "order": 3,
}
SUMMARY: dict[str, JsonValue] = {
    "id": "r2k4m6p8r0t2v4x6",
    "agent_id": "h2k4m6p8r0t2v4x6",
    "agent": "sums",
    "variant": 1,
    "model": "demo/agent",
    "session_id": "s2k4m6p8r0t2v4x6",
    "follows": "",
    "user_query": "What is 5 + 10?",
    "status": "completed",
    "failure": None,
    "created_at": "2026-03-01T09:30:00Z",
    "completed_at": "2026-03-01T09:30:02Z",
    "triggered_by": "api_key:nightly",
    "trigger": EXAMPLE_TRIGGER,
    "metrics": EXAMPLE_METRICS,
}
_ANSWER: dict[str, JsonValue] = {"output": {"result": "5 + 10 = 15"}, "output_text": "5 + 10 = 15", **EXAMPLE_END}


class _Run(Reply):
    """What a list says of a run, and the run itself."""

    id: str
    agent_id: str
    agent: str
    """Its slug."""
    variant: int
    """0 for a run of what was tried in the editor and is no variant."""
    model: str
    session_id: str
    follows: str | None
    """The run before it on its branch of the session; empty for a first one, null in old runs, which do not say."""
    user_query: str
    """The message that began it: its head in a list, else all of it."""
    status: RunStatus


class RunSummary(_Run):
    """A run as one of a list."""

    model_config = ConfigDict(json_schema_extra={"examples": [SUMMARY]})

    failure: str | None
    """The class of the error that ended it."""
    created_at: datetime
    completed_at: datetime | None
    triggered_by: str
    """`page`, `terminal`, `api_key`, `agent` or `job`, with the name of the key or agent behind a colon."""
    trigger: TriggerReply
    metrics: Metrics
    """Its own: what the runs that it started took is not counted."""

    @classmethod
    def of(cls, row: RunRow) -> Self:
        return cls(
            id=row.run_id,
            agent_id=row.agent.id,
            agent=row.agent.slug,
            variant=row.agent.variant,
            model=row.model,
            session_id=row.session_id,
            follows=row.follows,
            user_query=row.request,
            status=row.status,
            failure=row.failure,
            created_at=row.started_at,
            completed_at=row.finished_at,
            triggered_by=triggered_by(row.trigger),
            trigger=TriggerReply.of(row.trigger),
            metrics=metrics_of(row, total_steps=row.tool_calls),
        )


class TraceStep(Reply):
    """One of the steps that a person reads."""

    id: str
    type: StepType
    content: str | dict[str, JsonValue]
    """Text; of a call `{toolName, params}`, of a result `{toolName, result}`, of a node `{node, title, state, …}`."""
    timestamp: datetime
    order: int
    """Counts from 1."""


class RunDetail(_Run, MayWait):
    """A run, step by step."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{**SUMMARY, **_ANSWER, "steps": [_STEP], "calls": [EXAMPLE_CALL], "pauses": []}]
        }
    )

    created_at: datetime
    completed_at: datetime | None
    triggered_by: str
    trigger: TriggerReply
    output: dict[str, JsonValue]
    """The answer, parsed when it is a JSON object, else `{"result": text}`."""
    output_text: str
    metrics: Metrics
    steps: tuple[TraceStep, ...]
    calls: tuple[StepReply, ...]


def run_detail(entries: Sequence[Entry], *, alive: bool, below: Sequence[RunRow] = ()) -> RunDetail:
    """`below`: the runs that it started, where what they used is told with its own."""
    row = run_row(entries, alive=alive)
    text = answer_of(entries)
    calls = call_replies(entries)
    return RunDetail(
        **RunSummary.of(row).model_dump(exclude={"user_query", "status", "failure", "metrics"}),
        user_query=_request(entries),
        output=parsed(text),
        output_text=text,
        **ending_of(entries, row.status).model_dump(),
        metrics=metrics_of(row, *below, total_steps=len(calls)),
        steps=trace_steps(entries),
        calls=calls,
        pauses=pauses_of(entries),
    )


def trace_steps(entries: Sequence[Entry]) -> tuple[TraceStep, ...]:
    return tuple(
        TraceStep(
            id=f"{entries[0].run_id}-{order}", type=step.type, content=_content(step), timestamp=step.at, order=order
        )
        for order, step in enumerate(steps(entries), start=1)
    )


def triggered_by(trigger: Trigger) -> str:
    return f"{trigger.kind}:{trigger.name}" if trigger.name else trigger.kind


def _content(step: Step) -> str | dict[str, JsonValue]:
    match step.type:
        case "tool-call":
            return {"toolName": step.text, "params": dict(step.call.arguments) if step.call else {}}
        case "tool-result":
            return {"toolName": step.result.name if step.result else "", "result": step.text}
        case "node":
            return node_told(step)
        case "user-request" | "agent-thought" | "agent-response":
            return step.text
        case _:
            assert_never(step.type)


def node_told(step: Step) -> dict[str, JsonValue]:
    """A node of a workflow as programs are told of it."""
    run = step.node
    if run is None:
        return {}
    return {
        "node": run.node,
        "title": run.title,
        "kind": run.kind,
        "callId": run.call_id,
        "rounds": [*run.rounds],
        "attempt": run.attempt,
        "state": run.state,
        "inputs": dict(run.inputs),
        "output": run.value,
        "error": run.error.text if run.error else None,
        "durationMs": run.ms,
        "pinned": run.pinned,
        "origin": run.origin or None,
        "runs": [*run.children],
    }


def _request(entries: Sequence[Entry]) -> str:
    for entry in entries:
        if isinstance(entry.event, MessageAdded) and entry.event.message.role == "user":
            return entry.event.message.headline
    return ""
