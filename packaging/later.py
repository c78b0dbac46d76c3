"""Unpacks parts of the single file when they are first imported: a start needs none of them, and would wait for all.

`contents.py` says which; each is a zip file named after its package in the folder `later` of what is unpacked at once.
"""

import os
import shutil
import threading
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import IO

FOLDER = "later"


class Later(MetaPathFinder):
    """Finds no module itself: it puts the files of a package where the next finder looks for them."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._packed = {archive.stem: archive for archive in (place / FOLDER).glob("*.zip")}
        self._unpacking = threading.Lock()

    def find_spec(self, fullname: str, *_: object) -> None:
        if fullname in self._packed:
            with self._unpacking:
                if (archive := self._packed.get(fullname)) is not None:
                    self._unpack(archive)
                    del self._packed[fullname]

    def _unpack(self, archive: Path) -> None:
        from zipfile import ZipFile  # noqa: PLC0415  no start needs it

        with ZipFile(archive) as packed:
            for member in packed.infolist():
                if not (path := self._place / member.filename).exists():
                    with packed.open(member) as content:
                        self._place_file(content, path)

    def _place_file(self, content: IO[bytes], path: Path) -> None:
        """Whole or not at all: a process of a tool file may unpack the same at the same time."""
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        with part.open("wb") as file:
            shutil.copyfileobj(content, file)
        part.chmod(0o755)
        try:
            part.replace(path)
        except PermissionError:  # on Windows, where the other one uses it already
            part.unlink()
