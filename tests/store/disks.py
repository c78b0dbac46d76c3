"""Disks that get into trouble as told, one that keeps a log of all it was asked, and one that is soon full."""

import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from app.store.journal.disk import Disk

T = TypeVar("T")

CALLS = ("open", "write", "sync", "truncate", "replace", "sync_folder")


def full() -> OSError:
    return OSError(errno.ENOSPC, "No space left on device")


def broken() -> OSError:
    return OSError(errno.EIO, "Input/output error")


class TroubledDisk(Disk):
    """The real disk, but from the `first`-th call of the given kinds on, `times` of them fail."""

    def __init__(
        self,
        *kinds: str,
        first: int = 1,
        times: int = 1,
        error: Callable[[], OSError] = broken,
        half: bool = False,
    ) -> None:
        """`half`: a failing write first writes half of what it was given."""
        self.kinds = kinds or CALLS
        self.first = first
        self.times = times
        self.error = error
        self.half = half
        self.calls = 0

    @property
    def got_through(self) -> bool:
        """Whether the trouble was never reached."""
        return self.calls < self.first

    def heal(self) -> None:
        self.times = 0

    def open(self, path: Path, *, new: bool = False) -> int:
        self._try("open")
        return super().open(path, new=new)

    def write(self, descriptor: int, content: memoryview, offset: int) -> int:
        try:
            self._try("write")
        except OSError:
            if self.half and len(content) > 1:
                super().write(descriptor, content[: len(content) // 2], offset)
            raise
        return super().write(descriptor, content, offset)

    def sync(self, descriptor: int) -> None:
        self._try("sync")
        super().sync(descriptor)

    def truncate(self, descriptor: int, length: int) -> None:
        self._try("truncate")
        super().truncate(descriptor, length)

    def replace(self, source: Path, target: Path) -> None:
        self._try("replace")
        super().replace(source, target)

    def sync_folder(self, folder: Path) -> None:
        self._try("sync_folder")
        super().sync_folder(folder)

    def _try(self, kind: str) -> None:
        if kind in self.kinds:
            self.calls += 1
            if self.first <= self.calls < self.first + self.times:
                raise self.error()


class ShortDisk(Disk):
    """A disk that takes a few bytes of each write only."""

    def write(self, descriptor: int, content: memoryview, offset: int) -> int:
        return super().write(descriptor, content[:7], offset)


@contextmanager
def small_disk(folder: Path, *, megabytes: int) -> Iterator[Path]:
    """A real file system of that size, in a folder of that one; without leave to make one the test is skipped."""
    place = folder / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)]
    if os.name == "nt" or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("Only root may make a small file system")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)
