"""Doing something once it has been quiet for a moment."""

import asyncio
from collections.abc import Awaitable, Callable

from nicegui import background_tasks, ui


class Settled:
    """Calls `action` when nobody touched it for `seconds`; it belongs to `place` and ends with its page."""

    def __init__(self, place: ui.element, action: Callable[[], Awaitable[object]], *, seconds: float) -> None:
        self._place = place
        self._action = action
        self._seconds = seconds
        self._task: asyncio.Task[None] | None = None
        place.client.on_delete(self.cancel)

    def touch(self) -> None:
        """Wait anew. An action that is going on already is taken back."""
        self.cancel()
        self._task = background_tasks.create(self._later(), name="settle", context=self._place)

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _later(self) -> None:
        await asyncio.sleep(self._seconds)
        await self._action()
