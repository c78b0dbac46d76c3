"""What the executable starts with.

The single file is two processes: a starter unpacks it and waits, and the app is its child. Whoever ends the starter by
force means the app, and nobody else would remove what was unpacked: the app sees to both.
"""

import multiprocessing
import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

from later import FOLDER, Later

LOOKS_EVERY = 1.0
"""Seconds between two looks whether the starter still runs."""
_SYNCHRONIZE = 0x0010_0000
_FOREVER = 0xFFFF_FFFF


class Starter:
    """The process that unpacked the single file and waits for this one."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._pid = os.getppid()
        self._gone = False
        threading.Thread(target=self._watch, daemon=True, name="watch the starter").start()

    def clear_up_for_it(self) -> None:
        """Remove what it unpacked, if it is not there to do that."""
        if self._gone or (sys.platform != "win32" and os.getppid() != self._pid):
            shutil.rmtree(self._place, ignore_errors=True)

    def _watch(self) -> None:
        """End this process in good order once the starter has ended."""
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

    place = Path(sys._MEIPASS)
    is_single_file = (place / FOLDER).is_dir()
    if is_single_file:
        sys.meta_path.insert(0, Later(place))
    if not is_single_file or sys.argv[1:] == ["--worker"]:  # a process of a tool file ends with the app by itself
        return main()
    starter = Starter(place)
    try:
        return main()
    finally:
        starter.clear_up_for_it()


if __name__ == "__main__":
    multiprocessing.freeze_support()  # first: a helper process of Python's own must never get past it
    sys.exit(run())
