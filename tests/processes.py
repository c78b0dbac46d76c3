"""Processes of which a test knows the number."""

import contextlib

import psutil


def alive(pid: int) -> bool:
    """A zombie is dead: it only waits for somebody to ask how it ended."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def command_of(process: psutil.Process) -> str:
    """What it was started with; its number, once it is gone."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return " ".join(process.cmdline())
    return str(process.pid)
