"""Secrets of the data folder itself: files that only their owner may read."""

import os
import re
import secrets
from pathlib import Path

from app.domain.errors import StorageError

KEPT_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,128}")
TOKEN_FILE = "token"  # noqa: S105  a file's name


def session_token(folder: Path) -> str:
    """The secret of the app's first address. Kept, so that an open tab still fits after a restart."""
    path = folder / TOKEN_FILE
    try:
        kept = path.read_text("ascii").strip()
    except FileNotFoundError:
        kept = ""
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(
            f"The access token in {path} cannot be read: {error}. Remove the file for a new one."
        ) from error
    return kept if KEPT_TOKEN.fullmatch(kept) else _new_token(path)


def _new_token(path: Path) -> str:
    token = secrets.token_urlsafe(32)
    try:
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(token)
    except OSError as error:
        raise StorageError(f"The access token cannot be written to {path}: {error}.") from error
    return token
