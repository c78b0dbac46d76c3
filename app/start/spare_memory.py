"""What pages held of the memory goes back to the system soon after they are gone.

Of the C libraries only glibc keeps what is freed between what is not, and in a pool for each thread, until it is told.
"""

import asyncio
import ctypes
import gc
import sys
from collections.abc import Callable
from contextlib import suppress

from nicegui import background_tasks

from app.domain.garbage import collect_all, in_doubt, set_aside, walked

REST = 5.0
"""Seconds after the first of several pages that go one after the other."""
_AT_ONCE = 5
"""Pages that are waited for no longer once so many are gone, not for the end of a run either.

To free what five held takes 20 to 60 ms; three times as many are a stop of more than a tenth of a second.
"""
_ARENA_MAX, _POOLS = -8, 2
_MMAP_THRESHOLD, _LARGE = -3, 256 * 1024
"""Bytes from which on something stands by itself, and goes back when it is freed. See mallopt(3)."""
_MUCH = 100_000
"""Records: where more may be garbage all is looked through, also while somebody is there."""
_MANY = 40_000
"""Objects that a look may find again each time: it takes 30 ms for them."""
_FEW = 2
"""Pages that may be set aside with all else, and so are freed late."""


class SpareMemory:
    def __init__(
        self,
        library: ctypes.CDLL | None,
        *,
        busy: Callable[[], bool],
        pages: Callable[[], int],
        rest: float = REST,
    ) -> None:
        """Without the C `library` what is freed is not given back; what a few pages held waits for the
        end of what keeps the app `busy`.

        `pages` says how many there are. To look through all there is takes half a second in which the event loop
        stands still.
        """
        self._library = library
        self._busy = busy
        self._pages = pages
        self._rest = rest
        self._giving: asyncio.Task[None] | None = None
        self._gone = 0
        self._many_gone = asyncio.Event()

    def keep_little(self) -> None:
        """Have freed memory reused by all threads, and large pieces given back at once."""
        if self._library is not None:
            self._library.mallopt(_ARENA_MAX, _POOLS)
            self._library.mallopt(_MMAP_THRESHOLD, _LARGE)

    def page_gone(self) -> None:
        """Give back what it held, and what others held that go soon."""
        self._gone += 1
        if self._gone >= _AT_ONCE:
            self._many_gone.set()
        if self._giving is None or self._giving.done():
            self._giving = background_tasks.create(self._give_back(), name="give memory back")

    async def _give_back(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._rest):
                await self._many_gone.wait()
        self._many_gone.clear()
        self._collect()
        if self._library is not None:
            await asyncio.to_thread(self._library.malloc_trim, 0)

    def _collect(self) -> None:
        """Elements and their page refer to each other, also where they were set aside with all that was there."""
        busy, pages = self._busy(), self._pages()
        if in_doubt() > (_MUCH if busy or pages else 0):
            self._gone = 0
            collect_all(is_open=pages > 0)
        elif not busy or self._gone >= _AT_ONCE:
            self._gone = 0
            gc.collect()
            if not busy and pages <= _FEW and (stays := walked()) > _MANY:
                set_aside(stays if pages else 0)


def glibc() -> ctypes.CDLL | None:
    """The C library, where it is that one."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    try:
        library.gnu_get_libc_version  # noqa: B018  to ask for it is to look for it
    except AttributeError:
        return None
    return library
