"""What the system says of a disk in trouble, in words for a person."""

import errno
from pathlib import Path

from app.domain.errors import StorageError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)


def is_refusal(error: OSError) -> bool:
    """Whether it is about who may write there."""
    return error.errno in _REFUSED


def in_words(error: OSError, path: Path) -> StorageError:
    """The error of a read or write of `path`, with the way out."""
    if error.errno in _FULL:
        return StorageError(
            f"There is no room left to write {path}. Free some disk space and try again; what was saved is unharmed."
        )
    if error.errno in _REFUSED:
        return StorageError(
            f"{path} cannot be written: {error.strerror}. Make its folder writable, or choose another with --data."
        )
    return StorageError(
        f"{path} could not be written or read: {error.strerror or error}. Check the disk and try again."
    )
