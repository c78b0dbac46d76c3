"""The backups of a data folder: taken while it is used, looked through, and put back at the next start.

What is restored is unpacked and checked beside the data; only a start, when nobody works with the data, puts it in its
place, and keeps what was there in a folder `before-restore-…`. A start that is killed meanwhile goes on with the next.
"""

import asyncio
import contextlib
import os
import re
import secrets
import shutil
import zipfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from app.domain.errors import NotFound, StorageError
from app.domain.unpacked import check_listing
from app.domain.values import now
from app.late import late
from app.store.folder.archive import (
    LARGEST_MANIFEST,
    PARTS,
    Fitting,
    Manifest,
    check_file,
    is_own,
    is_safe,
    read_manifest,
    write_archive,
)
from app.store.journal.disk import SPARE_BYTES, Disk
from app.store.journal.trouble import in_words

with late():
    from app.store.folder import foreign_data

FOLDER = "backups"
WAITING = "restore"
"""The folder of what the next start puts in its place."""
UNPACKING = "restore.unpacking"
"""Where that is unpacked; a killed app leaves it behind."""
GIVEN_UP = "restore.given-up"
"""Where that is removed from; likewise."""
_KEPT_AS = "kept-as"
_JUDGED = "judged"
"""Says that what waits decides nothing that it may not; earlier versions let all of it wait."""
_PIECE = 1024 * 1024
_BINARY: int = getattr(os, "O_BINARY", 0)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._()-]{0,120}\.zip")


@dataclass(frozen=True, slots=True)
class Backup:
    name: str
    size: int
    """Bytes of the zip file."""
    made_at: datetime
    left_out: tuple[str, ...] = ()
    """Of one that was just taken: files whose names some system could not take."""


