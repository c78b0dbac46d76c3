"""A copy of the data folder as one zip file: what is in it and how its manifest names that.

The files are journals, which only grow, or contents that never change. So a copy can be taken while runs go on: what
refers to other files is copied before them, each up to the length it has when it is opened.
"""

import hashlib
import hmac
import json
import os
import secrets
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from pydantic import Field, ValidationError

from app import __version__
from app.domain.errors import StorageError
from app.domain.unpacked import values_in
from app.domain.values import Value, now, well_formed
from app.store.journal.disk import Disk, write_new
from app.store.journal.trouble import in_words

FORMAT = 1
"""Of the zip file; the schema of the data in it is counted on its own."""
MANIFEST = "manifest.json"
SIGNATURE = "manifest.mac"
KEY_FILE = "backup-key"
"""In the data folder: the key of the signatures, which is in no backup."""
_DIGITS = 64
PARTS = ("app.tdb", "runs", "sessions", "artifacts", "tools", "scorers")
"""What a copy holds, that which refers to other files first. No key, token, log or cache is among it."""
_PIECE = 256 * 1024
LARGEST_MANIFEST = 64 * 1024 * 1024
_MOST_VALUES = 2_000_000


class CopiedFile(Value):
    size: int = Field(ge=0)
    sha256: str


class Manifest(Value):
    format: int
    schema_number: int
    """Of the data folder it was taken from."""
    version: str
    """Of the app."""
    made_at: str
    files: dict[str, CopiedFile]
    """By path, with `/` on every system."""
    left_out: tuple[str, ...] = ()
    """Paths that some system could not take."""

    @property
    def size(self) -> int:
        """Bytes that it takes unpacked."""
        return sum(file.size for file in self.files.values())


