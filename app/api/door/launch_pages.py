"""Pages that let a browser in: files of this user alone, each with a code that works once, within a minute.

A program is shown the path of one. So no secret stands in its command line, which every user of the computer may
read, nor in the history of the browser: https://github.com/jupyter/notebook/issues/4500 tells of the same way.
"""

import asyncio
import contextlib
import os
import secrets
import sys
import tempfile
import time
from pathlib import Path

from app.api.door.refusals import page
from app.domain.errors import StorageError
from app.domain.keys import PREFIX
from app.late import late
from app.store.journal.trouble import in_words

with late():
    from app.store.folder import looking_lock

HOLDS = 60
"""Seconds that a code works."""


class LaunchPages:
    def __init__(self, origin: str, *, seconds: float = HOLDS) -> None:
        """`origin` is that of the app, to which they lead; each works for so many seconds."""
        self._origin = origin
        self._seconds = seconds
        self._files: dict[str, Path] = {}
        """By the codes that work."""
        self._made = 0

    def new(self) -> Path:
        """A page that a browser may be shown. Raises `StorageError` where none can be written."""
        self._made += 1
        code = PREFIX + secrets.token_urlsafe(32)  # looks like a key, so that no log and no export holds it
        # The first has the same name at every start: a browser remembers the place of a window by its address.
        name = f"open-{self._origin.rpartition(':')[2]}{f'-{self._made}' if self._made > 1 else ''}.html"
        path = _place() / name
        _write(path, _page(code, f"{self._origin}/"))
        self._files[code] = path
        asyncio.get_running_loop().call_later(self._seconds, self.take, code)
        return path

    def works(self, code: str) -> bool:
        return code in self._files

    def take(self, code: str) -> bool:
        """Whether the code worked, which it does no more; its file is gone."""
        path = self._files.pop(code, None)
        if path is None:
            return False
        with contextlib.suppress(OSError):  # not there, or others beside it
            path.unlink(missing_ok=True)
            path.parent.rmdir()
        return True

    def close(self) -> None:
        """Let none of them work any more."""
        for code in list(self._files):
            self.take(code)


def _page(code: str, target: str) -> str:
    """Posts the code there as soon as it is open: as a password, as browsers keep what else is posted."""
    field = f'<input type="password" name="code" value="{code}" hidden>'
    form = f'<form method="post" action="{target}">{field}<button>Open Agent Playground</button></form>'
    return page("Agent Playground", f"{form}<script>document.forms[0].submit()</script>")


def _place() -> Path:
    """Not the data folder: a browser of a snap sees neither hidden folders nor the system's temporary ones."""
    temporary = Path(tempfile.gettempdir())
    try:
        return looking_lock.own_folder(Path.home() if sys.platform == "linux" else temporary)
    except (StorageError, RuntimeError):  # whose home cannot be told, or is not to be written
        return looking_lock.own_folder(temporary)


def _write(path: Path, content: str) -> None:
    try:
        for left in path.parent.glob("open-*.html"):  # by an app that was killed
            if left == path or left.stat().st_mtime < time.time() - HOLDS:
                left.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(content)
    except OSError as error:
        raise in_words(error, path) from error
