"""R1, the process: kill -9 while saving, at random moments and at named points; nothing promised may be missing."""

import os
import sys
import tempfile
from pathlib import Path

from tests.figures import Figure
from tests.store.killing import kill

CYCLES = 1_000


def run(cycles: int = CYCLES) -> list[Figure]:
    """Kill that many times."""
    if not hasattr(os, "fork"):
        return [Figure("R1 kill -9 while saving", "Windows has no fork", f"at least {CYCLES}", None)]
    with tempfile.TemporaryDirectory() as name:
        toll = kill(Path(name), cycles, seed=1)
    for line in (*toll.lost[:20], *toll.unreadable[:20]):
        print(line, file=sys.stderr)
    points = f"{sum(toll.by_point.values())} of them at {len(toll.by_point)} named points"
    return [
        Figure("R1 kill -9 while saving", f"{toll.kills}, {points}", f"at least {CYCLES}", toll.kills >= CYCLES),
        Figure("R1 kills that landed inside a write", str(toll.inside), "at least half", toll.inside * 2 >= toll.kills),
        Figure("R1 kills, promised data lost", str(len(toll.lost)), "0", not toll.lost),
        Figure("R1 kills, folders unreadable", str(len(toll.unreadable)), "0", not toll.unreadable),
    ]
