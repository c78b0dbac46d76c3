"""A keyring that keeps its passwords in the file that `PLANTED_KEYRING` names; for `PYTHON_KEYRING_BACKEND`."""

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend


class FileKeyring(KeyringBackend):
    priority = 1  # type: ignore[assignment]  # the library's own is a property of the class

    def __init__(self, path: Path | None = None) -> None:
        super().__init__()
        self._path = path or Path(os.environ["PLANTED_KEYRING"])

    def get_password(self, service: str, username: str) -> str | None:
        return self._kept().get(f"{service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._path.write_text(json.dumps(self._kept() | {f"{service} {username}": password}))

    def delete_password(self, service: str, username: str) -> None:
        kept = self._kept()
        kept.pop(f"{service} {username}", None)
        self._path.write_text(json.dumps(kept))

    def _kept(self) -> dict[str, str]:
        return json.loads(self._path.read_text()) if self._path.exists() else {}
