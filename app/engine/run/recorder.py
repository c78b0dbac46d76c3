"""Writes a run's trace: stamps each event, appends it, wakes whoever follows; and keeps the live text beside it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterable
from time import perf_counter
from typing import TYPE_CHECKING

from app.domain.events import Entry, Event, RunFinished, RunStarted
from app.domain.streaming import CallDelta, Delta, Draft
from app.domain.tools import Progress
from app.engine.ports import Clock, TraceWriter

if TYPE_CHECKING:
    from app.domain.secrets.redaction import Redactions

CHECKPOINT_SECONDS = 1.0
"""Live text is on its way to the disk at least this often."""
COPYING_SECONDS = 0.005
"""The loop is left to others this often while a long prefix is copied."""


class Recorder:
    def __init__(
        self,
        run_id: str,
        writer: TraceWriter,
        clock: Clock,
        entries: Iterable[Entry] = (),
        *,
        redactions: "Redactions | None" = None,
    ) -> None:
        """`redactions` take the known secrets out of all that is recorded and shown."""
        self.run_id = run_id
        self.entries: list[Entry] = list(entries)
        self.draft = Draft()
        """The message being written, empty between messages."""
        self.printed: dict[str, str] = {}
        """By call id: what running tools have printed so far."""
        self.progress: dict[str, Progress] = {}
        """By call id: how far running tools say they are."""
        self.closed = False
        """True when nothing more will be recorded, with or without an end."""
        self._writer = writer
        self._clock = clock
        self.redactions = redactions
        self.redaction = redactions.said if redactions else None
        self._cleaned = redactions.streamed.stream() if redactions else None
        self._grown = asyncio.Event()
        self._flushing: Awaitable[None] | None = None
        self._checkpoint: asyncio.TimerHandle | None = None

    async def prepare(self, started: RunStarted) -> None:
        """Make ready to record how the run begins, which may be much."""
        await self._writer.prepare(started)

    def record(self, *events: Event, cleaned: bool = False) -> None:
        """`cleaned`: long ones were looked through for secrets already, off the event loop."""
        for event in events:
            if self.redaction is not None and not cleaned:
                event = self.redaction.value(event)  # noqa: PLW2901
            entry = Entry(run_id=self.run_id, seq=len(self.entries), at=self._clock.now(), event=event)
            self.entries.append(entry)
            self._writer.append(entry)
        self._wake()

    async def copy(self, entries: Iterable[Entry]) -> None:
        """Take over entries of another run, under this one's name and with the times that they have.

        What it began with may be much, so it was looked through for secrets already.
        """
        began = perf_counter()
        for one in entries:
            event = one.event
            if self.redaction is not None and not isinstance(event, RunStarted):
                event = self.redaction.value(event)
            entry = one.model_copy(update={"run_id": self.run_id, "event": event})
            self.entries.append(entry)
            self._writer.append(entry)
            if perf_counter() - began > COPYING_SECONDS:
                await asyncio.sleep(0)
                began = perf_counter()

    def take(self, delta: Delta) -> None:
        """Add a piece to the live text."""
        for piece in [delta] if self._cleaned is None else self._cleaned.take(delta):
            if piece.text or isinstance(piece, CallDelta):
                self.draft.take(piece)
        if self._checkpoint is None:
            self._checkpoint = asyncio.get_running_loop().call_later(CHECKPOINT_SECONDS, self.checkpoint)

    def checkpoint(self) -> None:
        """Send what is new of the live text to the disk."""
        if self._checkpoint is not None:
            self._checkpoint.cancel()
            self._checkpoint = None
        self._writer.checkpoint(self.draft)

    def drop_draft(self) -> Draft:
        """Forget the live text, which has become a message or nothing; what it was."""
        self._end_draft()
        dropped, self.draft = self.draft, Draft()
        self.checkpoint()
        return dropped

    def since(self, seq: int) -> list[Entry]:
        """The entries from `seq` on."""
        return self.entries[seq:]

    async def follow(self, seq: int = 0) -> AsyncIterator[Entry]:
        """Every entry from `seq` on, waiting for new ones until the run has ended."""
        while True:
            grown = self._grown
            for entry in self.since(seq):
                yield entry
                if isinstance(entry.event, RunFinished):
                    return
                seq += 1
            if self.closed:
                return
            await grown.wait()

    async def flush(self) -> None:
        """Return when everything recorded is on disk."""
        await self._writer.flush()

    def flush_soon(self) -> None:
        """Have everything recorded so far written now, while the run goes on; `flushed` waits for it."""
        self._flushing = self._writer.flushing()

    async def flushed(self) -> None:
        """Return when all is on disk that `flush_soon` was told of, if it was told; raises `StorageError`."""
        flushing, self._flushing = self._flushing, None
        if flushing is not None:
            await flushing

    async def close(self) -> None:
        """Flush for the last time; raises `StorageError`, and may then be called again."""
        self.closed = True
        self._wake()
        self._end_draft()
        self.checkpoint()
        await self._writer.flush()
        await self._writer.close()

    def let_go(self) -> None:
        """Record nothing more, and wait for no disk: the process ends, and what it has not written may yet be."""
        self.closed = True
        self._wake()
        self._writer.let_go()

    async def abandon(self) -> None:
        """Give up a run that could not be begun."""
        self.closed = True
        self._wake()
        await self._writer.abandon()

    def _end_draft(self) -> None:
        """Add to it what was held back: nothing more is said."""
        for held in self._cleaned.rest() if self._cleaned else ():
            self.draft.take(held)

    def _wake(self) -> None:
        self._grown.set()
        self._grown = asyncio.Event()
