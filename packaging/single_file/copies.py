"""The unpacked copies: where they are, whether one is sound, how one is put there, and when others are removed.

Each build has a folder of its own in the user's cache: `program/`, the `mark` that says that all of it reached the disk
and how it looked then, `lock`, which every copy that runs shares, and `unpacking`, which one starter at a time holds.
"""

import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE = 30.0
"""Seconds that one waits for another starter to unpack."""
_LOOKS_EVERY = 0.02
_NAME = re.compile(r"[^/\\]+-[0-9a-f]{16}")
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_PYTHONS_OWN = "__pycache__"
"""What an interpreter of a tool file's owner compiles beside the app's modules: it says nothing about the copy."""


class Refused(OSError):
    """A folder is no safe place for what will be executed."""


class Copy:
    """The copy of one build in the cache."""

    def __init__(self, cache: Path, name: str) -> None:
        self._cache = cache
        self._folder = cache / name
        self.program = self._folder / "program"
        self._mark = self._folder / "mark"

    def use(self) -> int:
        """Keep others from removing it while this process, or what it executes, has the descriptor open."""
        descriptor = _locked(self._folder / "lock", exclusive=False, patience=PATIENCE)
        os.set_inheritable(descriptor, True)
        return descriptor

    @contextmanager
    def unpacking(self) -> Iterator[None]:
        """The time in which nobody else unpacks it; a child that is forked meanwhile has it as well, until it ends."""
        descriptor = _locked(self._folder / "unpacking", exclusive=True, patience=PATIENCE)
        try:
            yield
        finally:
            os.close(descriptor)

    def is_sound(self) -> bool:
        """Whether all is there as it was unpacked, as far as the file system tells without reading the files."""
        try:
            return self._mark.read_text("utf-8") == _appearance(self.program)
        except (OSError, ValueError):
            return False

    def replace(self, unpack: Callable[[Path], None]) -> None:
        """Put a new one there, which is sound once it is settled; raises `OSError` and leaves no part of it."""
        self._mark.unlink(missing_ok=True)
        part, gone = self._folder / "program.part", self._folder / "program.gone"
        try:
            _remove(part)
            unpack(part)
            if os.path.lexists(self.program):  # damaged; an app that runs from there finds the same in the new one
                _remove(gone)
                _move(self.program, gone)
            _move(part, self.program)
        finally:
            _remove(part)
            _remove(gone)

    def settle(self) -> None:
        """Have the disk keep it, and say so: what a loss of power may have damaged has no mark."""
        for path in (self.program, *self.program.rglob("*")):
            if not path.is_symlink():
                _to_disk(path)
        part = self._mark.with_suffix(".part")
        part.write_text(_appearance(self.program), "utf-8")
        _to_disk(part)
        part.replace(self._mark)
        _to_disk(self._folder)

    def clear_others(self) -> None:
        """Remove the copies of other builds that nobody uses."""
        for other in self._cache.iterdir():
            if other != self._folder and _NAME.fullmatch(other.name) and other.is_dir() and not other.is_symlink():
                with suppress(OSError):
                    _clear(other)


def cache_folder(environment: Mapping[str, str] = os.environ, system: str = sys.platform) -> Path:
    """Where the system has programs of this user keep what they can make again."""
    home = Path("~").expanduser()
    if system == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "agent-playground-copies"
    if system == "darwin":
        return home / "Library" / "Caches" / "agent-playground"
    chosen = Path(environment.get("XDG_CACHE_HOME", ""))
    return (chosen if chosen.is_absolute() else home / ".cache") / "agent-playground"


def made_private(folder: Path) -> Path:
    """The folder, made where it is not there; raises `Refused` if others may write to it or nothing runs there."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    if sys.platform == "win32":  # of its user alone, as all in there
        return folder
    about, above = folder.lstat(), folder.parent.stat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & _OTHERS_WRITE:
        raise Refused(f"{folder} is not a folder that this user alone writes to")
    can_be_exchanged = above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX
    if above.st_uid not in (os.geteuid(), 0) or can_be_exchanged:
        raise Refused(f"{folder.parent} belongs to others")
    if os.statvfs(folder).f_flag & getattr(os, "ST_NOEXEC", 0):
        raise Refused(f"{folder} is where nothing may be executed")
    return folder


def _appearance(folder: Path) -> str:
    """All that is in the folder, with owners, rights, sizes and times of its files, a line each."""
    lines = [_line("", folder.lstat())]
    folders = [(str(folder), "")]
    while folders:
        path, above = folders.pop()
        with os.scandir(path) as found:
            for entry in found:
                if entry.name != _PYTHONS_OWN:
                    name, about = above + entry.name, entry.stat(follow_symlinks=False)
                    lines.append(_line(name, about))
                    if stat.S_ISDIR(about.st_mode):
                        folders.append((entry.path, f"{name}/"))
    return "\n".join(sorted(lines))


def _line(name: str, about: os.stat_result) -> str:
    changes = "" if stat.S_ISDIR(about.st_mode) else f"{about.st_size} {about.st_mtime_ns} {about.st_ctime_ns}"
    return f"{name} {about.st_uid} {about.st_mode:o} {changes}"


def _clear(other: Path) -> None:
    """Raises `OSError` while it is used."""
    if sys.platform == "win32":  # which moves no folder of a program that runs
        _remove(other.rename(other.with_name(f"gone-{other.name}")))
        return
    descriptor = _locked(other / "lock", exclusive=True, patience=0)
    try:
        (other / "mark").unlink(missing_ok=True)
        _remove(other)
    finally:
        os.close(descriptor)


def _remove(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink():
        import shutil  # noqa: PLC0415  most starts remove nothing

        shutil.rmtree(folder)
    else:
        folder.unlink(missing_ok=True)


def _move(folder: Path, place: Path) -> None:
    """On Windows whoever looks at new files, as scanners for viruses do, is waited for."""
    until = time.monotonic() + (5 if sys.platform == "win32" else 0)
    while True:
        try:
            folder.rename(place)
        except PermissionError:
            if time.monotonic() >= until:
                raise
            time.sleep(_LOOKS_EVERY)
        else:
            return


def _to_disk(path: Path) -> None:
    if sys.platform == "win32" and path.is_dir():  # which has no way to say it of a folder
        return
    descriptor = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _locked(path: Path, *, exclusive: bool, patience: float) -> int:
    """A descriptor that holds the lock; raises `OSError` when others hold it for longer than these seconds."""
    until = time.monotonic() + patience
    while True:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            _lock(descriptor, exclusive=exclusive)
            if _is_of(descriptor, path):
                return descriptor
        except (BlockingIOError, PermissionError):
            if time.monotonic() >= until:
                os.close(descriptor)
                raise
            time.sleep(_LOOKS_EVERY)
        os.close(descriptor)


def _is_of(descriptor: int, path: Path) -> bool:
    """Whether it is still that file: who waited for a lock may have got that of a copy that was removed meanwhile."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, *, exclusive: bool) -> None:
        if exclusive:  # nothing that runs can be moved there, so that no shared lock is needed
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int, *, exclusive: bool) -> None:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
