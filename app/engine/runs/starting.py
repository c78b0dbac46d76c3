"""How runs come to go on here: each is taken by one, and given back whole where it does not go on after all."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from app.domain.events import Entry, MessageAdded, RunStarted
from app.domain.provenance import Trigger
from app.domain.trace import active_seconds, files_after
from app.engine.loop.loading import Loading
from app.engine.ports import Artifacts, Clock, Computing, Models, Spawner, Toolbox, Traces
from app.engine.run.ledger import Ledger
from app.engine.run.limits import Budget
from app.engine.run.recorder import Recorder
from app.engine.run.run import Run
from app.engine.run.stopwatch import Stopwatch
from app.engine.run.tools_since import ToolsSince
from app.engine.runs.resuming import allowed_before
from app.late import late, read

with late():
    from app.engine.workflows import walking

if TYPE_CHECKING:
    from app.domain.secrets.redaction import Redactions


SHORT = 10_000
"""Characters of a message."""
FEW_TOOLS = 50

E = TypeVar("E", RunStarted, MessageAdded)


@dataclass(frozen=True)
class Past:
    """What a run that goes on has to know of how far it came."""

    active_seconds: float
    files: dict[str, str]
    allowed: set[str]


def past_of(entries: Sequence[Entry]) -> Past:
    """Looks at each entry: of a long run in a thread."""
    return Past(active_seconds(entries), files_after(entries), allowed_before(entries))


@dataclass
class Starting:
    traces: Traces
    models: Models
    toolbox: Toolbox
    artifacts: Artifacts
    clock: Clock
    ledger: Ledger
    redactions: "Callable[[Trigger], Awaitable[Redactions | None]]"
    taken: dict[str, asyncio.Event] = field(default_factory=dict)
    """Runs that are about to go on here, with what tells when they do, or do not after all."""
    tool_share: Callable[[], float] = lambda: 0.1
    """Of a model's context that schemas of tools may fill."""
    spawner: Spawner | None = None
    """Starts the runs that agents hand tasks to; without it they may not."""
    computing: Computing | None = None
    """Reads the expressions of workflows; without it none can be run."""

    @property
    def loading(self) -> Loading:
        return Loading(self.models, self.toolbox, self.tool_share)

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
        if started.workflow is not None:  # the first one reads what walks through it
            await asyncio.to_thread(read, walking)
        redactions = await self.redactions(self.ledger.root(started).trigger)
        writer = await (self.traces.reopen(run_id) if entries else self.traces.create(run_id, started.session_id))
        recorder = Recorder(run_id, writer, self.clock, entries, redactions=redactions)
        undo.push_async_callback(recorder.abandon)
        return recorder

    async def begun(self, undo: AsyncExitStack, run_id: str, started: RunStarted, said: Iterable[MessageAdded]) -> Run:
        """A run that begins with those messages, which are on disk with how it began."""
        recorder = await self.recorder(undo, run_id, started)
        started = await without_secrets(started, recorder)
        clean = [await without_secrets(one, recorder) for one in said]
        await recorder.prepare(started)
        live = self.equipped(undo, started, recorder)
        recorder.record(started, *clean, cleaned=True)
        await recorder.flush()
        return live

    def equipped(self, undo: AsyncExitStack, started: RunStarted, recorder: Recorder, past: Past | None = None) -> Run:
        """The run with all that it works with; where it came some way already, what it used up then counts."""
        past = past or past_of(recorder.entries)
        live = Run(
            started=started,
            recorder=recorder,
            models=self.models,
            toolset=self.toolbox.lease(),
            artifacts=self.artifacts,
            budget=Budget(started.limits, self.ledger.open(recorder.run_id, started), self.ledger),
            clock=self.clock,
            stopwatch=Stopwatch(started.limits.total_time, used=past.active_seconds),
            files=past.files if recorder.entries else dict(started.files),
            allowed=past.allowed,
            tools_since=ToolsSince.of(started, self.toolbox) if recorder.entries else ToolsSince(),
            spawner=self.spawner,
            computing=self.computing,
            walk=None if started.workflow is None else walking.walk,
        )
        undo.callback(live.let_go)
        return live


async def without_secrets(event: E, recorder: Recorder) -> E:
    """What a run begins with may be much: then a thread looks through it."""
    redaction = recorder.redaction
    if redaction is None or _is_short(event):
        return event if redaction is None else redaction.value(event)
    return await asyncio.to_thread(redaction.value, event)


def _is_short(event: RunStarted | MessageAdded) -> bool:
    """Whether it is looked through sooner than a thread would begin to."""
    if isinstance(event, MessageAdded):
        return len(event.message.text) <= SHORT
    return not event.history and event.workflow is None and len(event.tools) <= FEW_TOOLS
