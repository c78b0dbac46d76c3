"""Data folders full of runs, written through the real store: for benchmarks and for tests of long lists."""

import asyncio
import random
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from app.domain.agents import Parameters
from app.domain.errors import ErrorInfo
from app.domain.events import (
    Entry,
    Event,
    FinalStatus,
    MessageAdded,
    ModelCalled,
    ModelReturned,
    RunFinished,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from app.domain.messages import Message, ReasoningPart, TextPart, ToolCall, ToolResult, Usage, user_message
from app.domain.provenance import AgentRef, Trigger
from app.domain.streaming import Draft
from app.domain.trace import FORM, ModelTally, RunRow, ToolTally, run_row
from app.domain.trace.model_tallies import NANO
from app.domain.values import now
from app.store.folder.folder import DataFolder

SEEDED = datetime(2026, 11, 1, 8, 0, tzinfo=UTC)
"""When the first seeded run began; the next ones follow a minute apart."""
AGENTS = ("assistant", "writer", "analyst")
MODELS = ("demo/agent", "openai/gpt-4o", "anthropic/claude-sonnet-4")
STATUSES: tuple[FinalStatus, ...] = ("completed",) * 7 + ("failed", "cancelled", "limited")  # type: ignore[assignment]
QUESTIONS = ("What is 5 + 10?", "Summarise the report", "Clean this table", "Write a haiku about rivers")
BATCH = 200
"""Runs that are stored together, so that they share the disk's flushes."""


async def seed_runs(folder: Path, count: int) -> list[str]:
    """Store that many short runs of several agents, models and outcomes; their ids, oldest first."""
    data = DataFolder.open(folder)
    chance = random.Random(7)
    try:
        for start in range(0, count, BATCH):
            numbers = range(start, min(start + BATCH, count))
            await asyncio.gather(*(_store(data, _short_run(number, chance)) for number in numbers))
    finally:
        await data.close()
    return [_run_id(number) for number in range(count)]


async def seed_rows(folder: Path, count: int, *, days: int = 180) -> None:
    """Store the rows of that many ended runs, the last of them today, and no traces.

    The app is closed as it should be, so that the figures are stored too.
    """
    data = DataFolder.open(folder)
    chance = random.Random(7)
    try:
        for start in range(0, count, BATCH):
            numbers = range(start, min(start + BATCH, count))
            rows = (seeded_row(number, chance, back=timedelta(days=days) * (1 - number / count)) for number in numbers)
            await asyncio.gather(*(data.rows.save(row) for row in rows))
    finally:
        await data.close()


def seeded_row(number: int, chance: random.Random, *, back: timedelta = timedelta()) -> RunRow:
    """The row of an ended run that began so long ago."""
    slug, model, status = chance.choice(AGENTS), chance.choice(MODELS), chance.choice(STATUSES)
    times = {chance.randint(40, 90): 1, chance.randint(40, 90): 1}
    tally = ModelTally(
        model=model,
        provider=model.partition("/")[0],
        calls=2,
        input_tokens=chance.randint(100, 9000),
        output_tokens=chance.randint(20, 1500),
        cost=chance.randrange(10**8),
        times=times,
        first_token_times={chance.randint(20, 60): 2},
    )
    return RunRow(
        run_id=f"seeded-row-{number:06d}",
        session_id=f"seeded-session-{number // 20}",
        agent=AgentRef(id=slug, slug=slug, name=slug.title(), variant=chance.randint(1, 3)),
        model=model,
        status=status,
        request=f"{chance.choice(QUESTIONS)} ({number})",
        answer="It is done.",
        purpose=chance.choice(("chat", "api", "experiment")),
        trigger=Trigger(kind="page"),
        started_at=now() - back,
        finished_at=now() - back + timedelta(seconds=3),
        duration_ms=float(chance.randint(500, 9000)),
        model_calls=2,
        tool_calls=1,
        input_tokens=tally.input_tokens,
        output_tokens=tally.output_tokens,
        cost=tally.cost / NANO,
        failure="network" if status == "failed" else None,
        tools=(ToolTally(name="calculator", calls=1, times={chance.randint(0, 40): 1}),),
        models=(tally,),
        form=FORM,
    )


async def seed_traces(folder: Path, traces: Iterable[Sequence[Entry]]) -> None:
    """Store exactly these runs."""
    data = DataFolder.open(folder)
    waiting = iter(traces)
    try:
        while batch := list(islice(waiting, BATCH)):
            await asyncio.gather(*(_store(data, entries) for entries in batch))
    finally:
        await data.close()


async def seed_long_run(folder: Path, events: int, *, run_id: str = "long-run") -> str:
    """Store one run of that many events, five for each of its decisions; its id."""
    data = DataFolder.open(folder)
    try:
        await _store(data, _entries(run_id, SEEDED, _long_run(events)))
    finally:
        await data.close()
    return run_id


async def seed_trace(folder: Path, entries: Sequence[Entry], *, draft: Draft | None = None) -> str:
    """Store exactly these entries, and the live text behind them; the run's id."""
    data = DataFolder.open(folder)
    try:
        await _store(data, entries, draft)
    finally:
        await data.close()
    return entries[0].run_id


async def _store(data: DataFolder, entries: Sequence[Entry], draft: Draft | None = None) -> None:
    first = entries[0]
    assert isinstance(first.event, RunStarted)
    trace = await data.traces.create(first.run_id, first.event.session_id)
    for entry in entries:
        trace.append(entry)
    if draft is not None:
        trace.checkpoint(draft)
    # A run without an end was going on when its process ended, and so its row says.
    row = run_row(entries, alive=True)
    await asyncio.gather(trace.close(), data.rows.save(row))


def _short_run(number: int, chance: random.Random) -> list[Entry]:
    slug = chance.choice(AGENTS)
    started = RunStarted(
        session_id=f"seeded-session-{number // 20}",
        agent=AgentRef(id=slug, slug=slug, name=slug.title(), variant=chance.randint(1, 3)),
        model=chance.choice(MODELS),
    )
    status = chance.choice(STATUSES)
    events = [
        started,
        MessageAdded(message=user_message(f"{chance.choice(QUESTIONS)} ({number})"), origin="user"),
        *_decision(number, chance.randint(50, 5000)),
        *_answer("It is done.", chance.randint(50, 5000)),
        _end(status),
    ]
    return _entries(_run_id(number), SEEDED + timedelta(minutes=number), events)


def _end(status: FinalStatus) -> RunFinished:
    match status:
        case "failed":
            error = ErrorInfo(failure="network", text="The provider closed the connection.")
        case "limited":
            error = ErrorInfo(failure="limit", text="The run reached its limit of 10 steps.")
        case _:
            error = None
    return RunFinished(status=status, error=error)


def _long_run(events: int) -> Iterator[Event]:
    """A run of exactly that many events, eight at least."""
    agent = AgentRef(id="analyst", slug="analyst", name="Analyst", variant=1)
    yield RunStarted(session_id="long-session", agent=agent, model="demo/agent")
    yield MessageAdded(message=user_message("Check every row of the table"), origin="user")
    decisions, rest = divmod(events - 6, 5)
    for number in range(decisions):
        yield from _decision(number, 120)
    for number in range(rest):
        yield MessageAdded(message=user_message(f"Go on ({number})"), origin="user")
    yield from _answer("Every row was **checked**.", 80)
    yield RunFinished(status="completed")


def _decision(number: int, tokens: int) -> list[Event]:
    """The model thinks, calls a tool, and the tool answers: five events, three steps."""
    call = ToolCall(call_id=f"call-{number}", name="calculator", arguments={"operation": "add", "x": number, "y": 10})
    thought = ReasoningPart(text=f"Row {number} needs a sum, so I add ten to it and compare the outcome.")
    text = TextPart(text=f"{number} + 10 = {number + 10}")
    result = ToolResult(call_id=call.call_id, name=call.name, parts=(text,))
    return [
        ModelCalled(call_id=f"model-{number}", model="demo/agent", parameters=Parameters(), message_count=1),
        MessageAdded(message=Message(role="assistant", parts=(thought, call)), origin="model"),
        _returned(f"model-{number}", tokens),
        ToolCalled(call_id=call.call_id, name=call.name, arguments=call.arguments),
        ToolReturned(call_id=call.call_id, result=result, ms=1.5),
    ]


def _answer(text: str, tokens: int) -> list[Event]:
    return [
        ModelCalled(call_id="model-last", model="demo/agent", parameters=Parameters(), message_count=1),
        MessageAdded(message=Message(role="assistant", parts=(TextPart(text=text),)), origin="model"),
        _returned("model-last", tokens),
    ]


def _returned(call_id: str, tokens: int) -> ModelReturned:
    usage = Usage(input_tokens=tokens, output_tokens=tokens // 4)
    return ModelReturned(
        call_id=call_id, usage=usage, cost=tokens / 1e6, finish_reason="stop", first_token_ms=80, total_ms=400
    )


def _entries(run_id: str, began: datetime, events: Sequence[Event] | Iterator[Event]) -> list[Entry]:
    """The events as a run's entries, a tenth of a second apart."""
    return [
        Entry(run_id=run_id, seq=seq, at=began + timedelta(milliseconds=100 * seq), event=event)
        for seq, event in enumerate(events)
    ]


def _run_id(number: int) -> str:
    return f"seeded-{number:06d}"
