"""Shows the app to the person who started it: in a window of its own, in a browser tab, or by the printed address."""

import os
import shutil
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from app.app_window import opened_window

Opening = Literal["window", "tab", "nothing"]

NO_WINDOW = "No Chrome, Edge or Chromium opened a window, so a browser tab is used."
NO_BROWSER = "No browser could be opened. Open the address above in one."
_LIBRARIES = "LD_LIBRARY_PATH"


def open_page(address: str, how: Opening, data: Path) -> list[str]:
    """Show the page; sentences for the terminal where that went another way than was asked for."""
    if how == "nothing":
        return []
    with _of_the_system():
        if how == "window" and opened_window(address, data / "window"):
            return []
        words = [NO_WINDOW] if how == "window" else []
        return words if _opened_tab(address) else [*words, NO_BROWSER]


def open_folder(folder: Path) -> bool:
    """Show the folder in the system's file manager; whether there is one."""
    if sys.platform == "win32":
        os.startfile(folder)  # noqa: S606  the one way to the file manager
        return True
    program = shutil.which("open" if sys.platform == "darwin" else "xdg-open")
    if program is None or not _has_display():
        return False
    with _of_the_system():
        ended = subprocess.run([program, str(folder)], capture_output=True, check=False)  # noqa: S603
    return ended.returncode == 0


def _opened_tab(address: str) -> bool:
    # Without a display Python would start a browser for terminals, and that would take this one over.
    return (_has_display() or bool(os.environ.get("BROWSER"))) and webbrowser.open(address)


def _has_display() -> bool:
    return sys.platform != "linux" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


@contextmanager
def _of_the_system() -> Iterator[None]:
    """Programs of the system are started with its own libraries, not with those that the executable carries."""
    ours = os.environ.get(_LIBRARIES)
    if not getattr(sys, "frozen", False) or ours is None:
        yield
        return
    theirs = os.environ.get(f"{_LIBRARIES}_ORIG")
    os.environ.pop(_LIBRARIES)
    if theirs is not None:
        os.environ[_LIBRARIES] = theirs
    try:
        yield
    finally:
        os.environ[_LIBRARIES] = ours
