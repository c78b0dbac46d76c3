"""Changing tool files from a page. Blocking: meant for a thread."""

import os
import re
import secrets
from pathlib import Path

from app.domain.errors import Conflict, NotFound, StorageError, TooLarge, WorkbenchError
from app.domain.values import well_formed
from app.tools.user_tools.reading import LARGEST

NAME = re.compile(r"(?!_)[\w-][\w .-]*", re.ASCII)
LONGEST_NAME = 100
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Names that Windows keeps for devices."""


def file_name(text: str) -> str:
    """The name of a tool file as it is meant: with `.py`, in the folder or one subfolder. Raises `WorkbenchError`."""
    name = text.strip().removesuffix(".py").strip() + ".py"
    parts = name.split("/")
    if len(parts) > 2 or len(name) > LONGEST_NAME or not all(_is_usable(part) for part in parts):
        raise WorkbenchError(
            f"A tool file cannot be called {text!r}. Use letters, digits, '_' and '-', beginning with a letter, "
            "and at most one folder, like 'orders/lookup.py'."
        )
    return name


def _is_usable(part: str) -> bool:
    return bool(NAME.fullmatch(part)) and not RESERVED.fullmatch(part) and part == part.strip(" .")


def create(root: Path, name: str, text: str) -> None:
    """Write a new file. Raises `Conflict` where there is one of that name."""
    path = root / name
    _make_folder_of(path, root)
    check_free(root, name)
    _write(path, text)


def check_free(root: Path, name: str) -> None:
    """Raises `Conflict` where there is a file of that name."""
    if os.path.lexists(root / name):
        raise Conflict(f"There is a file {name} already. Choose another name.")


def replace(root: Path, name: str, text: str, *, expected: str | None) -> None:
    """Write the file whole, its line ends kept. Raises `Conflict` when it is not `expected` that would be replaced."""
    path = root / name
    _make_folder_of(path, root)
    before = path.read_bytes() if path.is_file() else None
    if expected is not None and (before is None or _as_read(before) != expected.replace("\r\n", "\n")):
        what = "deleted" if before is None else "changed"
        raise Conflict(
            f"{name} was {what} by another program since you opened it. Copy what you wrote, and open it again."
        )
    text = text.replace("\r\n", "\n")
    _write(path, text.replace("\n", "\r\n") if before and b"\r\n" in before else text)


def rename(root: Path, name: str, new_name: str) -> None:
    """Raises what `check_renaming` does."""
    source, target = root / name, root / new_name
    check_renaming(root, name, new_name)
    _make_folder_of(target, root)
    try:
        source.rename(target)
    except OSError as error:
        raise _in_words(error, source) from error


def check_renaming(root: Path, name: str, new_name: str) -> None:
    """Raises `NotFound` where there is no such file any more, `Conflict` where there is one of the new name."""
    source, target = root / name, root / new_name
    if not os.path.lexists(source):
        raise NotFound(f"There is no file {name} any more.")
    if not (os.path.lexists(target) and target.exists() and target.samefile(source)):
        check_free(root, new_name)


def remove(root: Path, name: str) -> None:
    """Delete the file; nothing happens when it is gone."""
    try:
        (root / name).unlink(missing_ok=True)
    except OSError as error:
        raise _in_words(error, root / name) from error


def _as_read(content: bytes) -> str:
    return content.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def _make_folder_of(path: Path, root: Path) -> None:
    """Raises `WorkbenchError` where its folder is none or leads elsewhere."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _in_words(error, path.parent) from error
    if not path.parent.resolve().is_relative_to(root.resolve()):
        raise WorkbenchError(f"{path.parent} is a link that leads out of the tools folder. Use another folder.")


def _write(path: Path, text: str) -> None:
    """Put the whole file in its place at once, so that nobody ever reads half of it."""
    content = well_formed(text).encode()
    if len(content) > LARGEST:
        raise TooLarge(f"A tool file may have {LARGEST:,} bytes, this one has {len(content):,}.")
    target = Path(os.path.realpath(path))
    temporary = target.parent / f".{target.name}.{secrets.token_hex(6)}.tmp"
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(target.stat().st_mode)
        temporary.replace(target)
    except OSError as error:
        raise _in_words(error, path) from error
    finally:
        temporary.unlink(missing_ok=True)


def _in_words(error: OSError, path: Path) -> StorageError:
    reason = error.strerror or str(error)
    return StorageError(f"{path} could not be written: {reason}. What was there before is unharmed.")
