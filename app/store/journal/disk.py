"""Everything the store asks of the disk, as one object: a test hands in one that fails, writes short or keeps a log."""

import contextlib
import errno
import os
import secrets
import sys
import time
from pathlib import Path

_BINARY: int = getattr(os, "O_BINARY", 0)
_BUSY_ON_WINDOWS = (5, 32, 33)
"""Access denied, sharing violation, lock violation: a virus scanner or an indexer holds the file for a moment."""
_WAITS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.0)
"""Seconds between the tries of a replace on Windows."""

SPARE_BYTES = 50 * 1024 * 1024
"""What is left free of a disk by whoever fills it in one go."""


class Disk:
    """The real disk. Files it makes are readable by their owner only (0600), folders too (0700)."""

    def admit(self) -> None:
        """Return where something may be written; raises `StorageError` on a disk that is only read."""

    def open(self, path: Path, *, new: bool = False) -> int:
        """A descriptor to read and write `path`, made when it is missing; with `new` it must not be there yet."""
        flags = os.O_RDWR | os.O_CREAT | _BINARY | (os.O_EXCL if new else 0)
        return os.open(path, flags, 0o600)

    def write(self, descriptor: int, content: memoryview, offset: int) -> int:
        """Write at that offset; returns how many bytes were taken, which may be fewer."""
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.write(descriptor, content)

    def sync(self, descriptor: int) -> None:
        """Return when the file's content is on the medium."""
        if sys.platform == "darwin":
            import fcntl  # noqa: PLC0415  not on Windows

            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        elif sys.platform == "win32":
            os.fsync(descriptor)
        else:
            os.fdatasync(descriptor)

    def size(self, descriptor: int) -> int:
        """Bytes of the file."""
        return os.fstat(descriptor).st_size

    def truncate(self, descriptor: int, length: int) -> None:
        os.ftruncate(descriptor, length)

    def close(self, descriptor: int) -> None:
        os.close(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        """Give `source` the name `target`, whatever had it before."""
        for wait in _WAITS if sys.platform == "win32" else ():
            try:
                source.replace(target)
            except PermissionError as error:
                if getattr(error, "winerror", None) not in _BUSY_ON_WINDOWS:
                    raise
                time.sleep(wait)
            else:
                return
        source.replace(target)

    def sync_folder(self, folder: Path) -> None:
        """Return when the names in the folder are on the medium; Windows does that by itself."""
        if sys.platform == "win32":
            return
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def make_folder(self, folder: Path) -> None:
        """Make the folder and those above it, each durable; nothing happens when it is there."""
        if folder.is_dir():
            return
        self.make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        self.sync_folder(folder.parent)

    def make_private(self, path: Path) -> None:
        """Let nobody but its owner read the file."""
        path.chmod(0o600)

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def read(self, path: Path, length: int = -1) -> bytes:
        """The file's content, or that many bytes at its head; nothing when it is missing."""
        if not path.exists():
            return b""
        with path.open("rb") as file:
            return file.read(length)


def write_all(disk: Disk, descriptor: int, content: bytes | bytearray, offset: int) -> None:
    """Write all of `content` at that offset, however short the single writes are."""
    rest = memoryview(content)
    while rest:
        taken = disk.write(descriptor, rest, offset)
        if taken <= 0:
            raise OSError(errno.EIO, "The disk took nothing of a write")
        rest, offset = rest[taken:], offset + taken


def write_new(disk: Disk, target: Path, content: bytes | bytearray, *, workplace: Path | None = None) -> None:
    """Put a whole file in its place at once; its name is durable after `sync_folder` of the folder it is in.

    It is written in `workplace`, a folder of the same file system, else beside its place.
    """
    temporary = (workplace or target.parent) / f"{target.name}.{secrets.token_hex(6)}.tmp"
    try:
        descriptor = disk.open(temporary, new=True)
        try:
            write_all(disk, descriptor, content, 0)
            disk.sync(descriptor)
        finally:
            disk.close(descriptor)
        disk.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            disk.remove(temporary)
        raise
