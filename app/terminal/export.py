"""Runs as files, from the terminal: out of the app that is running, or out of the data folder, which is only read."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote, urlencode

from app import __version__
from app.domain.errors import Conflict, StorageError
from app.domain.trace import StoredTrace
from app.export.bundle import zipped
from app.export.exports import Choice, Exported, Exports, Format
from app.export.known import known_secrets
from app.start.already_running import ask
from app.store.contents.artifacts import Artifacts
from app.store.folder.lock import Announcement
from app.store.journal.writer import Writer
from app.store.keys.provider_keys import saved_keys
from app.store.runs.traces import Traces

ANSWER_SECONDS = 300
STDOUT = "-"


class _StoredRuns:
    """The traces of a data folder that no app works on."""

    def __init__(self, traces: Traces) -> None:
        self._traces = traces

    async def trace(self, run_id: str) -> StoredTrace:
        return await self._traces.read(run_id)

    def live(self, run_id: str) -> None:  # noqa: ARG002  nothing goes on without an app
        return None


async def export_here(folder: Path, run_ids: Sequence[str], format: Format, choice: Choice) -> Exported:
    """The runs as they are stored. Nothing is written, locked or repaired. Raises `NotFound`, `StorageError`."""
    saved = await saved_keys(folder)
    runs = _StoredRuns(Traces(folder / "runs", folder / "sessions", Writer()))
    exports = Exports(
        runs,
        Artifacts(folder / "artifacts"),
        lambda: known_secrets(os.environ, values=saved),
        app=__version__,
        importing=None,
    )
    return await exports.export_all(run_ids, format, choice)


def export_there(app: Announcement, run_ids: Sequence[str], format: Format, choice: Choice) -> Exported:
    """The runs as the running app has them, through its API. Raises `WorkbenchError`."""
    found = [_fetched(app, run_id, format, choice) for run_id in run_ids]
    if len(found) == 1:
        return found[0]
    files = {f"{number:03d}-{one.filename}": one.content for number, one in enumerate(found, start=1)}
    return Exported(f"{len(found)}-runs-{format}.zip", "application/zip", zipped(files))


def save(exported: Exported, output: str) -> str:
    """Write the export and say where; under its own name it never takes the place of a file. Raises in words."""
    if output == STDOUT:
        sys.stdout.buffer.write(exported.content)
        sys.stdout.buffer.flush()
        return ""
    path = Path(output) if output else Path(exported.filename)
    try:
        with path.open("wb" if output else "xb") as file:
            file.write(exported.content)
    except FileExistsError:
        raise Conflict(f"There is a file {path} already. Name another one with --output.") from None
    except OSError as error:
        raise StorageError(f"The export cannot be written to {path}: {error}.") from error
    return str(path)


def _fetched(app: Announcement, run_id: str, format: Format, choice: Choice) -> Exported:
    query = urlencode({"format": format, "attachments": str(choice.attachments).lower()})
    content, headers = ask(app, f"/runs/{quote(run_id, safe='')}/export?{query}", seconds=ANSWER_SECONDS)
    name = headers.get_filename() or f"run.{format}"
    return Exported(Path(name).name, headers.get_content_type(), content)
