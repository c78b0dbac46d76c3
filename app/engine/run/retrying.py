"""The wait before a further attempt at a model call, which a person may cut short in either direction."""

import asyncio
from collections.abc import Coroutine

from app.domain.errors import Conflict


class Retrying:
    def __init__(self) -> None:
        self._decided: asyncio.Future[bool] | None = None

    async def wait(self, sleep: Coroutine[None, None, None]) -> bool:
        """Return when `sleep` is over or a person has decided: whether it is to be tried again."""
        self._decided = decided = asyncio.get_running_loop().create_future()
        sleeping = asyncio.ensure_future(sleep)
        try:
            await asyncio.wait((sleeping, decided), return_when=asyncio.FIRST_COMPLETED)
            return decided.result() if decided.done() else True
        finally:
            self._decided = None
            sleeping.cancel()

    def decide(self, *, again: bool) -> None:
        """Try again now, or give up; raises `Conflict` when no call waits to be tried again."""
        if self._decided is None or self._decided.done():
            raise Conflict("Nothing waits to be tried again any more.")
        self._decided.set_result(again)