def write_archive(folder: Path, target: Path, schema: int) -> Manifest:
    """Copy the folder into a new zip file, and read that back to be sure of it. Raises `StorageError`.

    It blocks as long as the folder is large: call it in a thread.
    """
    unfinished = target.with_name(f"{target.name}.tmp")
    try:
        target.parent.mkdir(mode=0o700, exist_ok=True)
        with os.fdopen(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b") as file:
            manifest = _write(folder, file, schema)
            file.flush()
            os.fsync(file.fileno())
        with zipfile.ZipFile(unfinished) as archive:  # once: each opening reads the list of all that is in it
            for path, wanted in manifest.files.items():
                check_file(archive, path, wanted)
        unfinished.replace(target)
    except OSError as error:
        raise in_words(error, target) from error
    finally:
        unfinished.unlink(missing_ok=True)
    return manifest


def read_manifest(archive: zipfile.ZipFile, name: str) -> Manifest:
    """What the zip file says to hold, which is not checked yet. Raises `StorageError` in words."""
    try:
        info = archive.getinfo(MANIFEST)
    except KeyError:
        raise StorageError(f"“{name}” is no backup of Agent Playground: it holds no {MANIFEST}.") from None
    try:
        written = archive.read(info) if info.file_size <= LARGEST_MANIFEST else b""
        if not written or values_in(written, _MOST_VALUES) == _MOST_VALUES:
            raise StorageError(f"“{name}” is no backup of Agent Playground: its {MANIFEST} is too large.")
        said = json.loads(written)
        if isinstance(said, dict) and isinstance(said.get("format"), int) and said["format"] > FORMAT:
            raise StorageError(f"“{name}” was made by a newer Agent Playground. Update the app to restore it.")
        return Manifest.model_validate(said)
    except (ValueError, ValidationError, zipfile.BadZipFile, zlib.error, OSError, EOFError) as error:
        raise StorageError(f"“{name}” is damaged: its {MANIFEST} cannot be read. Take another backup.") from error


def check_file(archive: zipfile.ZipFile, path: str, wanted: CopiedFile, into: BinaryIO | None = None) -> None:
    """Read one file of the archive, into another one where it is given. Raises `StorageError` for what does not fit."""
    digest, size = hashlib.sha256(), 0
    try:
        with archive.open(path) as packed:
            while piece := packed.read(_PIECE):
                size += len(piece)
                if size > wanted.size:
                    break
                digest.update(piece)
                if into is not None:
                    into.write(piece)
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        raise StorageError(f"The backup is damaged: its file {path} cannot be read. Take another one.") from error
    if size != wanted.size or digest.hexdigest() != wanted.sha256:
        raise StorageError(f"The backup is damaged: its file {path} is not the one that was copied. Take another one.")


def _write(folder: Path, target: BinaryIO, schema: int) -> Manifest:
    files: dict[str, CopiedFile] = {}
    left_out: list[str] = []
    fits = Fitting()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        for path in _files(folder):
            name = path.relative_to(folder).as_posix()
            if not fits(name):
                left_out.append(well_formed(name))
            elif (copied := _copy(path, archive, name)) is not None:
                files[name] = copied
        manifest = Manifest(
            format=FORMAT,
            schema_number=schema,
            version=__version__,
            made_at=now().isoformat(),
            files=files,
            left_out=tuple(left_out),
        )
        written = manifest.model_dump_json(indent=1)
        archive.writestr(MANIFEST, written)
        archive.writestr(SIGNATURE, _signed(_key(folder), written.encode()))
    return manifest


def is_own(archive: zipfile.ZipFile, folder: Path) -> bool:
    """Whether the backup, whose manifest can be read, was taken of this data folder. Raises `OSError`."""
    key = Disk().read(folder / KEY_FILE)
    if len(key) != _DIGITS or SIGNATURE not in archive.namelist():
        return False
    with archive.open(SIGNATURE) as file:
        return hmac.compare_digest(file.read(_DIGITS + 1), _signed(key, archive.read(MANIFEST)).encode())


def _key(folder: Path) -> bytes:
    """Made with the first backup."""
    if len(Disk().read(folder / KEY_FILE)) != _DIGITS:
        write_new(Disk(), folder / KEY_FILE, secrets.token_hex(_DIGITS // 2).encode())
        Disk().sync_folder(folder)
    return Disk().read(folder / KEY_FILE)


def _signed(key: bytes, manifest: bytes) -> str:
    return hmac.new(key, manifest, hashlib.sha256).hexdigest()


def _copy(path: Path, archive: zipfile.ZipFile, name: str) -> CopiedFile | None:
    """Copy what the file holds now; `None` for one that was removed meanwhile."""
    try:
        source = path.open("rb")
    except FileNotFoundError:
        return None
    digest, left = hashlib.sha256(), 0
    with source, archive.open(name, "w", force_zip64=True) as packed:
        left = size = os.fstat(source.fileno()).st_size
        while left and (piece := source.read(min(left, _PIECE))):
            digest.update(piece)
            packed.write(piece)
            left -= len(piece)
    return CopiedFile(size=size - left, sha256=digest.hexdigest())


def _files(folder: Path) -> Iterator[Path]:
    """All that belongs to a copy, in the order of `PARTS`; links are left out, wherever they lead."""
    for part in PARTS:
        place = folder / part
        found = sorted(place.rglob("*")) if place.is_dir() and not place.is_symlink() else [place]
        for path in found:
            if _is_plain_file(path) and path.suffix != ".tmp" and "__pycache__" not in path.parts:
                yield path


def _is_plain_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


class Fitting:
    """Asked of one path after the other: whether every system can take it beside those before it."""

    def __init__(self) -> None:
        self._met: set[str] = set()

    def __call__(self, path: str) -> bool:
        known = path.casefold() in self._met
        self._met.add(path.casefold())
        return is_safe(path) and not known


def is_safe(path: str) -> bool:
    """Whether a path out of an archive stays in one of the parts, on every system."""
    pure = PurePosixPath(path)
    plain = path == pure.as_posix() and not pure.is_absolute() and not set(path) & set('\\:*?"<>|\0')
    names = pure.parts
    return plain and bool(names) and names[0] in PARTS and all(_is_name(name) for name in names)


def _is_name(name: str) -> bool:
    return name not in (".", "..") and name == name.rstrip(" .") and name.isprintable()
