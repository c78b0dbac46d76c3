"""The executables that `make bundle` builds, and the environment of a computer that has nothing else of the app."""

import sys

from tests.app_process import ROOT

DIST = ROOT / "dist"
NAME = "agent-playground.exe" if sys.platform == "win32" else "agent-playground"
FORMS = {"file": DIST / NAME, "folder": DIST / "agent-playground-folder" / NAME}
NOTHING_ELSE = {"PATH": "/usr/bin:/bin", "PYTHONPATH": "", "PYTHONHOME": "", "XDG_CACHE_HOME": ""}
"""Of the environment: programs of the system, no way to the modules of this project, and a cache in `HOME`."""
TOLD_TO_END = 1 if sys.platform == "win32" else 0
"""The exit code of an app that the system was asked to end: Windows has no way to ask, and ends it at once."""
NOT_BUILT = "no executable is built: make bundle"


def is_built() -> bool:
    return all(path.is_file() for path in FORMS.values())
