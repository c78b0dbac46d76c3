"""A file that only grows, and of which it is known up to where it is safely on the medium.

After a write or a sync that failed nothing behind that point is trusted: the file is opened anew and cut there. A
failed sync is not tried again on the same descriptor, because the system may have dropped what it could not write.
"""

import contextlib
import errno
from pathlib import Path

from app.store.journal.disk import Disk, write_all


class LogFile:
    def __init__(self, path: Path, disk: Disk, length: int, unended: bytes = b"") -> None:
        """`length`: how many bytes of the file hold; what stands behind them is cut off before the first write.

        `unended` is a line found there that only lacks its end: it is written again with the first write.
        """
        self.path = path
        self.length = length
        """Bytes that are on the medium."""
        self._disk = disk
        self._descriptor: int | None = None
        self._written = length
        self._name_is_durable = False
        self._unended = unended
        self._removed = False

    def write(self, content: bytes) -> None:
        """Write behind what was written, durable with `sync`. Raises `OSError` and forgets what was not synced."""
        try:
            write_all(self._disk, self._opened(), self._unended + content, self._written)
        except OSError:
            self._distrust()
            raise
        self._written += len(self._unended) + len(content)

    def sync(self) -> None:
        """Make all that was written durable. Raises `OSError` and forgets what was not."""
        if self._removed:
            return
        try:
            self._disk.sync(self._opened())
            if not self._name_is_durable:
                self._disk.sync_folder(self.path.parent)
                self._name_is_durable = True
        except OSError:
            self._distrust()
            raise
        self.length = self._written
        self._unended = b""

    def replaced(self, length: int) -> None:
        """Another file of that length took the place of this one; its name is not durable yet."""
        self.close()
        self.length = self._written = length
        self._name_is_durable = False
        self._unended = b""

    def remove(self) -> None:
        """Remove the file, to which nothing is written any more. Raises `OSError`."""
        self.close()
        self._removed = True
        self._disk.remove(self.path)

    def close(self) -> None:
        """Let go of the file; the next write opens it again."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self._disk.close(descriptor)

    def _opened(self) -> int:
        if self._descriptor is None:
            self._disk.make_folder(self.path.parent)
            descriptor = self._disk.open(self.path)
            try:
                self._cut(descriptor)
            except OSError:
                self._disk.close(descriptor)
                raise
            self._written = self.length
            self._descriptor = descriptor
        return self._descriptor

    def _cut(self, descriptor: int) -> None:
        size = self._disk.size(descriptor)
        if size < self.length:
            raise OSError(errno.EIO, f"{self.path.name} was cut short or removed by somebody else")
        if size > self.length:
            self._disk.truncate(descriptor, self.length)

    def _distrust(self) -> None:
        """Begin anew from what is durable; when the disk refuses even that, the next write tries it again."""
        with contextlib.suppress(OSError):
            self.close()
            self._opened()
