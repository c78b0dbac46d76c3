"""How much room the data folder takes on the disk, by what is in it."""

import os
from pathlib import Path


def folder_size(folder: Path) -> dict[str, int]:
    """Bytes by the name of each part, the largest first. Blocks for as long as there are files: call it in a thread."""
    sizes: dict[str, int] = {}
    for path, _, names in os.walk(folder):
        inside = Path(path).relative_to(folder).parts
        for name in names:
            part = inside[0] if inside else name
            sizes[part] = sizes.get(part, 0) + _size(Path(path) / name)
    return dict(sorted(sizes.items(), key=lambda pair: -pair[1]))


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:  # it was removed while we looked
        return 0
