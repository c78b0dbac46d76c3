"""Taking turns at something that should not happen too often at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """Lets a few go at once. Who takes longer than `patience` goes on, and no longer keeps the next one waiting."""

    def __init__(self, places: int, *, patience: float) -> None:
        """`patience` in seconds."""
        self._free = asyncio.Semaphore(places)
        self._patience = patience

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        await self._free.acquire()
        place = [self._free]

        def give_back() -> None:
            while place:
                place.pop().release()

        late = asyncio.get_running_loop().call_later(self._patience, give_back)
        try:
            yield
        finally:
            late.cancel()
            give_back()
