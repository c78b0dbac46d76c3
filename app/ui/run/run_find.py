"""The bar above a run's tabs: search in all of its steps, the next error, the step before and after."""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable

from nicegui import events, ui

from app.domain.trace.finding import StepTexts
from app.ui.run.trace_growth import RunSoFar

THREAD_STEPS = 300
"""Steps from which on a search may take longer than the event loop should wait."""


class RunFind(ui.element, component="run_find.js"):
    """`on_go` opens the step with that index."""

    def __init__(self, run: RunSoFar, on_go: Callable[[int], Awaitable[None]]) -> None:
        super().__init__()
        self._run = run
        self._on_go = on_go
        self._texts = StepTexts()
        self._sought = ""
        self._matches: list[int] = []
        self.current: int | None = None
        """The index of the step that was opened last."""
        self._props["troubles"] = 0
        self.on("find", self._find)
        self.on("match", self._next_match)
        self.on("trouble", self._next_trouble)
        self.on("move", self._move)

    def show(self) -> None:
        """Take in what has come; a search that is under way finds it with the next key."""
        if self._props["troubles"] != len(self._run.troubles):
            self._props["troubles"] = len(self._run.troubles)
            self.update()

    async def _find(self, event: events.GenericEventArguments) -> None:
        self._sought = str(event.args)
        await self._search()
        if self._matches:
            start = bisect_left(self._matches, self.current or 0)
            await self._go(self._matches[start % len(self._matches)])
        self._tell()

    async def _search(self) -> None:
        text, steps = self._sought, self._run.steps[:]
        if len(steps) > THREAD_STEPS:
            found = await asyncio.to_thread(self._texts.find, steps, text)
        else:
            found = self._texts.find(steps, text)
        if text == self._sought:  # nothing else was typed meanwhile
            self._matches = found

    async def _next_match(self, event: events.GenericEventArguments) -> None:
        await self._search()
        if self._matches:
            await self._go(_next(self._matches, self.current, int(event.args)))
        self._tell()

    async def _next_trouble(self) -> None:
        places = sorted({place for seq in self._run.troubles if (place := self._run.nearest(seq)) is not None})
        if places:
            await self._go(_next(places, self.current, 1))

    async def _move(self, event: events.GenericEventArguments) -> None:
        if not self._run.steps:
            return
        wanted = 0 if self.current is None else self.current + int(event.args)
        await self._go(max(0, min(len(self._run.steps) - 1, wanted)))

    async def _go(self, index: int) -> None:
        self.current = index
        await self._on_go(index)

    def _tell(self) -> None:
        if not self._sought.strip():
            return
        place = bisect_left(self._matches, self.current or 0) + 1
        words = f"{place:,} of {len(self._matches):,}" if self._matches else "no match"
        self.run_method("tell", words)


def _next(places: list[int], current: int | None, direction: int) -> int:
    """The next of the places in that direction, from the end to the beginning again."""
    if current is None:
        return places[0 if direction > 0 else -1]
    at = bisect_right(places, current) if direction > 0 else bisect_left(places, current) - 1
    return places[at % len(places)]
