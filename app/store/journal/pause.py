"""A long read in a thread: let the event loop have its turn every few milliseconds."""

import time

_WORK = 0.004
_REST = 0.0002
"""Seconds. Long enough for the interpreter to hand over; a sleep of nothing is not."""


class Pause:
    """Call it often; it sleeps a little when enough was done since it last did."""

    def __init__(self) -> None:
        self._since = time.perf_counter()

    def __call__(self) -> None:
        if time.perf_counter() - self._since > _WORK:
            time.sleep(_REST)
            self._since = time.perf_counter()
