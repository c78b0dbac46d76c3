"""Pure replay: the engine itself, with the model's recorded answers and the tools' recorded results.

Nothing is asked, called, paid or stored: what comes out is compared with what was recorded, and forgotten.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.domain.events import Entry, MessageAdded, PauseRequested, PauseResolved, RunStarted
from app.domain.forks.replays import ReplayReport, repeatable, report_of
from app.domain.messages import ToolCall
from app.domain.streaming import Draft
from app.domain.trace import files_after
from app.domain.trace.fork_view import fork_of
from app.domain.trace.recorded import RecordedAnswer, recorded_answers, recorded_calls
from app.domain.values import now
from app.engine.loop.loop import run_agent
from app.engine.ports import Artifacts, Models, RunRows, Toolbox
from app.engine.run.ledger import Ledger
from app.engine.run.limits import Budget
from app.engine.run.recorder import Recorder
from app.engine.run.run import Run, nothing_recorded
from app.engine.run.stopwatch import Stopwatch
from app.engine.run.tools_since import ToolsSince
from app.engine.runs.recorded_models import RecordedModels
from app.engine.runs.recorded_tools import RECORDED, RecordedTools, Recording
from app.engine.runs.resuming import allowed_before

NO_CEILING = 1e12
"""US dollars."""


@dataclass(frozen=True)
class _Record:
    """What of a run is repeated, and what answers in it."""

    entries: Sequence[Entry]
    begun_with: int
    """How many of them stood there before the engine did anything."""
    stopped_by: str
    answers: list[RecordedAnswer]
    calls: Recording
    files: dict[str, str]
    allowed: set[str]
    unasked: Callable[[ToolCall], bool]


def _record(entries: Sequence[Entry]) -> _Record:
    begun_with = _begun_with(entries)
    length, stopped_by = repeatable(entries)
    recorded = entries[: max(length, begun_with)]
    before, own = recorded[:begun_with], recorded[begun_with:]
    answers, calls = list(recorded_answers(own)), Recording(recorded_calls(own))
    return _Record(
        recorded,
        begun_with,
        stopped_by,
        answers,
        calls,
        files_after(before),
        allowed_before(before),
        _unasked(recorded),
    )


@dataclass(frozen=True)
class Replayer:
    models: Models
    """They count tokens and know prices; none is asked."""
    toolbox: Toolbox
    artifacts: Artifacts
    rows: RunRows

    async def replay(self, entries: Sequence[Entry], started: RunStarted) -> ReplayReport:
        """Put what is recorded of the run through the engine again, and compare."""
        record = await asyncio.to_thread(_record, entries)
        recorded, begun_with = record.entries, record.begun_with
        run = self._run(record, started)
        deciding = asyncio.create_task(_decide_again(run, recorded, begun_with))
        try:
            await run_agent(run)
        finally:
            deciding.cancel()
            run.toolset.release()
        return await asyncio.to_thread(
            report_of, recorded, run.recorder.entries, begun_with=begun_with, stopped_by=record.stopped_by
        )

    def _run(self, record: _Record, started: RunStarted) -> Run:
        clock, before = _QuickClock(), record.entries[: record.begun_with]
        # Without the limits that depend on other runs.
        limits = started.limits.model_copy(update={"session_cost": 0.0, "day_cost": NO_CEILING})
        alone = started.model_copy(update={"limits": limits, "parent": None})
        ledger = Ledger(self.rows, clock)
        run = Run(
            started=alone,
            recorder=Recorder("replay", _Unkept(), clock, before),
            models=RecordedModels(record.answers, self.models),
            toolset=self.toolbox.lease(),
            artifacts=self.artifacts,
            budget=Budget(alone.limits, ledger.open("replay", alone), ledger),
            clock=clock,
            stopwatch=Stopwatch(started.limits.total_time),
            files=record.files,
            allowed=record.allowed,
            tools_since=ToolsSince.of(started, self.toolbox),
        )
        run.toolset = RecordedTools(run, run.toolset, record.calls, lambda _: RECORDED)
        run.only_recorded = record.unasked
        return run


def _begun_with(entries: Sequence[Entry]) -> int:
    """How many entries stood there before the engine did anything: those up to the message, or a fork's prefix."""
    if (found := fork_of(entries)) is not None:
        return found[0] + 1
    return next((entry.seq + 1 for entry in entries if isinstance(entry.event, MessageAdded)), len(entries))


def _unasked(entries: Sequence[Entry]) -> Callable[[ToolCall], bool]:
    """The calls about which nobody was asked, since a fork had answered them out of a record."""
    found = fork_of(entries)
    if found is None or not (found[1].acted_out or found[1].sources):
        return nothing_recorded
    asked = {entry.event.call_id for entry in entries if isinstance(entry.event, PauseRequested)}
    return lambda call: call.call_id not in asked


async def _decide_again(run: Run, entries: Sequence[Entry], begun_with: int) -> None:
    """Answer each pause as it was answered, and what was not asked before with no."""
    given = _decisions(entries)
    async for entry in run.recorder.follow(begun_with):
        if isinstance(entry.event, PauseRequested) and run.control.expects(entry.event.pause_id):
            asked = entry.event
            decided = given(asked) or PauseResolved(pause_id="", decision="deny", by="replay")
            run.control.resolve(decided.model_copy(update={"pause_id": asked.pause_id}))


def _decisions(entries: Sequence[Entry]) -> Callable[[PauseRequested], PauseResolved | None]:
    """What was decided on a pause like that, each decision once."""
    pauses = {entry.event.pause_id: entry.event for entry in entries if isinstance(entry.event, PauseRequested)}
    left = [
        (pauses[entry.event.pause_id].subject, entry.event)
        for entry in entries
        if isinstance(entry.event, PauseResolved) and entry.event.pause_id in pauses
    ]

    def decision(asked: PauseRequested) -> PauseResolved | None:
        place = next((place for place, (subject, _) in enumerate(left) if subject == asked.subject), None)
        return None if place is None else left.pop(place)[1]

    return decision


class _QuickClock:
    """Waits for a further attempt take no time."""

    def now(self) -> datetime:
        return now()

    async def sleep(self, seconds: float) -> None:  # noqa: ARG002  see class
        await asyncio.sleep(0)


class _Unkept:
    """A trace that nobody keeps."""

    async def prepare(self, started: RunStarted) -> None:
        """Nothing is prepared."""

    def append(self, entry: Entry) -> None:
        """Nothing is written."""

    def checkpoint(self, draft: Draft) -> None:
        """Nothing is written."""

    async def flush(self) -> None:
        """Nothing waits; the others get their turn."""
        await asyncio.sleep(0)

    def flushing(self) -> Awaitable[None]:
        """The same."""
        return asyncio.ensure_future(self.flush())

    async def close(self) -> None:
        """Nothing is open."""

    def let_go(self) -> None:
        """Nothing is open."""

    async def abandon(self) -> None:
        """Nothing is open."""
