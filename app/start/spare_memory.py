"""What pages held of the memory goes back to the system soon after they are gone.

Of the C libraries only glibc keeps what is freed between what is not, and in a pool for each thread, until it is told.
"""

import asyncio
import ctypes
import gc
import sys
import time
from collections.abc import Callable

from nicegui import background_tasks

from app.domain.garbage import collect_all, in_doubt, set_aside

REST = 5.0
"""Seconds after the first of several pages that go one after the other."""
_ARENA_MAX, _POOLS = -8, 2
_MMAP_THRESHOLD, _LARGE = -3, 256 * 1024
"""Bytes from which on something stands by itself, and goes back when it is freed. See mallopt(3)."""
_MUCH = 100_000
"""Records: where more may be garbage all is looked through, also while somebody is there."""
_LONG = 0.03
"""Seconds that a look at the pages may take."""
_MOST = 500_000
"""Objects that are set aside: to look through more, as there are with LiteLLM, takes half a second."""


class SpareMemory:
    def __init__(
        self,
        library: ctypes.CDLL | None,
        *,
        busy: Callable[[], bool],
        is_open: Callable[[], bool],
        rest: float = REST,
    ) -> None:
        """Without the C `library` what is freed is not given back; while the app is `busy`, little more is freed.

        `is_open` says whether there is a page. To look through all there is takes half a second in which the event loop
        stands still.
        """
        self._library = library
        self._busy = busy
        self._is_open = is_open
        self._rest = rest
        self._giving: asyncio.Task[None] | None = None
        self._is_due = False

    def keep_little(self) -> None:
        """Have freed memory reused by all threads, and large pieces given back at once."""
        if self._library is not None:
            self._library.mallopt(_ARENA_MAX, _POOLS)
            self._library.mallopt(_MMAP_THRESHOLD, _LARGE)

    def page_gone(self) -> None:
        """Give back what it held, and what others held that go soon."""
        if self._giving is None or self._giving.done():
            self._giving = background_tasks.create(self._give_back(), name="give memory back")

    async def _give_back(self) -> None:
        await asyncio.sleep(self._rest)
        self._collect()
        if self._library is not None:
            await asyncio.to_thread(self._library.malloc_trim, 0)

    def _collect(self) -> None:
        """Elements and their page refer to each other, also where they were set aside with all that was there."""
        busy, is_open = self._busy(), self._is_open()
        if in_doubt() > (_MUCH if busy or is_open else 0):
            collect_all(is_open=is_open)
        elif not busy and self._is_due:
            self._settle(is_open=is_open)
        elif not busy:
            began = time.thread_time()
            gc.collect()
            self._is_due = time.thread_time() - began > _LONG

    def _settle(self, *, is_open: bool) -> None:
        """Look no more through what has come and stays: it takes long, and has the collector come more seldom."""
        self._is_due = False
        if gc.get_freeze_count() > _MOST:
            set_aside()
        else:
            collect_all(is_open=is_open)


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
