"""What the garbage collector walks through: the whole app stands still meanwhile.

Reading much at once, it would walk all of that several times for nothing: one walk over a trace of 20,000 events takes
70 ms, over all that there is once LiteLLM is loaded 500.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_FEW = 2000
_MANY = 10_000
"""Records that one walk over takes 35 ms for."""
_lock = threading.Lock()
_readers = 0
_read = 0
"""The most records that one of these reads."""
_in_doubt = 0


@contextmanager
def no_collection(records: int) -> Iterator[None]:
    """Leave the collector off while that many records are read; of very many, what is there then is set aside.

    Reference counts still free what was read, as it holds no cycles. Few records are not worth it: they are read as
    usual.
    """
    if records <= _FEW:
        yield
        return
    with _off(records):
        yield


def set_aside(records: int = 1) -> None:
    """Have what is there now walked no more until `collect_all`; it holds so many records that may be garbage later."""
    global _in_doubt  # noqa: PLW0603  # the collector is one for the whole process, and so is this
    gc.freeze()
    _in_doubt += records


def walked() -> int:
    """How many objects survived a look and were not set aside: the next one walks through them again.

    They are counted in one call, which no thread can come between: a tuple that another one is filling may be among
    them, and where anybody holds it meanwhile `tuple(...)` raises `SystemError` there.
    """
    return next(map(len, map(gc.get_objects, (2,))))


def in_doubt() -> int:
    """How many records were set aside, with the pages that were open then, since all was walked through last."""
    return _in_doubt


def collect_all(*, is_open: bool) -> None:
    """Free what only refers to itself, also of what was set aside, and set the rest aside; `is_open`: pages as well."""
    global _in_doubt  # noqa: PLW0603
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    _in_doubt = int(is_open)


@contextmanager
def _off(records: int) -> Iterator[None]:
    global _readers, _read  # noqa: PLW0603
    with _lock:
        _readers, _read = _readers + 1, max(_read, records)
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            _readers -= 1
            if _readers == 0:
                if _read > _MANY:
                    set_aside(_read)
                _read = 0
                gc.enable()
