"""Showing a folder in the computer's own file manager."""

import asyncio
import shutil
import sys
from pathlib import Path

from app.domain.errors import WorkbenchError

OPENERS = {"win32": "explorer", "darwin": "open"}
PATIENCE = 2
"""Seconds within which an opener that cannot do it says so; one that still runs then has a window open."""


async def open_folder(folder: Path) -> None:
    """Open it in a window. Raises `WorkbenchError` where there is no file manager, with the path to go to by hand."""
    opener = shutil.which(OPENERS.get(sys.platform, "xdg-open"))
    if opener is None:
        raise _by_hand(folder)
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        opener, str(folder), stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
    )
    try:
        failed = await asyncio.wait_for(process.wait(), PATIENCE)
    except TimeoutError:
        return
    if failed and sys.platform != "win32":  # explorer returns 1 when all is well
        raise _by_hand(folder)


def _by_hand(folder: Path) -> WorkbenchError:
    return WorkbenchError(f"No file manager could be opened here. The folder is {folder}")
