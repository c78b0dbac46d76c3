"""All runs of this process. They belong to it and to no page: a tab that closes ends nothing."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from app.domain.errors import StorageError
from app.domain.events import Decision, Entry, MessageAdded, Origin, PauseResolved, RunStarted
from app.domain.messages import Message
from app.domain.streaming import Draft
from app.domain.tools import Progress
from app.domain.trace import (
    RunFilter,
    RunPage,
    RunRow,
    RunStatus,
    SortKey,
    StoredTrace,
    finished,
    run_row,
    status,
    totals,
)
from app.domain.values import new_id
from app.engine.limits import Budget
from app.engine.loop import run_agent
from app.engine.ports import Artifacts, Clock, Models, Opening, RunRows, Toolbox, Traces
from app.engine.recorder import Recorder
from app.engine.run import Run
from app.engine.stopwatch import Stopwatch

log = logging.getLogger(__name__)

KEPT_FINISHED = 30
"""Runs that stay in memory after their end, since their page and the next turn read them."""
SAVE_AGAIN_SECONDS = 5.0


class LiveRun:
    """A run of this process: its trace as it grows, and the hand on its control."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.task: asyncio.Task[None] | None = None
        self.unsaved: str | None = None
        """Why the newest part of the trace is not on disk, in words; it is tried again until it is."""

    @property
    def run_id(self) -> str:
        return self.run.recorder.run_id

    @property
    def started(self) -> RunStarted:
        return self.run.started

    @property
    def entries(self) -> list[Entry]:
        return self.run.recorder.entries

    @property
    def draft(self) -> Draft:
        """The message being written, empty between messages."""
        return self.run.recorder.draft

    @property
    def printed(self) -> dict[str, str]:
        """By call id: what running tools have printed so far."""
        return self.run.recorder.printed

    @property
    def progress(self) -> dict[str, Progress]:
        """By call id: how far running tools say they are."""
        return self.run.recorder.progress

    @property
    def alive(self) -> bool:
        return self.task is not None and not self.task.done()

    @property
    def status(self) -> RunStatus:
        return status(self.entries, alive=self.alive)

    def since(self, seq: int) -> list[Entry]:
        return self.run.recorder.since(seq)

    def follow(self, seq: int = 0) -> AsyncIterator[Entry]:
        return self.run.recorder.follow(seq)

    async def ended(self) -> None:
        """Return when the run has ended and is stored; never raises what ended it, the trace says it."""
        if self.task is not None:
            await asyncio.wait([self.task])

    def stop(self) -> None:
        """End the run within a second: the provider's connection and running tools are cancelled, the text is kept."""
        if self.alive and self.task is not None and not self.run.control.stopped:
            self.run.control.stopped = True
            self.task.cancel()

    def resolve(
        self,
        pause_id: str,
        decision: Decision,
        *,
        arguments: dict[str, JsonValue] | None = None,
        note: str = "",
        by: str = "user",
    ) -> None:
        """Decide on a pause; raises `Conflict` when it waits no more."""
        self.run.control.resolve(
            PauseResolved(pause_id=pause_id, decision=decision, arguments=arguments, note=note, by=by)
        )


