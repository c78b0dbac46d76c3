"""Hearing of changes in a folder.

See https://watchfiles.helpmanual.io/api/rust_backend/: its `awatch` does not say from when on it listens.
"""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from app.tools.user_tools.reading import tool_folders

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

QUIET = 50
"""Milliseconds without a change after which those before are told."""
LONGEST_GROUP = 200
"""Milliseconds after which they are told in any case."""
TICK = 1000
"""Milliseconds between two looks where the system tells of nothing, as on many network drives."""

_log = logging.getLogger(__name__)


async def changes(folder: Path) -> AsyncIterator[None]:
    """Tells, at least every `TICK`, that something in the folder may have changed. A folder that goes away is made
    again. Never ends by itself.
    """
    warned = False
    while True:
        try:
            await asyncio.to_thread(folder.mkdir, mode=0o700, parents=True, exist_ok=True)
            async for _ in _heard(folder):
                yield
        except (OSError, RuntimeError) as error:  # such as too many watches on this system, or a folder taken away
            if not warned:
                _log.warning("Changes in %s are looked for every second, not heard of: %s", folder, error)
            warned = True
            await asyncio.sleep(TICK / 1000)
            yield


async def _heard(folder: Path) -> AsyncIterator[None]:
    """Tells of changes until other folders are to be heard; first of those that came before anybody listened."""
    loop, stop = asyncio.get_running_loop(), threading.Event()
    thread = ThreadPoolExecutor(1, "watch")  # it waits all the time, which would take a place from short work
    try:
        watched = await loop.run_in_executor(thread, _identities, folder)
        watcher = await loop.run_in_executor(thread, _watcher, watched)
        while True:
            yield
            await loop.run_in_executor(thread, watcher.watch, LONGEST_GROUP, QUIET, TICK, stop)
            if await loop.run_in_executor(thread, _identities, folder) != watched:
                return
    finally:
        stop.set()
        thread.shutdown(wait=False)


def _watcher(folders: Iterable[Path]) -> "RustNotify":
    """Hears of these and of nothing deeper: by a link in one of them that might be the whole disk."""
    from watchfiles._rust_notify import RustNotify  # noqa: PLC0415  40 ms, which the start need not wait for

    return RustNotify(list(map(str, folders)), False, False, 0, False, True)


def _identities(root: Path) -> dict[Path, int | None]:
    """The folders that hold tool files, each with its identity."""
    return {folder: _identity(folder) for folder in tool_folders(root)}


def _identity(folder: Path) -> int | None:
    """Another one when another folder has its place."""
    try:
        return folder.stat().st_ino
    except FileNotFoundError:
        return None
