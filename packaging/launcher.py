"""What the executable starts with.

The single file is two processes: its boot loader waits, and the app is its child. Whoever ends the boot loader by force
means the app, and nobody else would remove what it had unpacked for this start: the app sees to both.
"""

import multiprocessing
import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

from single_file import STARTER_VARIABLE

LOOKS_EVERY = 1.0
"""Seconds between two looks whether the boot loader still runs."""
_SYNCHRONIZE = 0x0010_0000
_FOREVER = 0xFFFF_FFFF


class BootLoader:
    """The process that began with the single file and waits for this one."""

    def __init__(self, told: str) -> None:
        pid, _, unpacked = told.partition(":")
        self._pid = int(pid)
        self._unpacked = Path(unpacked)
        self._gone = False
        threading.Thread(target=self._watch, daemon=True, name="watch the boot loader").start()

    def clear_up_for_it(self) -> None:
        """Remove what it unpacked, if it is not there to do that."""
        if self._gone or (sys.platform != "win32" and os.getppid() != self._pid):
            shutil.rmtree(self._unpacked, ignore_errors=True)

    def _watch(self) -> None:
        """End this process in good order once the boot loader has ended."""
        if sys.platform == "win32":
            self._wait_on_windows()
        else:
            while os.getppid() == self._pid:
                time.sleep(LOOKS_EVERY)
        self._gone = True
        signal.raise_signal(signal.SIGTERM)

    def _wait_on_windows(self) -> None:
        import ctypes  # noqa: PLC0415  needed here alone

        kernel = ctypes.WinDLL("kernel32")
        kernel.OpenProcess.restype = ctypes.c_void_p
        kernel.WaitForSingleObject.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
        if handle := kernel.OpenProcess(_SYNCHRONIZE, False, self._pid):
            kernel.WaitForSingleObject(handle, _FOREVER)


def run() -> int:
    from app.__main__ import main  # noqa: PLC0415  not in a helper process of Python's own

    told = os.environ.pop(STARTER_VARIABLE, "")  # whatever is started from here has none
    if not told:
        return main()
    boot_loader = BootLoader(told)
    try:
        return main()
    finally:
        boot_loader.clear_up_for_it()


if __name__ == "__main__":
    multiprocessing.freeze_support()  # first: a helper process of Python's own must never get past it
    sys.exit(run())
