"""A run as one row of a list."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from app.domain.errors import FailureClass
from app.domain.events import AgentRef, Entry, MessageAdded, Parent, Purpose, RunStarted, Trigger
from app.domain.trace.status import RunStatus, error_of, status
from app.domain.trace.tallies import ToolTally, tallies
from app.domain.trace.usage import own_entries, totals
from app.domain.values import Value


class RunRow(Value):
    """What a list of runs shows, filters and sorts by."""

    run_id: str
    session_id: str
    agent: AgentRef
    model: str
    status: RunStatus
    request: str
    """The head of the user's message, 200 characters at most."""
    purpose: Purpose
    trigger: Trigger
    background: bool = False
    parent: Parent | None = None
    started_at: datetime
    finished_at: datetime | None = None
    duration_ms: float | None = None
    """From the first entry to the last, `None` while it is going on."""
    model_calls: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    """US dollars."""
    unpriced: bool = False
    failure: FailureClass | None = None
    tools: tuple[ToolTally, ...] = ()
    """What each tool did in it; known once it is over."""


class RunFilter(Value):
    """Which runs a list shows. An empty field lets all through."""

    text: str = ""
    """Words looked for in the request, the agent's name and the model, in any case."""
    agent: str = ""
    """An agent's slug."""
    variant: int | None = None
    model: str = ""
    status: RunStatus | None = None
    since: datetime | None = None
    until: datetime | None = None
    session_id: str = ""
    background: bool | None = None
    """True for jobs only, False for all others."""


SortKey = Literal["started_at", "duration_ms", "cost", "total_tokens", "model_calls"]


@dataclass(frozen=True, slots=True)
class RunPage:
    """One page of a list of runs."""

    rows: list[RunRow]
    total: int
    """How many runs the filter lets through, on all pages."""


class Week(NamedTuple):
    """What an agent did in the last seven days."""

    runs: int
    cost: float
    """US dollars."""
    last_run_at: datetime | None
    """When its last run started, however long ago; `None` where there was none."""


def run_row(entries: Sequence[Entry], *, alive: bool) -> RunRow:
    """The row of a run; `entries` begin with its `RunStarted`."""
    first, last = entries[0], entries[-1]
    if not isinstance(first.event, RunStarted):
        raise TypeError(f"Run {first.run_id} does not begin with RunStarted")
    sums = totals(entries)
    now_status = status(entries, alive=alive)
    going_on = now_status in ("running", "paused")
    error = error_of(entries)
    return RunRow(
        run_id=first.run_id,
        session_id=first.event.session_id,
        agent=first.event.agent,
        model=first.event.model,
        status=now_status,
        request=_request(entries)[:200],
        purpose=first.event.purpose,
        trigger=first.event.trigger,
        background=first.event.background,
        parent=first.event.parent,
        started_at=first.at,
        finished_at=None if going_on else last.at,
        duration_ms=None if going_on else (last.at - first.at).total_seconds() * 1000,
        model_calls=sums.model_calls,
        tool_calls=sums.tool_calls,
        input_tokens=sums.usage.input_tokens,
        output_tokens=sums.usage.output_tokens,
        cost=sums.cost,
        unpriced=sums.unpriced,
        failure=error.failure if error else None,
        tools=() if going_on else tallies(own_entries(entries)),
    )


def _request(entries: Sequence[Entry]) -> str:
    for entry in entries:
        match entry.event:
            case MessageAdded(message=message) if message.role == "user":
                return message.headline
            case _:
                pass
    return ""
