"""How slow this machine is, so that what takes a processor long elsewhere is no fault here."""

import time

USUAL = 0.01
"""Seconds of processor time that the piece of work below takes on the machine for which bars are set."""


def slowness() -> float:
    """How many times as long it takes here, 1 at least; the best of five tries."""
    return max(1.0, min(_taken() for _ in range(5)) / USUAL)


def _taken() -> float:
    began, total = time.process_time(), 0
    for number in range(300_000):
        total += number
    return time.process_time() - began
