"""A run as one row of a list."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from app.domain.errors import FailureClass
from app.domain.evals.scores import Rating
from app.domain.events import Entry, Forked, MessageAdded, RunStarted
from app.domain.histograms import bucket_of
from app.domain.provenance import AgentRef, Parent, Purpose, Trigger
from app.domain.trace.model_tallies import ModelTally, model_tallies
from app.domain.trace.status import RunStatus, error_of, status
from app.domain.trace.tallies import ToolTally, tallies
from app.domain.trace.usage import own_entries, totals
from app.domain.values import Value

FORM = 1
"""Of what a row says: rows in a lower one are told again from their traces."""
HEAD = 200
"""Characters of a text that a row shows."""


class RunRow(Value):
    """What a list of runs shows, filters and sorts by."""

    run_id: str
    session_id: str
    agent: AgentRef
    model: str
    status: RunStatus
    request: str
    """The head of the user's message, 200 characters at most."""
    answer: str | None = None
    """The head of the last answer, as long at most; `None` in rows of an earlier version, whose traces tell it."""
    purpose: Purpose
    trigger: Trigger
    background: bool = False
    parent: Parent | None = None
    follows: str | None = None
    """As in `RunStarted`."""
    imported: bool = False
    """It was made, and paid for, in another copy of the app."""
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
    """What each tool did in it."""
    models: tuple[ModelTally, ...] | None = None
    """What each model did in it; `None` in rows of an earlier version, whose traces tell it."""
    queued: int = 0
    """Its messages that had waited in its session's queue."""
    waits: dict[int, int] = {}
    """By bucket of time: how many of these waited so long; of old ones nobody knows it."""
    form: int = 0
    """The `FORM` in which it was told."""


class KeyRuns(Value):
    """The runs that an API key started, and those that these started, of the agents that are there for it."""

    key: str
    """Its id."""
    agents: frozenset[str]
    """Their ids."""
    name: str = ""
    """By which old runs, that say no id, are its own; empty where it has none."""
    since: datetime | None = None
    """When the first of those may have started."""


class RunKind(Value):
    """What runs are asked for, by what they say, did and cost. An empty field lets all through."""

    text: str = ""
    """Words looked for in all that was said and called in the run, its agent's name and its model, in any case.

    A word is found by how it begins; several in quotes as they stand.
    """
    agent: str = ""
    """An agent's slug."""
    variant: int | None = None
    model: str = ""
    """Runs of it, and those in which it was called."""
    provider: str = ""
    tool: str = ""
    """Runs in which it was called."""
    purpose: Purpose | None = None
    unpriced: bool = False
    """Only runs with a call of which nobody said what it costs."""
    status: RunStatus | None = None
    failure: FailureClass | None = None
    """Runs that ended by an error of this class."""
    min_cost: float | None = None
    max_cost: float | None = None
    """US dollars, the edges included."""
    rating: Rating | None = None
    tag: str = ""
    """One of its tags, in any case."""
    noted: bool = False
    """Only runs with a note."""
    voted: bool = False
    """Only runs whose answer was voted for in a comparison."""


class RunFilter(RunKind):
    """Which runs a list shows."""

    min_ms: float | None = None
    max_ms: float | None = None
    """Of how long it took; a run that goes on has no such time yet."""
    since: datetime | None = None
    until: datetime | None = None
    session_id: str = ""
    parent: str = ""
    """The id of the run that started them."""
    background: bool | None = None
    """True for jobs only, False for all others."""
    behind: bool = False
    """Whether also runs of experiments, judges and tries are shown; those of one session or parent always are."""
    of_key: KeyRuns | None = None


SortKey = Literal["started_at", "duration_ms", "cost", "total_tokens", "model_calls"]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of a run that says what was searched for."""

    seq: int
    """The entry it is from."""
    place: str
    """Where that is, in a word or two: `Answer`, `Result of calculator`."""
    before: str
    hit: str
    after: str


@dataclass(frozen=True, slots=True)
class RunPage:
    """One page of a list of runs."""

    rows: list[RunRow]
    total: int
    """How many runs the filter lets through, on all pages."""
    excerpts: Mapping[str, Excerpt] = field(default_factory=dict)
    """By run id, of a search: where its words were found, of the runs in whose trace they were."""


class Week(NamedTuple):
    """What an agent did in the last seven days."""

    runs: int
    cost: float
    """US dollars."""
    last_run_at: datetime | None
    """When its last run started, however long ago; `None` where there was none."""
    unpriced: bool = False
    """Whether one of these called a model without a price."""


def run_row(entries: Sequence[Entry], *, alive: bool) -> RunRow:
    """The row of a run; `entries` begin with its `RunStarted`."""
    first, last, began = entries[0], entries[-1], began_at(entries)
    if not isinstance(first.event, RunStarted):
        raise TypeError(f"Run {first.run_id} does not begin with RunStarted")
    sums = totals(entries)
    now_status = status(entries, alive=alive)
    said = (entry.event.message for entry in entries if isinstance(entry.event, MessageAdded))
    going_on = now_status in ("running", "paused")
    error, waits = error_of(entries), _waits(own_entries(entries))
    return RunRow(
        run_id=first.run_id,
        session_id=first.event.session_id,
        agent=first.event.agent,
        model=first.event.model,
        status=now_status,
        request=next((message.headline for message in said if message.role == "user"), "")[:HEAD],
        answer=answer_head(entries),
        purpose=first.event.purpose,
        trigger=first.event.trigger,
        background=first.event.background,
        parent=first.event.parent,
        follows=first.event.follows,
        imported=first.event.imported is not None,
        started_at=began,
        finished_at=None if going_on else last.at,
        duration_ms=None if going_on else took_ms(began, last.at),
        model_calls=sums.model_calls,
        tool_calls=sums.tool_calls,
        input_tokens=sums.usage.input_tokens,
        output_tokens=sums.usage.output_tokens,
        cost=sums.cost,
        unpriced=sums.unpriced,
        failure=error.failure if error else None,
        tools=tallies(own_entries(entries)),
        models=model_tallies(own_entries(entries)),
        queued=len(waits),
        waits=dict(Counter(bucket_of(ms) for ms in waits if ms is not None)),
        form=FORM,
    )


def took_ms(began: datetime, ended: datetime) -> float:
    """Milliseconds from one to the other: never less than nothing, also where a clock was set back."""
    return max(0.0, (ended - began).total_seconds() * 1000)


def _waits(entries: Sequence[Entry]) -> list[float | None]:
    """How long each message out of the queue had waited; traces of earlier versions do not say it."""
    added = [entry.event for entry in entries if isinstance(entry.event, MessageAdded)]
    return [one.waited_ms for one in added if one.waited_ms or (one.waited_ms is None and one.origin == "queued")]


def answer_head(entries: Sequence[Entry]) -> str:
    """The head of the last answer that is the run's own, empty where it gave none."""
    said = (entry.event.message for entry in reversed(own_entries(entries)) if isinstance(entry.event, MessageAdded))
    answers = (message for message in said if message.role == "assistant" and not message.tool_calls)
    return next((message.headline.strip() for message in answers), "")[:HEAD]


def began_at(entries: Sequence[Entry]) -> datetime:
    """When the run began: a fork behind its copied prefix, which keeps the times of the run it comes from."""
    forks = (entry.at for entry in reversed(entries) if isinstance(entry.event, Forked))
    return next(forks, entries[0].at)
