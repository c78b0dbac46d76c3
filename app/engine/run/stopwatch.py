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
        self._parts = 0
        self._still = False

    @property
    def left(self) -> float:
        """Seconds that are not used up."""
        when = self.timer.when()
        return self._left if self._still or when is None else max(0.0, when - asyncio.get_running_loop().time())

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Time inside does not count, unless another part goes on; may be nested and overlap."""
        self._waits += 1
        self._settle()
        try:
            yield
        finally:
            self._waits -= 1
            self._settle()

    @contextmanager
    def part(self) -> Iterator[None]:
        """What is done inside goes on beside other parts: time stands still only while each of them waits."""
        self._parts += 1
        self._settle()
        try:
            yield
        finally:
            self._parts -= 1
            self._settle()

    @property
    def stands_still(self) -> bool:
        """Whether something waits, and no part goes on beside it."""
        return self._waits > 0 and self._waits >= self._parts

    def _settle(self) -> None:
        still, when = self.stands_still, self.timer.when()
        if still == self._still:
            return
        now = asyncio.get_running_loop().time()
        with suppress(RuntimeError):  # its time is over; what was timed is still winding up
            if still and when is not None:
                self._still, self._left = True, when - now
                self.timer.reschedule(None)
            elif not still:
                self._still = False
                self.timer.reschedule(now + self._left)

    def restart(self) -> None:
        """Give all its seconds again from now on."""
        if self.timer.expired() or (not self._still and self.timer.when() is None):
            return
        self._left = self.seconds
        if not self._still:
            self.timer.reschedule(asyncio.get_running_loop().time() + self.seconds)
