"""Stored traces that several clients follow at once: each is in memory once, and only while somebody follows it."""

import asyncio
from collections.abc import Sequence
from typing import Annotated
from weakref import WeakValueDictionary

from fastapi import Depends
from starlette.requests import HTTPConnection

from app.domain.events import Entry
from app.workbench import Workbench


class KeptTrace:
    """The entries of a run that nobody works on, for as long as this is held."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries


class SharedTraces:
    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._kept: WeakValueDictionary[str, KeptTrace] = WeakValueDictionary()
        self._reading = asyncio.Lock()

    async def read(self, run_id: str) -> KeptTrace:
        """The stored trace; raises `NotFound`."""
        async with self._reading:
            if (kept := self._kept.get(run_id)) is None:
                kept = KeptTrace((await self._workbench.runs.trace(run_id)).entries)
                self._kept[run_id] = kept
            return kept


async def _shared(connection: HTTPConnection) -> SharedTraces:
    shared: SharedTraces = connection.app.state.shared_traces
    return shared


Shared = Annotated[SharedTraces, Depends(_shared)]
