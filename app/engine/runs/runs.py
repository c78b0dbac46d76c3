"""All runs of this process. They belong to it and to no page: a tab that closes ends nothing."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from app.domain.branches import Branches
from app.domain.errors import Conflict, NotFound
from app.domain.events import Entry, Forked, MessageAdded, Origin, PauseResolved, RunFinished, RunStarted
from app.domain.messages import Message
from app.domain.provenance import BEHIND, Trigger
from app.domain.sessions import Session
from app.domain.trace import RunRow, RunStatus, StoredTrace, status
from app.domain.values import new_id
from app.engine.loop.calling import refuse_calls
from app.engine.loop.loop import end_stopped, run_agent
from app.engine.ports import Artifacts, Clock, Models, Opening, RunRows, RunSearch, Toolbox, Traces
from app.engine.run.interrupted_runs import InterruptedRuns
from app.engine.run.ledger import Ledger, no_ceiling
from app.engine.run.run import Run
from app.engine.run.storing import Join, store_beginning, store_end
from app.engine.runs.lineage import Lineage
from app.engine.runs.resuming import can_go_on, pick_up
from app.engine.runs.run_lists import RunLists
from app.engine.runs.starting import Starting, past_of, without_secrets
from app.engine.runs.unbroken import Unbroken, end_all
from app.late import late

with late():
    from app.domain.trace import fork_view
    from app.engine.runs import playback

if TYPE_CHECKING:
    from app.domain.secrets.redaction import Redactions

log = logging.getLogger(__name__)

CLOSING_SECONDS = 2.0
"""How long the end of the process waits for what begins, and for what is on its way to the disk."""
KEPT_FINISHED = 30
"""Runs that stay in memory after their end, since their page and the next turn read them."""


Work = Callable[[Run], Coroutine[None, None, None]]
"""What a run does, to its end: the agent's loop, or what else records one."""


