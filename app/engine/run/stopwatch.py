"""The real clock; and time that is used up, which stands still while a run waits for a retry or for a person."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime

from app.domain.values import now


class SystemClock:
    def now(self) -> datetime:
        return now()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Stopwatch:
    """Cancels what runs inside `timer` when its seconds are used up."""

    def __init__(self, seconds: float, *, used: float = 0.0) -> None:
        """`used`: how many of the seconds are gone already."""
        self.seconds = seconds
        self._left = max(0.0, seconds - used)
        self.timer = asyncio.timeout(self._left)
        self._waits = 0

    @property
    def left(self) -> float:
        """Seconds that are not used up."""
        when = self.timer.when()
        return self._left if self._waits or when is None else max(0.0, when - asyncio.get_running_loop().time())

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Time inside does not count; may be nested and overlap."""
        loop = asyncio.get_running_loop()
        if self._waits == 0 and (when := self.timer.when()) is not None:
            self._left = when - loop.time()
            self.timer.reschedule(None)
        self._waits += 1
        try:
            yield
        finally:
            self._waits -= 1
            if self._waits == 0 and not self.timer.expired():
                with suppress(RuntimeError):  # its call has ended; what asked the person is still winding up
                    self.timer.reschedule(loop.time() + self._left)

    def restart(self) -> None:
        """Give all its seconds again from now on."""
        if self.timer.expired() or (self._waits == 0 and self.timer.when() is None):
            return
        self._left = self.seconds
        if self._waits == 0:
            self.timer.reschedule(asyncio.get_running_loop().time() + self.seconds)