class Backups:
    def __init__(self, folder: Path, schema: int, disk: Disk | None = None) -> None:
        """`folder`: the data folder, whose data has that schema number."""
        self._disk = disk or Disk()
        self._data = folder
        self._schema = schema
        self._one_at_a_time = asyncio.Lock()

    async def take(self) -> Backup:
        """Copy the data as it is now. Raises `StorageError`."""
        self._disk.admit()
        async with self._one_at_a_time:
            target = self._new(f"backup-{now():%Y%m%d-%H%M%S}")
            manifest = await asyncio.to_thread(write_archive, self._data, target, self._schema)
            return replace(_backup(target), left_out=manifest.left_out)

    async def all(self) -> list[Backup]:
        """The backups there are, the newest first."""
        return await asyncio.to_thread(self._all)

    def path(self, name: str) -> Path:
        """Where the backup of that name is; raises `NotFound`."""
        path = self._data / FOLDER / name
        if not _NAME.fullmatch(name) or not path.is_file():
            raise NotFound(f"There is no backup {name[:80]!r}.")
        return path

    async def remove(self, name: str) -> None:
        """Delete the zip file. Raises `NotFound`, `StorageError`."""
        self._disk.admit()
        path = self.path(name)
        try:
            await asyncio.to_thread(path.unlink)
        except OSError as error:
            raise in_words(error, path) from error

    async def receive(self, pieces: AsyncIterator[bytes]) -> Backup:
        """Keep a backup that arrives in pieces, once it is looked through.

        Raises `StorageError` in words when it is none or there is no room for it; then nothing of it is left.
        """
        self._disk.admit()
        unfinished = self._data / FOLDER / f"arriving-{secrets.token_hex(6)}.tmp"
        try:
            async for piece in _in_larger_pieces(pieces):
                await asyncio.to_thread(_append, unfinished, piece)
            async with self._one_at_a_time:  # so that no two take one name
                return await asyncio.to_thread(self._taken_in, unfinished)
        finally:
            await asyncio.to_thread(unfinished.unlink, missing_ok=True)

    def check(self, path: Path, name: str = "") -> Manifest:
        """Read all of a backup. Raises `StorageError` for one that cannot be restored here, in words; blocks."""
        with _opened(path, name or path.name) as archive:
            manifest = self._manifest(archive, name or path.name)
            for inner, wanted in manifest.files.items():
                check_file(archive, inner, wanted)
        return manifest

    async def to_allow_again(self, name: str) -> list[str]:
        """What a restore of that backup leaves to be allowed again, in sentences; nothing of one that was taken here.

        Raises `NotFound`, `StorageError`.
        """
        async with self._one_at_a_time:
            return await asyncio.to_thread(self._looked_at, self.path(name))

    async def restore(self, name: str) -> Manifest:
        """Have the next start put that backup in the place of the data, as far as it may decide anything here.

        Raises `NotFound`, `StorageError`.
        """
        self._disk.admit()
        async with self._one_at_a_time:
            return await asyncio.to_thread(self._unpack, self.path(name))

    @property
    def waits(self) -> bool:
        """Whether the next start restores a backup."""
        return (self._data / WAITING).is_dir()

    async def give_up(self) -> None:
        """Restore nothing at the next start. Raises `StorageError`."""
        self._disk.admit()
        async with self._one_at_a_time:
            try:
                await asyncio.to_thread(self._give_up)
            except OSError as error:
                raise in_words(error, self._data / WAITING) from error

    def _give_up(self) -> None:
        """It waits no more before any of it is removed: no start puts back what a kill has left of it."""
        shutil.rmtree(self._data / GIVEN_UP, ignore_errors=True)
        if self.waits:
            (self._data / WAITING).replace(self._data / GIVEN_UP)
            self._disk.sync_folder(self._data)
            shutil.rmtree(self._data / GIVEN_UP, ignore_errors=True)

    def _taken_in(self, unfinished: Path) -> Backup:
        self.check(unfinished, "This file")
        target = self._new(f"uploaded-{now():%Y%m%d-%H%M%S}")
        _sync(self._disk, unfinished)
        unfinished.replace(target)
        self._disk.sync_folder(target.parent)
        return _backup(target)

    def _all(self) -> list[Backup]:
        found = [_backup(path) for path in (self._data / FOLDER).glob("*.zip") if _NAME.fullmatch(path.name)]
        return sorted(found, key=lambda backup: backup.made_at, reverse=True)

    def _new(self, stem: str) -> Path:
        tried = (self._data / FOLDER / f"{stem}{suffix}.zip" for suffix in ("", *(f"-{n}" for n in range(2, 1000))))
        return next(path for path in tried if not path.exists())

    def _manifest(self, archive: zipfile.ZipFile, name: str) -> Manifest:
        """What is in it, which may be restored here as far as its names tell.

        Of one that was taken here, what does not fit is left out: it was a person's own file.
        """
        manifest = read_manifest(archive, name)
        if manifest.schema_number > self._schema:
            raise StorageError(
                f"“{name}” holds data of a newer Agent Playground (version {manifest.version}). "
                "Update the app to restore it."
            )
        fits = Fitting()
        fitting = {path: file for path, file in manifest.files.items() if fits(path)}
        if len(fitting) < len(manifest.files) and is_own(archive, self._data):
            manifest = manifest.model_copy(update={"files": fitting})
        if tricks := [path for path in manifest.files if not is_safe(path)]:
            raise StorageError(f"“{name}” is no backup of Agent Playground: it holds a file {tricks[0][:80]!r}.")
        if len(fitting) < len(manifest.files) or "app.tdb" not in fitting:
            raise StorageError(f"“{name}” is no backup of Agent Playground: its files do not fit together.")
        return manifest

    def _looked_at(self, path: Path) -> list[str]:
        try:
            with _opened(path, path.name) as archive, TemporaryDirectory() as place:
                manifest = self._manifest(archive, path.name)
                if is_own(archive, self._data):
                    return []
                with (Path(place) / "app.tdb").open("xb") as file:
                    check_file(archive, "app.tdb", manifest.files["app.tdb"], into=file)
                return foreign_data.judged(Path(place), Path(place) / "runs")
        except OSError as error:
            raise in_words(error, path) from error

    def _unpack(self, path: Path) -> Manifest:
        unpacking = self._data / UNPACKING
        shutil.rmtree(unpacking, ignore_errors=True)
        try:
            with _opened(path, path.name) as archive:
                manifest = self._manifest(archive, path.name)
                if shutil.disk_usage(self._data).free < manifest.size + SPARE_BYTES:
                    raise StorageError(
                        f"There is no room to restore “{path.name}”: it takes {manifest.size // 1024**2 + 1} MB. "
                        "Free some disk space and try again."
                    )
                for part in PARTS[1:]:  # also one that is empty takes the place of the old one
                    (unpacking / part).mkdir(mode=0o700, parents=True)
                for name, wanted in manifest.files.items():
                    target = unpacking / name
                    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    with target.open("xb") as file:
                        target.chmod(0o600)
                        check_file(archive, name, wanted, into=file)
                if not is_own(archive, self._data):
                    foreign_data.judged(unpacking, unpacking / "runs")
            (unpacking / _JUDGED).touch()
            (unpacking / _KEPT_AS).write_text(f"before-restore-{now():%Y%m%d-%H%M%S-%f}")
            _sync_all(self._disk, unpacking)
            self._give_up()
            unpacking.replace(self._data / WAITING)
            self._disk.sync_folder(self._data)
        except OSError as error:
            raise in_words(error, unpacking) from error
        finally:
            shutil.rmtree(unpacking, ignore_errors=True)
        return manifest


