"""A session's files as a run left them."""

from collections.abc import Iterable

from app.domain.events import Entry, FileChanged, RunStarted


def files_after(entries: Iterable[Entry]) -> dict[str, str]:
    """Path to sha256, after the last of these entries; give a prefix to see the files as of its step."""
    files: dict[str, str] = {}
    for entry in entries:
        match entry.event:
            case RunStarted(files=before):
                files = dict(before)
            case FileChanged(path=path, after=None):
                files.pop(path, None)
            case FileChanged(path=path, after=str() as after):
                files[path] = after
            case _:
                pass
    return files
