"""What a piece of work takes of the processor, and how slow that is, so that no other work here makes it a fault."""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

USUAL = 0.01
"""Seconds of processor time that the piece of work below takes on the machine for which bars are set."""


@dataclass
class Work:
    seconds: float = 0.0
    """That this thread was at work, known at its end."""


@contextmanager
def at_work() -> Iterator[Work]:
    """Counts neither other threads nor Python's collector, which would look through what all tests before have left."""
    work, collects = Work(), gc.isenabled()
    gc.disable()
    began = time.thread_time()
    try:
        yield work
    finally:
        work.seconds = time.thread_time() - began
        if collects:
            gc.enable()


def slowness() -> float:
    """How many times as long it takes here, 1 at least; the best of five tries."""
    return max(1.0, min(_taken() for _ in range(5)) / USUAL)


def _taken() -> float:
    with at_work() as work:
        total = 0
        for number in range(300_000):
            total += number
    return work.seconds
