"""How runs come to go on here: each is taken by one, and given back whole where it does not go on after all."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.domain.events import Entry, RunStarted
from app.domain.provenance import Trigger
from app.engine.ports import Clock, Traces
from app.engine.run.live_run import LiveRun
from app.engine.run.recorder import Recorder
from app.engine.runs.run_factory import Past, RunFactory

if TYPE_CHECKING:
    from app.domain.secrets.redaction import Redactions


@dataclass
class Starting:
    traces: Traces
    clock: Clock
    run_factory: RunFactory
    redactions: "Callable[[Trigger], Awaitable[Redactions | None]]"
    taken: dict[str, asyncio.Event] = field(default_factory=dict)
    """Runs that are about to go on here, with what tells when they do, or do not after all."""

    @asynccontextmanager
    async def taking(self, run_id: str) -> AsyncIterator[AsyncExitStack]:
        """Until it goes on, the run is not one that was left; where it does not after all, what was made is undone."""
        told = self.taken[run_id] = asyncio.Event()
        try:
            async with AsyncExitStack() as undo:
                yield undo
                undo.pop_all()
        finally:
            del self.taken[run_id]
            told.set()

    async def settled(self, run_id: str) -> None:
        """Return when the run is not about to go on: it does, or does not."""
        while (told := self.taken.get(run_id)) is not None:
            await told.wait()

    async def recorder(
        self, undo: AsyncExitStack, run_id: str, started: RunStarted, entries: Sequence[Entry] = ()
    ) -> Recorder:
        """For a run that begins like this, or to go on behind `entries`."""
        redactions = await self.redactions(self.run_factory.ledger.root(started).trigger)
        writer = await (self.traces.reopen(run_id) if entries else self.traces.create(run_id, started.session_id))
        recorder = Recorder(run_id, writer, self.clock, entries, redactions=redactions)
        undo.push_async_callback(recorder.abandon)
        return recorder

    def equipped(
        self, undo: AsyncExitStack, started: RunStarted, recorder: Recorder, past: Past | None = None
    ) -> LiveRun:
        """The run with all that it works with."""
        live = LiveRun(self.run_factory.run(started, recorder, past))
        undo.callback(live.let_go)
        return live
