"""What is in memory."""

import gc
from itertools import chain
from operator import countOf


def living(*kinds: type) -> int:
    """How many objects of these very types garbage collection knows of.

    Threads have no turn meanwhile: where one is filling a tuple that is held here, `tuple(...)` raises `SystemError`.
    """
    return sum(countOf(map(type, chain.from_iterable(map(gc.get_objects, (None,)))), kind) for kind in kinds)