@dataclass
class Runs:
    traces: Traces
    rows: RunRows
    models: Models
    toolbox: Toolbox
    artifacts: Artifacts
    clock: Clock

    def __post_init__(self) -> None:
        self._live: dict[str, LiveRun] = {}
        self._finished: OrderedDict[str, LiveRun] = OrderedDict()
        self.begun = 0
        """How many runs this process has begun: a list that remembers it sees also those that ended since."""

    async def start(
        self, started: RunStarted, message: Message, *, origin: Origin = "user", run_id: str | None = None
    ) -> LiveRun:
        """Begin a run with that message, under an id that was kept for it or a new one; returns when both are on disk.

        Raises `StorageError` and begins nothing.
        """
        run_id = run_id or new_id()
        writer = await self.traces.create(run_id, started.session_id)
        live = LiveRun(self._run(started, Recorder(run_id, writer, self.clock)))
        live.run.recorder.record(started, MessageAdded(message=message, origin=origin))
        try:
            await live.run.recorder.flush()
            await self.rows.save(run_row(live.entries, alive=True))
        except StorageError:
            live.run.toolset.release()
            await live.run.recorder.abandon()
            raise
        self._live[run_id] = live
        self.begun += 1
        live.task = asyncio.create_task(self._work(live), name=f"run {run_id}")
        return live

    def live(self, run_id: str) -> LiveRun | None:
        """The run, if it goes on in this process."""
        return self._live.get(run_id)

    def recent(self, run_id: str) -> LiveRun | None:
        """The run, if it goes on or ended lately in this process."""
        return self._live.get(run_id) or self._finished.get(run_id)

    def live_runs(self) -> list[LiveRun]:
        return list(self._live.values())

    def of_session(self, session_id: str) -> LiveRun | None:
        """The run that goes on in that session."""
        return next((live for live in self._live.values() if live.started.session_id == session_id), None)

    async def trace(self, run_id: str, *, opening: Opening | None = None) -> StoredTrace:
        """The run's trace as of now, live or stored; raises `NotFound`.

        `opening` is called before with the first entries of a long stored one.
        """
        if (live := self.recent(run_id)) is not None:
            return StoredTrace(live.entries, live.draft)
        return await self.traces.read(run_id, opening=opening)

    def status(self, run_id: str, entries: Sequence[Entry]) -> RunStatus:
        return status(entries, alive=run_id in self._live)

    async def page(
        self,
        wanted: RunFilter,
        *,
        sort: SortKey = "started_at",
        descending: bool = True,
        offset: int = 0,
        limit: int = 50,
    ) -> RunPage:
        """One page of all runs. A run that its process left without an end is shown as it really stands."""
        if wanted.status not in ("running", "paused", "interrupted"):
            found = self.rows.find(wanted, sort=sort, descending=descending, offset=offset, limit=limit)
            return RunPage([await self._settled(row) for row in found.rows], found.total)
        unfinished = wanted.model_copy(update={"status": "running"})
        found = self.rows.find(unfinished, sort=sort, descending=descending, offset=0, limit=1000)
        rows = [row for row in [await self._settled(row) for row in found.rows] if row.status == wanted.status]
        return RunPage(rows[offset : offset + limit], len(rows))

    def stop(self, run_id: str) -> None:
        if (live := self._live.get(run_id)) is not None:
            live.stop()

    async def close(self) -> None:
        """End the process's part in all runs: nothing is written but their live text, so that they can go on later."""
        tasks = [live.task for live in self._live.values() if live.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=2)

    def _run(self, started: RunStarted, recorder: Recorder) -> Run:
        return Run(
            started=started,
            recorder=recorder,
            models=self.models,
            toolset=self.toolbox.lease(),
            artifacts=self.artifacts,
            budget=Budget(started.limits, self.models, lambda: self._day_cost_besides(recorder.run_id)),
            clock=self.clock,
            stopwatch=Stopwatch(started.limits.total_time),
            files=dict(started.files),
        )

    async def _work(self, live: LiveRun) -> None:
        try:
            await run_agent(live.run)
        finally:
            live.run.toolset.release()
            await self._keep(live)
            self._live.pop(live.run_id, None)
            self._finished[live.run_id] = live
            while len(self._finished) > KEPT_FINISHED:
                self._finished.popitem(last=False)

    async def _keep(self, live: LiveRun) -> None:
        """Bring the end of the trace to disk; while that fails (a full disk), try again and say so.

        The row of a run without an end stays one of a running run: how it really stands is seen when it is met.
        """
        without_end = finished(live.entries) is None
        while True:
            try:
                await live.run.recorder.close()
                await self.rows.save(run_row(live.entries, alive=without_end))
            except StorageError as error:
                if live.unsaved is None:
                    log.warning("Run %s is not on disk yet: %s", live.run_id, error)
                live.unsaved = str(error)
                await self.clock.sleep(SAVE_AGAIN_SECONDS)
            else:
                live.unsaved = None
                return

    async def _settled(self, row: RunRow) -> RunRow:
        """The row of a run without an end, made again from its trace as far as that can be read."""
        if row.status != "running":
            return row
        trace = await self.trace(row.run_id)
        if not trace.entries or not isinstance(trace.entries[0].event, RunStarted):
            return row.model_copy(update={"status": "interrupted"})
        return run_row(trace.entries, alive=row.run_id in self._live)

    def _day_cost_besides(self, run_id: str) -> float:
        """US dollars of today's other runs, those that go on included."""
        midnight = local_midnight(self.clock.now())
        going_on = sum(totals(live.entries).cost for other, live in self._live.items() if other != run_id)
        return self.rows.cost_since(midnight) + going_on


def local_midnight(moment: datetime) -> datetime:
    """The start of that moment's day, where the computer stands."""
    return moment.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
