"""The command and the environment of a file's process."""

import os
import sys
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[3])
"""What `app` is imported from."""
CHILD = """\
import sys
import pydantic
sys.path.insert(0, sys.argv[1])
from app.tools.worker.child import main
sys.path.remove(sys.argv[1])
main()
"""
"""The interpreter's own packages come first, and of the app's folder nothing but the app itself is seen."""
KEPT_VARIABLES = (
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TMP", "TEMP", "TZ", "SYSTEMROOT", "SYSTEMDRIVE",
    "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PATHEXT", "COMSPEC",
)  # fmt: skip
BUNDLE_VARIABLES = ("_PYI_", "LD_LIBRARY_PATH")
"""With these the executable starts out of what it has unpacked already; else it would unpack anew, for a second."""


def worker_command(interpreter: str = "") -> list[str]:
    """Starts a file's process: with the app's own Python, or with `interpreter`, which has to have pydantic."""
    if not interpreter and getattr(sys, "frozen", False):
        return [sys.executable, "--worker"]
    return [interpreter or sys.executable, "-P", "-c", CHILD, ROOT]


def worker_environment(interpreter: str = "") -> dict[str, str]:
    """What programs need to run at all; no key is among it."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    if getattr(sys, "frozen", False) and not interpreter:
        kept |= {name: value for name, value in os.environ.items() if name.startswith(BUNDLE_VARIABLES)}
    return kept
