"""What the imports of a tool file find in its folder: of other tool files only those that may run."""

import os
import sys
from functools import partial
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from types import ModuleType

from app.tools.worker.protocol import Neighbours

KINDS = (
    (ExtensionFileLoader, EXTENSION_SUFFIXES),
    (SourceFileLoader, SOURCE_SUFFIXES),
    (SourcelessFileLoader, BYTECODE_SUFFIXES),
)
"""What Python itself finds in a folder, in its order."""


def keep_out(neighbours: Neighbours) -> None:
    """From now on no import finds a tool file of that folder that may not run: it is looked for elsewhere."""
    sys.path_hooks.insert(0, partial(AllowedFinder, neighbours))


class AllowedFinder(FileFinder):
    """Finds what is in one place of the folder, which is on the path or a package's."""

    def __init__(self, neighbours: Neighbours, place: str) -> None:
        """Raises `ImportError` for a place outside of the folder, which is for others to look in."""
        self._folder = Path(os.path.realpath(neighbours.folder))
        self._allowed = {Path(path).relative_to(neighbours.folder) for path in neighbours.allowed}
        if not (Path(place).is_dir() and Path(os.path.realpath(place)).is_relative_to(self._folder)):
            raise ImportError(path=place)
        super().__init__(place, *KINDS)

    def find_spec(self, fullname: str, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = super().find_spec(fullname, target)
        return None if spec and spec.origin and self._is_kept_out(Path(spec.origin)) else spec

    def _is_kept_out(self, found: Path) -> bool:
        """Whether it is a tool file, which lies in the folder or one below and is not hidden, and may not run."""
        path = Path(os.path.realpath(found.parent)) / found.name
        if path.suffix != ".py" or not path.is_relative_to(self._folder):
            return False
        within = path.relative_to(self._folder)
        is_hidden = any(part.startswith(("_", ".")) for part in within.parts)
        return len(within.parts) <= 2 and not is_hidden and within not in self._allowed
