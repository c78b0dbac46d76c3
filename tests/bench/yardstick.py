"""How fast the machine is just now: others share its processors, and slow it by up to two for seconds at a time."""

import time

QUIET_MS = 1.0
"""Milliseconds of `work` where nothing else is done, on the machine on which the bars in milliseconds were set."""


def work() -> None:
    """A piece of work of the kind that Python does for the app: calls, lists, dictionaries, texts."""
    found = {f"n{number}": [number, number % 7] for number in range(1_500)}
    order = sorted(found, key=lambda name: (found[name][1], name))
    assert len({name: place for place, name in enumerate(order)}) == 1_500


def slower(ms: float) -> float:
    """How much slower than a quiet one the machine was when `work` took so many milliseconds; 1 at least."""
    return max(1.0, ms / QUIET_MS)


def took() -> float:
    """Milliseconds of `work`, now."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000
