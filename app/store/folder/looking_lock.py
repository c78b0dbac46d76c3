"""One app per data folder that is only looked at: nothing may be written there, so its lock is somewhere else.

It lies in a folder of this user alone, among the system's temporary files, named after the place of the data folder.
"""

import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path

from app.domain.errors import StorageError


def looking_lock(folder: Path) -> Path:
    """Where that folder's lock lies. Raises `StorageError` where nobody but this user may be sure to write there."""
    own = own_folder(Path(tempfile.gettempdir()))
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
    return own / f"{name}.lock"


def own_folder(parent: Path) -> Path:
    """A folder in there for this user alone. Raises `StorageError`.

    Others may write among temporary files, so what lies there under our name may be somebody else's.
    """
    own = parent / "agent-playground"
    if sys.platform != "win32":
        own = parent / f"agent-playground-{os.geteuid()}"
    try:
        own.mkdir(mode=0o700, exist_ok=True)
        if sys.platform != "win32":
            _check(own, own.lstat())
    except OSError as error:
        raise StorageError(f"{own} cannot be used: {error.strerror or error}.") from error
    return own


if sys.platform != "win32":

    def _check(own: Path, found: os.stat_result) -> None:
        is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
        if not is_ours or found.st_mode & 0o077:
            raise StorageError(f"{own} is not a folder of this user alone. Remove it.")
