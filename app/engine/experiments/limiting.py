"""How many cells go on at once with one provider: fewer as soon as it says that it is busy, more while it does not."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

AT_FIRST = 4
CLEAN_CALLS = 20
"""Answers without a refusal after which one more goes on."""


@dataclass(frozen=True)
class Slot:
    """The leave to go on; its holder tells how the provider answers."""

    clean: Callable[[], None]
    """It has answered."""
    busy: Callable[[], None]
    """It had too much to do."""


class Limiter:
    """Additive increase, multiplicative decrease (Chiu and Jain 1989)."""

    def __init__(self) -> None:
        self.allowed = AT_FIRST
        self.running = 0
        self._clean = 0
        self._halvings = 0
        self._freed = asyncio.Event()

    @asynccontextmanager
    async def slot(self, most: int) -> AsyncIterator[Slot]:
        """Waits until fewer go on than are allowed, and than `most`."""
        while self.running >= min(self.allowed, most):
            await self._freed.wait()
        self.running += 1
        began = self._halvings
        try:
            yield Slot(self._went_well, lambda: self._refused(began))
        finally:
            self.running -= 1
            self._wake()

    def _went_well(self) -> None:
        self._clean += 1
        if self._clean >= CLEAN_CALLS:
            self._clean = 0
            self.allowed += 1
            self._wake()

    def _refused(self, began: int) -> None:
        """One refusal halves, not all those of what was going on by then."""
        self._clean = 0
        if began == self._halvings:
            self.allowed = max(1, self.allowed // 2)
            self._halvings += 1

    def _wake(self) -> None:
        self._freed.set()
        self._freed = asyncio.Event()
