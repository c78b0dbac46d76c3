"""All runs of this process. They belong to it and to no page: a tab that closes ends nothing."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from app.domain.errors import Conflict, StorageError
from app.domain.events import Decision, Entry, MessageAdded, Origin, PauseResolved, RunFinished, RunStarted
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
    active_seconds,
    files_after,
    finished,
    run_row,
    status,
)
from app.domain.values import new_id
from app.engine.calling import refuse_calls
from app.engine.control import Steer
from app.engine.deciding import decision_for, open_pause
from app.engine.ledger import Ledger, no_ceiling
from app.engine.limits import Budget
from app.engine.loop import run_agent
from app.engine.ports import Artifacts, Clock, Models, Opening, RunRows, Toolbox, Traces
from app.engine.recorder import Recorder
from app.engine.resuming import allowed_before, can_go_on, pick_up
from app.engine.run import Run
from app.engine.stopwatch import Stopwatch
from app.engine.tools_since import ToolsSince

log = logging.getLogger(__name__)

KEPT_FINISHED = 30
"""Runs that stay in memory after their end, since their page and the next turn read them."""
MOST_LEFT = 200
"""Runs without an end that are looked at for those that wait for a person."""
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

    def steer(self, message: Message) -> Steer:
        """Break into the run with the message: what it writes is cut off, tools that may be are cancelled.

        Its `landed` says when the message has become a turn of the run, or that the run ended before.
        """
        return self.run.control.steer(message)

    @property
    def steered(self) -> bool:
        """True while a message waits to break in, for a tool that may not be cancelled."""
        return self.run.control.steered

    def retry_now(self) -> None:
        """Make the next attempt of a failed model call at once; raises `Conflict` where none waits."""
        self.run.control.retrying.decide(again=True)

    def give_up(self) -> None:
        """Make no further attempt of a failed model call: the run fails by it. Raises `Conflict` where none waits."""
        self.run.control.retrying.decide(again=False)

    def resolve(
        self,
        pause_id: str,
        decision: Decision,
        *,
        arguments: dict[str, JsonValue] | None = None,
        note: str = "",
        by: str = "user",
    ) -> None:
        """Decide on a pause; raises `Conflict` when it waits no more, `WorkbenchError` for a decision that is none."""
        pause = open_pause(self.entries, pause_id)
        self.run.control.resolve(decision_for(pause, decision, arguments=arguments, note=note, by=by))

    @property
    def waits(self) -> bool:
        """True while a person has to decide something."""
        return self.run.control.waits


@dataclass
class Runs:
    traces: Traces
    rows: RunRows
    models: Models
    toolbox: Toolbox
    artifacts: Artifacts
    clock: Clock
    day_ceiling: Callable[[], float] = no_ceiling
    """US dollars that all runs of a day may cost together; 0 for no ceiling."""

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.rows, self.clock, self.day_ceiling)
        self._live: dict[str, LiveRun] = {}
        self._finished: OrderedDict[str, LiveRun] = OrderedDict()
        self._resuming: set[str] = set()
        self._left: dict[str, RunRow] = {}
        """Rows of runs that an earlier process left, as they really stand: nothing changes those but `resume`."""
        self._left_found = False
        self.begun = 0
        """How many runs this process has begun: a list that remembers it sees also those that ended since."""
        self.on_end: list[Callable[[LiveRun], None]] = []
        """Told of each run that this process works on no more, once all of it is stored."""

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
        await self._store(live)
        self._begin(live)
        return live

    async def resume(self, run_id: str, *, decided: PauseResolved | None = None, by: str = "user") -> LiveRun:
        """Go on with a run that its process left, in the same trace; returns when that is on disk.

        `decided` is the decision on a pause that was left open. Raises `NotFound`; `Conflict` for a run that has ended
        or goes on, or whose session is answering; `StorageError`.
        """
        live = await self._reopened(run_id, by=by)
        if decided is not None:
            live.run.control.resolve_ahead(decided)
        self._begin(live)
        return live

    async def end(self, run_id: str, *, by: str = "user") -> LiveRun:
        """Give up a run that its process left: its end is put into the trace. Raises like `resume`."""
        live = await self._reopened(run_id, by=by)
        refuse_calls(live.run, "This call was not run: the user stopped the run.")
        live.run.recorder.record(RunFinished(status="cancelled"))
        await self._leave(live)
        return live

    async def left(self) -> list[RunRow]:
        """The newest runs that earlier processes left without an end, as they really stand; looked for once."""
        if not self._left_found:
            self._left_found = True
            for row in self.rows.find(RunFilter(status="running"), limit=MOST_LEFT).rows:
                await self._settled(row)
        return list(self._left.values())

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

    async def _reopened(self, run_id: str, *, by: str) -> LiveRun:
        """The run with all that it left brought to an end, on disk."""
        if run_id in self._live or run_id in self._resuming:
            raise Conflict("This run is going on already.")
        self._resuming.add(run_id)
        try:
            trace = await self.traces.read(run_id)
            started = can_go_on(trace)
            if self.of_session(started.session_id) is not None:
                raise Conflict("The agent is answering in this session. Stop it, or wait until it has finished.")
            writer = await self.traces.reopen(run_id)
            live = LiveRun(self._run(started, Recorder(run_id, writer, self.clock, trace.entries)))
            await pick_up(live.run, trace.draft, by=by)
            await self._store(live)
        finally:
            self._resuming.discard(run_id)
        self._left.pop(run_id, None)
        self._finished.pop(run_id, None)
        return live

    async def _store(self, live: LiveRun) -> None:
        """Bring what the run begins with to disk; a run that cannot is given up."""
        try:
            await live.run.recorder.flush()
            await self.rows.save(_row(live))
        except StorageError:
            live.run.toolset.release()
            live.run.budget.close()
            await live.run.recorder.abandon()
            raise

    def _begin(self, live: LiveRun) -> None:
        self._live[live.run_id] = live
        self.begun += 1
        live.task = asyncio.create_task(self._work(live), name=f"run {live.run_id}")

    def _run(self, started: RunStarted, recorder: Recorder) -> Run:
        """The run, which may have come some way already: what it used up then counts."""
        return Run(
            started=started,
            recorder=recorder,
            models=self.models,
            toolset=self.toolbox.lease(),
            artifacts=self.artifacts,
            budget=Budget(started.limits, self.ledger.open(recorder.run_id, started), self.ledger),
            clock=self.clock,
            stopwatch=Stopwatch(started.limits.total_time, used=active_seconds(recorder.entries)),
            files=files_after(recorder.entries) if recorder.entries else dict(started.files),
            allowed=allowed_before(recorder.entries),
            since=ToolsSince.of(started, self.toolbox) if recorder.entries else ToolsSince(),
        )

    async def _work(self, live: LiveRun) -> None:
        try:
            await run_agent(live.run)
        finally:
            await self._leave(live)

    async def _leave(self, live: LiveRun) -> None:
        """Nobody works on the run any more: store all of it, and keep it at hand."""
        live.run.toolset.release()
        await self._keep(live)
        live.run.budget.close()
        self._live.pop(live.run_id, None)
        self._finished[live.run_id] = live
        while len(self._finished) > KEPT_FINISHED:
            self._finished.popitem(last=False)
        for tell in self.on_end:
            tell(live)

    async def _keep(self, live: LiveRun) -> None:
        """Bring the end of the trace to disk; while that fails (a full disk), try again and say so.

        The row of a run without an end stays one of a running run: how it really stands is seen when it is met.
        """
        while True:
            try:
                await live.run.recorder.close()
                await self.rows.save(_row(live))
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
        if (live := self._live.get(row.run_id)) is not None:
            return run_row(live.entries, alive=True)
        if row.run_id not in self._left:
            trace = await self.trace(row.run_id)
            whole = bool(trace.entries) and isinstance(trace.entries[0].event, RunStarted)
            left = run_row(trace.entries, alive=False) if whole else row.model_copy(update={"status": "interrupted"})
            if row.run_id in self._live or row.run_id in self._resuming:
                return left
            self._left[row.run_id] = left
        return self._left[row.run_id]


def _row(live: LiveRun) -> RunRow:
    """The row to store. Without an end it is one of a running run: how it really stands is seen when it is met."""
    row = run_row(live.entries, alive=True)
    return row if finished(live.entries) else row.model_copy(update={"status": "running"})
