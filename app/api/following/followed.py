"""A run as whoever waits for its answer sees it: one that goes on, or one that ended long ago and is read again."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Protocol
from weakref import WeakValueDictionary

from fastapi import Depends
from starlette.requests import HTTPConnection

from app.domain.events import Entry, PauseRequested, RunStarted
from app.domain.streaming import Draft
from app.domain.trace import RunStatus, StoredTrace, finished, open_pauses, status
from app.workbench import Workbench


class FollowedRun(Protocol):
    @property
    def run_id(self) -> str: ...

    @property
    def started(self) -> RunStarted: ...

    @property
    def entries(self) -> list[Entry]: ...

    @property
    def draft(self) -> Draft: ...

    @property
    def alive(self) -> bool: ...

    @property
    def status(self) -> RunStatus: ...

    @property
    def task(self) -> asyncio.Task[None] | None: ...

    def since(self, seq: int) -> list[Entry]: ...

    def follow(self, seq: int = 0) -> AsyncIterator[Entry]: ...

    async def ended(self) -> None: ...


def waits_at(live: FollowedRun, entry: Entry) -> bool:
    """Whether the run waits there for a person now: who follows it anew comes by pauses that were decided on before."""
    pause = entry.event
    return isinstance(pause, PauseRequested) and finished(live.entries) is None and pause in open_pauses(live.entries)


class StoredRun:
    """A run that nobody works on any more."""

    task = None
    alive = False

    def __init__(self, run_id: str, started: RunStarted, trace: StoredTrace) -> None:
        self.run_id = run_id
        self.started = started
        self.entries = trace.entries
        self.draft = trace.draft

    @property
    def status(self) -> RunStatus:
        return status(self.entries, alive=False)

    def since(self, seq: int) -> list[Entry]:
        return self.entries[seq:]

    async def follow(self, seq: int = 0) -> AsyncIterator[Entry]:
        for entry in self.since(seq):
            yield entry

    async def ended(self) -> None:
        """It has."""


class SharedTraces:
    """Stored traces that several clients follow at once: each is in memory once, only while somebody follows it."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._kept: WeakValueDictionary[str, StoredTrace] = WeakValueDictionary()
        self._reading = asyncio.Lock()

    async def read(self, run_id: str) -> StoredTrace:
        """The stored trace, the same for all who hold it; raises `NotFound`."""
        async with self._reading:
            if (kept := self._kept.get(run_id)) is None:
                kept = self._kept[run_id] = await self._workbench.runs.trace(run_id)
            return kept


async def _shared(connection: HTTPConnection) -> SharedTraces:
    shared: SharedTraces = connection.app.state.shared_traces
    return shared


Shared = Annotated[SharedTraces, Depends(_shared)]
