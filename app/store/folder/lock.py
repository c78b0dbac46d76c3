"""One app per data folder: a lock of the operating system, which a killed process loses at once.

The lock file also says where the app that holds it can be reached, readable by its owner only.
"""

import contextlib
import errno
import logging
import os
import socket
import sys
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from app.domain.errors import FolderInUse
from app.domain.values import Value

log = logging.getLogger(__name__)

LOCK_NAME = "lock"
_LOCKED_BYTE = 1 << 30
"""Far behind the text: Windows would not let anybody read a byte that is locked."""

_TAKEN = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)
"""What the systems say of a lock that somebody else holds; anything else is trouble of another kind."""


class Announcement(Value):
    """Where a running app is reached."""

    pid: int
    port: int
    token: str
    computer: str = ""
    """The name of the computer it runs on: a folder on a network is there for several."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether it runs on another computer."""
        return bool(self.computer) and self.computer != this_computer()

    @property
    def address(self) -> str:
        """The first address a browser opens: it answers as 127.0.0.1 and carries the token."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"


class FolderLock:
    def __init__(self, descriptor: int | None) -> None:
        """`None` holds nothing."""
        self._descriptor = descriptor

    @classmethod
    def take(cls, folder: Path, file: Path | None = None) -> Self:
        """Hold the folder until `release` or the end of the process; raises `FolderInUse`.

        What the last holder said is there until `clear`. `file` is locked in place of the one in the folder.
        """
        descriptor = os.open(file or folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(descriptor)
        except OSError as error:
            os.close(descriptor)
            if error.errno not in _TAKEN:
                raise
            raise FolderInUse(
                f"The data folder {folder} is in use by another Agent Playground. "
                "Use that one, close it, or start with --data and another folder."
            ) from error
        return cls(descriptor)

    def clear(self) -> None:
        """Forget what the last holder said: it is gone."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)

    def announce(self, announcement: Announcement) -> None:
        """Say where this app is reached. On a full disk nobody hears it, and a second start says that it waits."""
        if self._descriptor is None:
            return
        text = announcement.model_dump_json().encode()
        try:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, text)
            os.ftruncate(self._descriptor, len(text))
        except OSError as error:
            log.warning("The lock file cannot be written, so a second start will not find this one: %s", error)

    def let_go(self) -> None:
        """Release it and leave the file as it was."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def release(self) -> None:
        with contextlib.suppress(OSError):  # A folder that went away needs no clean-up.
            self.clear()
        self.let_go()


def this_computer() -> str:
    return socket.gethostname()


def read_announcement(folder: Path, file: Path | None = None) -> Announcement | None:
    """What the app that holds the folder said; a killed one leaves its words behind, so ask it whether it is there.

    `file` is read in place of the one in the folder.
    """
    try:
        return Announcement.model_validate_json((file or folder / LOCK_NAME).read_bytes())
    except (OSError, ValidationError):
        return None


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
