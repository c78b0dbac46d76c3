"""Why a tool file cannot be used, and how its process came to its end."""

import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from app.domain.errors import ToolCrashed, ToolError
from app.tools.worker.tracebacks import is_own

if TYPE_CHECKING:
    from app.tools.worker.process import WorkerProcess

FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in ', re.MULTILINE)
"""As `faulthandler` writes it."""


class LoadFailed(ToolError):
    """The file's tools cannot be had; its owner has to change something.

    `line` is where in the file, `traceback` shows the file's own frames, `missing` names packages to install.
    """

    def __init__(
        self, text: str, *, line: int | None = None, traceback: str = "", missing: tuple[str, ...] = ()
    ) -> None:
        super().__init__(text)
        self.text = text
        self.line = line
        self.traceback = traceback
        self.missing = missing


def never_started(path: Path, python: str, process: "WorkerProcess") -> LoadFailed:
    """Why there was no process to run the file in."""
    written = process.stderr.decode(errors="replace")
    if "No module named 'pydantic" in written:
        text = f'{python} lacks pydantic, which tool files need. Install it: "{python}" -m pip install pydantic'
        return LoadFailed(text, missing=("pydantic",))
    text = f"{python} did not come up ({_how(process)}). Choose a Python of version 3.11 or newer for {path.name}."
    return LoadFailed(text, traceback=written[-2000:])


def ended_while_loaded(path: Path, process: "WorkerProcess") -> LoadFailed:
    """The file took its process along."""
    written = process.stderr.decode(errors="replace")
    text = f"{path.name} ended its process while it was loaded ({_how(process)})."
    return LoadFailed(text, line=_line(written, path), traceback=_own_part(written, path))


def stuck_while_loaded(path: Path, seconds: float, written: str) -> LoadFailed:
    """It took too long; `written` is what `faulthandler` said of it."""
    line = _line(written, path)
    where = f" It was in line {line}." if line else ""
    text = f"{path.name} was still being loaded after {seconds:g} seconds and was stopped.{where}"
    return LoadFailed(text, line=line, traceback=_own_part(written, path))


def ended_in_a_call(path: Path, process: "WorkerProcess", *, retired: bool) -> ToolError:
    """What a call is told whose process has ended."""
    if retired:
        return ToolError(
            f"The process of {path.name} was ended, for another of its calls or a new version. Call again."
        )
    if process.garbled:
        return ToolCrashed(f"{path.name} wrote into its line to the app, which only the app's own code may do.")
    text = f"The process of {path.name} ended in the middle of the call ({_how(process)})."
    return ToolCrashed(text, traceback=_own_part(process.stderr.decode(errors="replace"), path))


def _how(process: "WorkerProcess") -> str:
    code = process.ended.result()
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def _own_part(written: str, path: Path) -> str:
    """Of a stack that `faulthandler` wrote: what happened, and the file's own frames."""
    return "\n".join(
        text for text in written.splitlines() if text.startswith("Fatal Python error") or _is_own(text, path)
    )


def _line(written: str, path: Path) -> int | None:
    """Where the file was: the innermost frame stands first."""
    lines = [int(found["line"]) for found in FRAME.finditer(written) if found["file"] == str(path)]
    return lines[0] if lines else None


def _is_own(text: str, path: Path) -> bool:
    found = FRAME.match(text)
    return found is not None and is_own(found["file"], str(path))
