"""The tool files of a folder as they are on disk. Blocking: meant for a thread."""

import os
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

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

    Tool files are `*.py` in the folder and its subfolders. Names with `_` or `.` in front are left out, and so are
    subfolders that are links to elsewhere.
    """
    files = {path.relative_to(root).as_posix(): path for path in _files(root)}
    found = {name: read_file(root, path, known.get(name)) for name, path in sorted(files.items())}
    return {name: reading for name, reading in found.items() if reading is not None}


def read_file(root: Path, path: Path, known: Reading | None = None) -> Reading | None:
    """The file as it is now, `known` where nothing changed, `None` where there is no such file."""
    try:
        if not _is_inside(root, path):
            return Reading(
                path, NO_STAMP, True, trouble="It is a link that leads out of the folder. Copy the file here."
            )
        status = path.stat()
        stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
        if known and known.stamp == stamp and known.settled:
            return known
        return _read(path, status, stamp, known) if stat.S_ISREG(status.st_mode) else None
    except FileNotFoundError:
        return None
    except OSError as error:
        return Reading(path, NO_STAMP, True, trouble=f"It cannot be read: {error.strerror}.")


def _read(path: Path, status: os.stat_result, stamp: Stamp, known: Reading | None) -> Reading:
    settled = time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > SETTLED
    if status.st_size > LARGEST:
        text = f"It has {status.st_size:,} bytes, and a tool file may have {LARGEST:,}. Keep data in a file of its own."
        return Reading(path, stamp, settled, trouble=text)
    try:
        text = path.read_bytes()[:LARGEST].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        trouble = f"It is not written in UTF-8 (byte {error.start:,}). Save it in that encoding."
        return Reading(path, stamp, settled, trouble=trouble)
    text = text.replace("\r\n", "\n")
    seen = known.preview if known and known.text == text else preview(text, path.name)
    return Reading(path, stamp, settled, text=text, preview=seen)


def _is_inside(root: Path, path: Path) -> bool:
    return not path.is_symlink() or path.resolve().is_relative_to(root.resolve())


def _files(root: Path) -> Iterator[Path]:
    for path in _visible(root):
        if path.is_dir():
            if _is_inside(root, path):
                yield from (inner for inner in _visible(path) if _is_tool_file(inner))
        elif _is_tool_file(path):
            yield path


def _is_tool_file(path: Path) -> bool:
    return path.suffix == ".py" and not path.is_dir()


def _visible(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if not path.name.startswith(("_", "."))]
    except OSError:
        return []
