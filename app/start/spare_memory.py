"""What pages held of the memory goes back to the system soon after they are gone.

Of the C libraries only glibc keeps what is freed between what is not, and in a pool for each thread, until it is told.
"""

import asyncio
import ctypes
import gc
import sys
from collections.abc import Callable

from nicegui import background_tasks

REST = 5.0
"""Seconds after the first of several pages that go one after the other."""
_ARENA_MAX, _POOLS = -8, 2
_MMAP_THRESHOLD, _LARGE = -3, 256 * 1024
"""Bytes from which on something stands by itself, and goes back when it is freed. See mallopt(3)."""


class SpareMemory:
    def __init__(self, library: ctypes.CDLL | None, busy: Callable[[], bool], rest: float = REST) -> None:
        """Nothing is given back without the C `library`; while the app is `busy`, only what is freed already.

        To find what else can be freed takes some 50 ms in which the event loop stands still.
        """
        self._library = library
        self._busy = busy
        self._rest = rest
        self._giving: asyncio.Task[None] | None = None

    def keep_little(self) -> None:
        """Have freed memory reused by all threads, and large pieces given back at once."""
        if self._library is not None:
            self._library.mallopt(_ARENA_MAX, _POOLS)
            self._library.mallopt(_MMAP_THRESHOLD, _LARGE)

    def page_gone(self) -> None:
        """Give back what it held, and what others held that go soon."""
        if self._library is not None and (self._giving is None or self._giving.done()):
            self._giving = background_tasks.create(self._give_back(self._library.malloc_trim), name="give memory back")

    async def _give_back(self, trim: Callable[[int], int]) -> None:
        await asyncio.sleep(self._rest)
        if not self._busy():
            gc.collect()  # elements and their page refer to each other
        await asyncio.to_thread(trim, 0)


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