async def no_redactions(_trigger: Trigger) -> None:
    """Where no secrets are known."""


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
    month_ceiling: Callable[[], float] = no_ceiling
    """The same of a calendar month."""
    search: RunSearch | None = None
    """What finds runs by what was said in them; without it only their rows are looked at."""
    redactions: "Callable[[Trigger], Awaitable[Redactions | None]]" = no_redactions
    """By who started a run: what takes the known secrets out of it."""

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.rows, self.clock, self.day_ceiling, self.month_ceiling)
        self._live: dict[str, Run] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._finished: OrderedDict[str, Run] = OrderedDict()
        self.unbroken = Unbroken()
        """What begins runs, and is not to be left half done."""
        self.interrupted_runs = InterruptedRuns(self.rows, self.ledger, self.trace, self.is_taken)
        self.begun = 0
        """How many runs this process has begun: a list that remembers it sees also those that ended since."""
        self.begun_behind = 0
        """How many of these are of experiments, judges and tries."""
        self.on_end: list[Callable[[Run], None]] = []
        """Told of each run that this process works on no more, once all of it is stored."""
        self.on_resume: list[Callable[[Run], None]] = []
        """Told of each run that goes on after its process had left it."""
        self.held: Callable[[RunStarted, Sequence[Entry]], RunStarted] = lambda started, _entries: started
        """How a run that its process left may go on, made of how it began and its trace. Raises `Conflict`."""
        parts = (self.traces, self.models, self.toolbox, self.artifacts, self.clock, self.ledger)
        self.starting = Starting(*parts, self.redactions)
        self.lists = RunLists(self.rows, self.search, self.live, self.interrupted_runs)
        self._lineage = Lineage(self.ledger, self.traces, self.rows)

    def beginning(self, session_id: str) -> asyncio.Lock:
        """Held while a run of the session begins or goes on again: it has one live run, whatever its branches."""
        return self._locks.setdefault(session_id, asyncio.Lock())

    def branches(self, session: Session) -> Branches:
        return Branches.of(session, self.rows.turns(session.id))

    async def check_idle(self, session_id: str) -> None:
        """Raises `Conflict` while a run of the session goes on; where its end is only being stored, waits for that."""
        if (live := self.of_session(session_id)) is not None and isinstance(live.entries[-1].event, RunFinished):
            await live.ended()
        if (live := self.of_session(session_id)) is not None:
            raise Conflict(live.unsaved or "The agent is still answering. Stop it, or wait until it has finished.")

    async def start(
        self,
        started: RunStarted,
        message: Message,
        *,
        origin: Origin = "user",
        waited_ms: float | None = None,
        run_id: str | None = None,
        along: Sequence[Message] = (),
        join: Join | None = None,
        work: Work = run_agent,
    ) -> Run:
        """Begin a run with that message, under an id that was kept for it or a new one; returns when both are on disk.

        `along` is what views of apps say with it; `join` is awaited before anything runs; `work` is what the run does.
        Raises `StorageError`, and begins nothing then.
        """
        run_id = run_id or new_id()
        async with self.starting.taking(run_id) as undo:
            told = (MessageAdded(message=one, origin="app") for one in along)
            said = (MessageAdded(message=message, origin=origin, waited_ms=waited_ms), *told)
            live = await self.starting.begun(undo, run_id, started, said)
            await self._begin(live, join=join, work=work)
        return live

    async def fork(
        self,
        prefix: Sequence[Entry],
        started: RunStarted,
        forked: Forked,
        *,
        join: Join | None = None,
    ) -> Run:
        """Go on from the beginning of another run, in a new one; returns when all of that is on disk.

        `prefix` begins with `started`; `join` is awaited before anything runs. Raises `Conflict` where it is to answer
        from the record of the other run and that is gone, `StorageError`; then nothing has begun.
        """
        run_id, origin = new_id(), await playback.record_for(forked, (), self.trace)
        async with self.starting.taking(run_id) as undo:
            recorder = await self.starting.recorder(undo, run_id, started)
            started = await without_secrets(started, recorder)
            await recorder.prepare(started)
            await recorder.copy((prefix[0].model_copy(update={"event": started}), *prefix[1:]))
            recorder.record(forked)  # from here on it is a run of its own: what it used up and what it is allowed
            live = self.starting.equipped(undo, started, recorder, await asyncio.to_thread(past_of, recorder.entries))
            if origin is not None:
                await asyncio.to_thread(playback.answer_from, live, origin)
            await recorder.flush()
            await self._begin(live, join=join)
        return live

    async def resume(self, run_id: str, *, decided: PauseResolved | None = None, by: str = "user") -> Run:
        """Go on with a run that its process left, in the same trace; returns when that is on disk.

        `decided` is the decision on a pause that was left open. Raises `NotFound`; `Conflict` for a run that has ended
        or goes on, whose session is answering, or which answers from the record of a run that is gone; `StorageError`.
        """
        async with self._taking_up(run_id) as undo:
            live = await self._picked_up(undo, run_id, by=by, answering=True)
            if decided is not None:
                live.control.resolve_ahead(decided)
            await self._begin(live)
        for tell in self.on_resume:
            tell(live)
        return live

    async def end(self, run_id: str, *, by: str = "user") -> Run:
        """Give up a run that its process left: its end is put into the trace. Raises like `resume`."""
        return await self.unbroken(self._given_up(run_id, by=by))

    async def _given_up(self, run_id: str, *, by: str) -> Run:
        async with self._taking_up(run_id) as undo:
            live = await self._picked_up(undo, run_id, by=by, answering=False)
            refuse_calls(live, "This call was not run: the user stopped the run.")
            live.recorder.record(RunFinished(status="cancelled"))
            await self._leave(live)
        return live

    async def left(self) -> list[RunRow]:
        """The newest runs that earlier processes left without an end, as they really stand; looked for once."""
        return await self.interrupted_runs.all()

    def row(self, run_id: str) -> RunRow:
        """The kept row of the run; raises `NotFound`."""
        if (row := self.rows.get(run_id)) is None:
            raise NotFound(f"There is no run {run_id!r}.")
        return row

    def live(self, run_id: str) -> Run | None:
        """The run, if it goes on in this process."""
        return self._live.get(run_id)

    def is_taken(self, run_id: str) -> bool:
        """Whether this process works on the run, or is about to."""
        return run_id in self._live or run_id in self.starting.taken

    def recent(self, run_id: str) -> Run | None:
        """The run, if it goes on or ended lately in this process."""
        return self._live.get(run_id) or self._finished.get(run_id)

    def live_runs(self) -> list[Run]:
        return list(self._live.values())

    def of_session(self, session_id: str) -> Run | None:
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
        """How the run with these entries stands; of all that a live one has, no entry is looked at twice."""
        live = self.recent(run_id)
        pauses = live.pauses if live is not None and len(entries) == len(live.entries) else None
        return status(entries, alive=self.is_taken(run_id), pauses=pauses)

    def stop(self, run_id: str) -> None:
        if (live := self._live.get(run_id)) is not None:
            live.stop()

    async def close(self) -> None:
        """End the process's part in all runs: nothing is written but their live text, so that they can go on later."""
        await self.unbroken.close(patience=CLOSING_SECONDS)
        for live in self._live.values():
            live.leave()
        lives = [live.task for live in self._live.values() if live.task is not None]
        await end_all(lives, patience=CLOSING_SECONDS)

    @asynccontextmanager
    async def _taking_up(self, run_id: str) -> AsyncIterator[AsyncExitStack]:
        """Go on with a run that was left, as the only one; `Conflict` where it goes on."""
        if self.is_taken(run_id):
            raise Conflict("This run is going on already.")
        async with self.starting.taking(run_id) as undo:
            yield undo
            self.interrupted_runs.forget(run_id)

    async def _picked_up(self, undo: AsyncExitStack, run_id: str, *, by: str, answering: bool) -> Run:
        """The run with all that it left brought to an end, on disk; `answering` is false where it only ends."""
        trace = await self.traces.read(run_id)
        started = can_go_on(trace)
        if answering:
            started = self.held(started, trace.entries)
        if self.of_session(started.session_id) is not None:
            raise Conflict("The agent is answering in this session. Stop it, or wait until it has finished.")
        found = fork_view.fork_of(trace.entries) if answering else None
        origin = await playback.record_for(found[1], trace.entries[found[0] + 1 :], self.trace) if found else None
        above, below = await self._lineage.above(started), await self._lineage.below(run_id)
        recorder = await self.starting.recorder(undo, run_id, started, trace.entries)
        live = self.starting.equipped(undo, started, recorder)
        self.ledger.remember(live.budget.account, below)
        del above  # the run's own account holds on to them from now on
        live.budget.settle(live.entries)
        if origin is not None:
            await asyncio.to_thread(playback.answer_from, live, origin)
        await pick_up(live, trace.draft, by=by)
        await recorder.flush()
        return live

    async def _begin(self, live: Run, *, join: Join | None = None, work: Work = run_agent) -> None:
        """Work on a run whose trace is on disk; from here on it begins, whoever waits for it."""
        self.unbroken.commit()
        live.task = asyncio.current_task()  # until it has one of its own
        self._live[live.run_id] = live  # before its session names it
        try:
            await store_beginning(live, self.rows, join)
        except BaseException:
            del self._live[live.run_id]
            raise
        self._finished.pop(live.run_id, None)
        self.begun += 1
        self.begun_behind += live.started.purpose in BEHIND
        live.work = asyncio.create_task(work(live), name=f"run {live.run_id}")
        if live.control.stopped:
            live.work.cancel()
        live.go_on(asyncio.create_task(self._live_out(live, live.work), name=f"life of run {live.run_id}"))

    async def _live_out(self, live: Run, work: asyncio.Task[None]) -> None:
        """The one owner of the run's end: however its work ends, what is there of it is stored, and given back once."""
        try:
            await asyncio.wait([work])
        finally:
            work.cancel()  # which has ended, but for a process that waits no longer
            end_stopped(live)
            await self._leave(live)

    async def _leave(self, live: Run) -> None:
        """Nobody works on the run any more: store all of it, and keep it at hand."""
        live.toolset.release()
        try:
            await store_end(live, self.rows, self.clock)
        except asyncio.CancelledError:  # the process ends before the disk has taken all of it
            live.recorder.let_go()
            raise
        finally:
            live.budget.close()
            self._live.pop(live.run_id, None)
        self._finished[live.run_id] = live
        while len(self._finished) > KEPT_FINISHED:
            self._finished.popitem(last=False)
        for tell in self.on_end:
            tell(live)
