"""What a person tells a run while it goes on: stop, and decisions on its pauses."""

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager

from app.domain.errors import Conflict
from app.domain.events import PauseResolved


class Control:
    def __init__(self) -> None:
        self.stopped = False
        """True when a person ended the run, rather than the process ending under it."""
        self._waiting: dict[str, asyncio.Future[PauseResolved]] = {}

    @contextmanager
    def expecting(self, pause_id: str) -> Iterator[Awaitable[PauseResolved]]:
        """The decision on that pause, to be awaited; it may be handed over from now on."""
        waiting: asyncio.Future[PauseResolved] = asyncio.get_running_loop().create_future()
        self._waiting[pause_id] = waiting
        try:
            yield waiting
        finally:
            del self._waiting[pause_id]

    def resolve(self, resolved: PauseResolved) -> None:
        """Hand over the decision, once; raises `Conflict` when nothing waits for it any more."""
        waiting = self._waiting.get(resolved.pause_id)
        if waiting is None or waiting.done():
            raise Conflict("This question has been answered already, or its run has ended.")
        waiting.set_result(resolved)
