"""Ids as file names: only what can lead nowhere else."""

import re
from pathlib import Path

from app.domain.errors import NotFound

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def database_path(folder: Path, entity_id: str, *, noun: str) -> Path:
    """The database of that run or session; raises `NotFound` for what is no id."""
    if not _ID.fullmatch(entity_id):
        raise NotFound(f"{entity_id[:80]!r} is no {noun}: its id is made of letters, digits, - and _.")
    return folder / f"{entity_id}.tdb"
