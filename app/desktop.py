"""What is asked of the desktop of the person who started the app: its file manager, its browsers, a screen at all."""

import os
import shutil
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.late import late

with late():
    from app.export import known

PATIENCE = 2.0
"""Seconds within which a file manager that cannot show a folder says so."""
_LIBRARIES = "LD_LIBRARY_PATH"


def open_folder(folder: Path) -> bool:
    """Show the folder in the system's file manager; whether there is one that does. Blocking: meant for a thread."""
    if sys.platform == "win32":
        os.startfile(folder)  # noqa: S606  the one way to the file manager
        return True
    program = shutil.which("open" if sys.platform == "darwin" else "xdg-open")
    if program is None or not has_display():
        return False
    quiet = subprocess.DEVNULL
    with of_the_system():
        manager = subprocess.Popen(  # noqa: S603
            [program, str(folder)], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
        )
    with suppress(subprocess.TimeoutExpired):  # it has a window open
        return manager.wait(PATIENCE) == 0
    return True


def open_tab(address: str) -> bool:
    """Show the address in the person's browser; whether there is one."""
    # Without a display Python would start a browser for terminals, and that would take this one over.
    return (has_display() or bool(os.environ.get("BROWSER"))) and webbrowser.open(address)


def has_display() -> bool:
    """Whether there is a screen on which anything could be opened."""
    return sys.platform != "linux" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


@contextmanager
def of_the_system() -> Iterator[None]:
    """Programs of the system are started with its own libraries, not with those that the executable carries, and
    without the keys among our variables.

    Only what is started sees it: `os.environ` stays as it is, as others read their keys there meanwhile.
    """
    secret = {secret.label for secret in known.named_secrets(os.environ)}  # variables, and passwords within some
    changed: dict[str, str | None] = dict.fromkeys(secret & os.environ.keys())
    if getattr(sys, "frozen", False) and _LIBRARIES in os.environ:
        changed[_LIBRARIES] = os.environ.get(f"{_LIBRARIES}_ORIG")
    for name, value in changed.items():
        if value is None:
            os.unsetenv(name)
        else:
            os.putenv(name, value)
    try:
        yield
    finally:
        for name in changed:
            os.putenv(name, os.environ[name])
