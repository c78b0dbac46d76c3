"""A disk that keeps a log of what it was asked, and what a power cut may leave of it.

What was synced is there. Of what was not, each write may be there, be missing or be there in part, and so may each
change of a name in a folder that was not synced: a medium writes in the order it likes.
"""

import itertools
import random
from dataclasses import dataclass, field
from pathlib import Path

from app.store.journal.disk import Disk

SECTOR = 512
"""Bytes that a medium writes as a whole."""


@dataclass(frozen=True)
class Written:
    file: int
    offset: int
    content: bytes


@dataclass(frozen=True)
class Cut:
    file: int
    length: int


@dataclass(frozen=True)
class Synced:
    file: int


@dataclass(frozen=True)
class Named:
    """A name was given to a file, or taken away from it."""

    path: Path
    file: int | None


@dataclass(frozen=True)
class Moved:
    source: Path
    target: Path
    file: int


@dataclass(frozen=True)
class FolderSynced:
    folder: Path


@dataclass(frozen=True)
class Acknowledged:
    """Somebody was told that this is safe."""

    what: str
    value: str


Record = Written | Cut | Synced | Named | Moved | FolderSynced | Acknowledged


class RecordingDisk(Disk):
    """The real disk, with a log."""

    def __init__(self) -> None:
        self.log: list[Record] = []
        self._files: dict[Path, int] = {}
        self._open: dict[int, int] = {}
        self._made = 0

    def acknowledge(self, what: str, value: str) -> None:
        self.log.append(Acknowledged(what, value))

    def open(self, path: Path, *, new: bool = False) -> int:
        descriptor = super().open(path, new=new)
        if path not in self._files:
            self._made += 1
            self._files[path] = self._made
            self.log.append(Named(path, self._made))
        self._open[descriptor] = self._files[path]
        return descriptor

    def write(self, descriptor: int, content: memoryview, offset: int) -> int:
        taken = super().write(descriptor, content, offset)
        self.log.append(Written(self._open[descriptor], offset, bytes(content[:taken])))
        return taken

    def sync(self, descriptor: int) -> None:
        self.log.append(Synced(self._open[descriptor]))

    def truncate(self, descriptor: int, length: int) -> None:
        super().truncate(descriptor, length)
        self.log.append(Cut(self._open[descriptor], length))

    def replace(self, source: Path, target: Path) -> None:
        super().replace(source, target)
        self._files[target] = self._files.pop(source)
        self.log.append(Moved(source, target, self._files[target]))

    def sync_folder(self, folder: Path) -> None:
        self.log.append(FolderSynced(folder))

    def remove(self, path: Path) -> None:
        super().remove(path)
        if self._files.pop(path, None) is not None:
            self.log.append(Named(path, None))


@dataclass
class _Medium:
    """What is on the medium for sure, and what may be there too."""

    contents: dict[int, bytearray] = field(default_factory=dict)
    names: dict[Path, int] = field(default_factory=dict)
    loose_contents: dict[int, list[Written | Cut]] = field(default_factory=dict)
    loose_names: list[Named | Moved] = field(default_factory=list)

    def take(self, record: Record) -> None:
        match record:
            case Written() | Cut():
                self.loose_contents.setdefault(record.file, []).append(record)
            case Synced(file=file):
                for change in self.loose_contents.pop(file, []):
                    _change(self.contents.setdefault(file, bytearray()), change)
                self.contents.setdefault(file, bytearray())
            case Named() | Moved():
                self.loose_names.append(record)
            case FolderSynced(folder=folder):
                for change in [change for change in self.loose_names if _folder(change) == folder]:
                    self.loose_names.remove(change)
                    _rename(self.names, change)
            case Acknowledged():
                pass


def _folder(change: Named | Moved) -> Path:
    return (change.path if isinstance(change, Named) else change.target).parent


def _change(content: bytearray, change: Written | Cut) -> None:
    if isinstance(change, Cut):
        content[:] = content[: change.length].ljust(change.length, b"\0")
        return
    content[:] = content.ljust(change.offset, b"\0")
    content[change.offset : change.offset + len(change.content)] = change.content


def _rename(names: dict[Path, int], change: Named | Moved) -> None:
    if isinstance(change, Moved):
        names.pop(change.source, None)
        names[change.target] = change.file
    elif change.file is None:
        names.pop(change.path, None)
    else:
        names[change.path] = change.file


def _parts(change: Written | Cut, chance: random.Random) -> list[Written | Cut]:
    """The change, nothing of it, or some of its sectors."""
    if chance.random() < 0.6 or isinstance(change, Cut):
        return [change] if chance.random() < 0.5 else []
    first = SECTOR - change.offset % SECTOR
    edges = [0, *range(first, len(change.content), SECTOR), len(change.content)]
    return [
        Written(change.file, change.offset + start, change.content[start:end])
        for start, end in itertools.pairwise(edges)
        if chance.random() < 0.5
    ]


def acknowledged(log: list[Record], length: int) -> dict[str, str]:
    """The last value of everything that was safe when the power went."""
    return {record.what: record.value for record in log[:length] if isinstance(record, Acknowledged)}


def leave(log: list[Record], length: int, chance: random.Random, origin: Path, target: Path) -> None:
    """Make in `target` what a power cut after that many records of `origin`'s log may have left."""
    medium = _Medium()
    for record in log[:length]:
        medium.take(record)
    for file, changes in medium.loose_contents.items():
        for change in changes:
            for part in _parts(change, chance):
                _change(medium.contents.setdefault(file, bytearray()), part)
    for change in medium.loose_names:
        if chance.random() < 0.5:
            _rename(medium.names, change)
    for path, file in medium.names.items():
        place = target / path.relative_to(origin)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(medium.contents.get(file, bytearray()))
