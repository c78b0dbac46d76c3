"""What pages held of the memory goes back to the system soon after they are gone.

Of the C libraries only glibc keeps what is freed between what is not, and in a pool for each thread, until it is told.
"""

import asyncio
import ctypes
import gc
import sys
from collections.abc import Callable

from nicegui import background_tasks

from app.domain.garbage import collect_all

REST = 5.0
"""Seconds after the first of several pages that go one after the other."""
_ARENA_MAX, _POOLS = -8, 2
_MMAP_THRESHOLD, _LARGE = -3, 256 * 1024
"""Bytes from which on something stands by itself, and goes back when it is freed. See mallopt(3)."""
_SOME = 50_000
"""Objects: where more were set aside since all were looked through, all are again."""
_MUCH = 500_000
"""The same while the app is busy."""


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

        `is_open` says whether there is a page. To look through the pages takes some 50 ms in which the event loop
        stands still, through all objects 100.
        """
        self._library = library
        self._busy = busy
        self._is_open = is_open
        self._rest = rest
        self._giving: asyncio.Task[None] | None = None
        self._stays = gc.get_freeze_count()
        """How many of the objects that are set aside are needed for good, as far as is known."""
        self._pages_too = False
        """Whether pages were open when all objects were set aside last."""

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
        busy, is_open, set_aside = self._busy(), self._is_open(), gc.get_freeze_count()
        self._stays = min(self._stays, set_aside)
        last_is_gone = self._pages_too and not is_open and not busy
        if last_is_gone or set_aside - self._stays > (_MUCH if busy else _SOME):
            found, self._pages_too = collect_all(), is_open
            if found < _SOME or not is_open:  # else pages of that kind come and go: those there are will go as well
                self._stays = gc.get_freeze_count()
        elif not busy:
            gc.collect()


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
