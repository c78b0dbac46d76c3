"""Processes of which a test knows the number."""

import psutil


def alive(pid: int) -> bool:
    """A zombie is dead: it only waits for somebody to ask how it ended."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