def put_back(folder: Path, disk: Disk) -> Path | None:
    """At a start: put what waits in the place of the data; where the old data is kept, `None` when nothing waited.

    Each part is moved by one rename, the old one first: a start that is killed in between is gone on with, and what
    waits goes once all names are on the medium.
    Raises `OSError`, `StorageError`.
    """
    waiting = folder / WAITING
    if not waiting.is_dir():
        return None
    if not (waiting / _JUDGED).exists() and (waiting / "app.tdb").exists():
        foreign_data.judged(waiting, waiting / "runs" if (waiting / "runs").exists() else folder / "runs")
    (waiting / _JUDGED).touch()
    kept = folder / _place_of_old(waiting)
    for part in reversed(PARTS):  # the main database last: it refers to all others
        old, new = folder / part, waiting / part
        if not new.exists():  # it is in its place already
            continue
        if old.exists() and not (kept / part).exists():
            kept.mkdir(mode=0o700, exist_ok=True)
            old.replace(kept / part)
        if old.is_dir():  # an empty one, which this start has made
            old.rmdir()
        new.replace(old)
    for place in (kept, folder):
        if place.is_dir():
            disk.sync_folder(place)
    shutil.rmtree(folder / "cache", ignore_errors=True)
    shutil.rmtree(waiting)
    return kept


def _place_of_old(waiting: Path) -> str:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if re.fullmatch(r"before-restore-[0-9-]+", name := (waiting / _KEPT_AS).read_text("ascii")):
            return name
    return "before-restore"


def _sync_all(disk: Disk, folder: Path) -> None:
    """Return when all that is in the folder is on the medium."""
    for place, _, names in os.walk(folder):
        for name in names:
            _sync(disk, Path(place, name))
        disk.sync_folder(Path(place))


def _sync(disk: Disk, path: Path) -> None:
    descriptor = disk.open(path)
    try:
        disk.sync(descriptor)
    finally:
        disk.close(descriptor)


def _append(path: Path, piece: bytes) -> None:
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if shutil.disk_usage(path.parent).free < len(piece) + SPARE_BYTES:
            raise StorageError("There is no room for this backup. Free some disk space and try again.")
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _BINARY, 0o600), "ab") as file:
            file.write(piece)
    except OSError as error:
        raise in_words(error, path) from error


async def _in_larger_pieces(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same bytes in fewer pieces: each is written in a thread, which takes its time."""
    gathered = bytearray()
    async for piece in pieces:
        gathered += piece
        if len(gathered) >= _PIECE:
            yield bytes(gathered)
            gathered.clear()
    yield bytes(gathered)


def _opened(path: Path, name: str) -> zipfile.ZipFile:
    try:
        with path.open("rb") as file:
            check_listing(file, LARGEST_MANIFEST)
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, EOFError) as error:
        raise StorageError(f"“{name}” is no zip file, or a damaged one. Choose a backup.") from error
    except OSError as error:
        raise in_words(error, path) from error


def _backup(path: Path) -> Backup:
    found = path.stat()
    return Backup(path.name, found.st_size, datetime.fromtimestamp(found.st_mtime, UTC))
