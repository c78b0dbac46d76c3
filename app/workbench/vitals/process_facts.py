"""What the operating system says of a process. Linux says all of it; what another system does not say is `None`."""

import os
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PROC = Path("/proc")
_RESIDENT, _STARTED = 1, 19
"""Their places in `statm`, and in `stat` after the name. See proc(5)."""


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    memory: int | None = None
    """Bytes that stand in memory."""
    seconds: float | None = None
    """For how long it has been there."""


def process_facts(pid: int) -> ProcessFacts:
    """Nothing of one that has ended."""
    try:
        pages = int((_PROC / str(pid) / "statm").read_text("ascii").split()[_RESIDENT])
        stat = (_PROC / str(pid) / "stat").read_text("utf-8", errors="replace")
    except (OSError, ValueError, IndexError):
        return ProcessFacts()
    started = int(stat.rpartition(")")[2].split()[_STARTED]) / os.sysconf("SC_CLK_TCK")
    return ProcessFacts(pages * os.sysconf("SC_PAGE_SIZE"), time.time() - _boot() - started)


def own_memory() -> int | None:
    """Bytes of this process that stand in memory; takes some hundredths of a millisecond."""
    try:
        pages = int((_PROC / "self" / "statm").read_text("ascii").split()[_RESIDENT])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def open_files() -> tuple[int, int] | None:
    """How many files this process has open, sockets included, and how many of them are sockets."""
    folder = _PROC / "self" / "fd"
    try:
        files = list(folder.iterdir())
    except OSError:
        return None
    return len(files) - 1, sum(map(_is_socket, files))  # one of them is the look itself


def _is_socket(place: Path) -> bool:
    try:
        return str(place.readlink()).startswith("socket:")
    except OSError:  # closed meanwhile
        return False


@cache
def _boot() -> float:
    """When the computer was started, in seconds since 1970."""
    lines = (_PROC / "stat").read_text("ascii").splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("btime "))
