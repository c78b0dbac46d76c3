"""The tool files of a folder as they are on disk. Blocking: meant for a thread."""

import os
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.domain.values import well_formed
from app.tools.user_tools.preview import NOTHING, Preview, preview

LARGEST = 1_000_000
"""Bytes."""
SETTLED = 1_000_000_000
"""Nanoseconds after which a change surely has another time: a file read sooner is read again."""

Stamp = tuple[int, ...]
"""Times of the last change of its content and its properties in nanoseconds, bytes, and which file it is."""
NO_STAMP: Stamp = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """A file as it was when it was last read."""

    path: Path
    stamp: Stamp
    settled: bool
    text: str | None = None
    """`None` where `trouble` says why it cannot be used."""
    trouble: str = ""
    preview: Preview = NOTHING


def read_folder(root: Path, known: Mapping[str, Reading]) -> dict[str, Reading]:
    """Every tool file by its name, sorted; one that is the same as in `known` is that very reading.

    Tool files are `*.py` in `tool_folders`, but for names with `_` or `.` in front. Whatever stands under such a name
    is judged alone, and says why it cannot be used.
    """
    files = {well_formed(path.relative_to(root).as_posix()): path for path in tool_paths(root)}
    found = {name: read_file(root, path, known.get(name)) for name, path in files.items()}
    return {name: reading for name, reading in found.items() if reading is not None}


def tool_folders(root: Path) -> list[Path]:
    """The folder, and its subfolders but for those that are links to elsewhere."""
    return [root, *(path for path in _visible(root) if _is_folder(path) and _is_inside(root, path))]


def tool_paths(root: Path) -> list[Path]:
    """Where the tool files are, sorted."""
    files = [path for folder in tool_folders(root) for path in _visible(folder) if path.suffix == ".py"]
    return sorted((path for path in files if not _is_folder(path)), key=str)


def read_file(root: Path, path: Path, known: Reading | None = None) -> Reading | None:
    """The file as it is now, `known` where nothing changed, `None` where there is no such file."""
    try:
        found: Reading | None = _judged(root, path, known)
    except FileNotFoundError:
        found = _unusable(path, "It is a link to a file that is not there.") if path.is_symlink() else None
    except OSError as error:
        found = _unusable(path, f"It cannot be read: {error.strerror}.")
    except Exception as error:  # noqa: BLE001  one file's trouble, of whatever kind, is that file's alone
        found = _unusable(path, f"It cannot be read: {error}")
    return known if found == known else found


def _judged(root: Path, path: Path, known: Reading | None) -> Reading:
    """Nothing is opened that may keep who opens it waiting, as a pipe or a device does."""
    if (name := well_formed(str(path))) != str(path):
        return _unusable(Path(name), "Its name is not written in UTF-8. Rename it.")
    if not _is_inside(root, path):
        return _unusable(path, "It is a link that leads out of the folder. Copy the file here.")
    status = path.stat()
    if known and known.settled and known.stamp == _stamp(status):
        return known
    if not stat.S_ISREG(status.st_mode):
        return _unusable(path, "It is a pipe, a socket or a device, and no file.")
    return _read(path, known)


def _unusable(path: Path, trouble: str) -> Reading:
    return Reading(path, NO_STAMP, True, trouble=trouble)


def _stamp(status: os.stat_result) -> Stamp:
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


def _read(path: Path, known: Reading | None) -> Reading:
    with open(path, "rb", opener=_at_once) as file:
        status = os.fstat(file.fileno())  # of what took its place meanwhile
        content = file.read(LARGEST + 1) if stat.S_ISREG(status.st_mode) else b""
    stamp, settled = _stamp(status), time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > SETTLED
    size = max(status.st_size, len(content))
    if size > LARGEST:
        text = f"It has {size:,} bytes, and a tool file may have {LARGEST:,}. Keep data in a file of its own."
        return Reading(path, stamp, settled, trouble=text)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        trouble = f"It is not written in UTF-8 (byte {error.start:,}). Save it in that encoding."
        return Reading(path, stamp, settled, trouble=trouble)
    text = text.replace("\r\n", "\n")
    seen = known.preview if known and known.text == text else preview(text, path.name)
    return Reading(path, stamp, settled, text=text, preview=seen)


def _at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _is_inside(root: Path, path: Path) -> bool:
    # Not `Path.resolve`: of a link that points at itself it raises what is no `OSError`.
    return not path.is_symlink() or Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def _is_folder(path: Path) -> bool:
    with suppress(OSError):  # of what may not be looked at
        return path.is_dir()
    return False


def _visible(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if not path.name.startswith(("_", "."))]
    except OSError:
        return []
