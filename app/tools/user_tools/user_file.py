"""A tool file as a person sees it: what is in it, whether it may run, and what is wrong with it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.domain.tools import ToolSpec

FileStatus = Literal["ready", "loading", "untrusted", "broken", "empty"]
"""`loading`: its tools come in a moment. `untrusted`: its owner has not allowed it to run.
`broken`: `problem` says why; the tools of its last good version stay. `empty`: it ran, and has no tools."""


@dataclass(frozen=True, slots=True)
class PreviewedTool:
    """A tool as it stands in the text of a file that need not have run."""

    name: str
    description: str
    line: int


@dataclass(frozen=True, slots=True)
class FileProblem:
    """What is in the way of a file's tools."""

    text: str
    """One or two sentences for a person."""
    line: int | None = None
    traceback: str = ""
    missing: tuple[str, ...] = ()
    """The packages it asks for that its Python does not have."""
    install: str = ""
    """The command that installs them; empty when nothing is missing."""


@dataclass(frozen=True, slots=True)
class UserFile:
    name: str
    """Its path in the folder, with `/`."""
    path: Path
    status: FileStatus
    preview: tuple[PreviewedTool, ...] = ()
    """What its text promises, as of now."""
    tools: tuple[ToolSpec, ...] = ()
    """Those of the last version that loaded."""
    left_out: tuple[str, ...] = ()
    """A sentence for each function that looks like a tool and cannot be one."""
    printed: str = ""
    """What it printed while it was loaded."""
    problem: FileProblem | None = None
    """Why it is broken; of a file that may not run, what is wrong with its text."""
    interpreter: str = ""
    """The Python chosen for it; empty for the app's own."""
    requires: tuple[str, ...] = ()
    """The packages its script block asks for."""
    clashes: tuple[str, ...] = ()
    """A sentence for each tool whose name another file has too."""
    pid: int | None = None
    """Of its process, `None` while there is none."""
