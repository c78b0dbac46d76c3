"""The command that installs what a file lacks."""

import re
import sys
from collections.abc import Sequence

from app.tools.worker.script_block import project


def install_command(missing: Sequence[str], requires: Sequence[str], interpreter: str) -> str:
    """What to type so that `interpreter`, empty for the app's own, has the packages; empty where none is missing.

    A package is asked for as the file's script block does. What is missing under a name that the block does not have,
    as `yaml` of PyYAML, brings all of the block.
    """
    if not missing:
        return ""
    asked = {_project(requirement): requirement for requirement in requires}
    known = [asked[_project(name)] for name in missing if _project(name) in asked]
    wanted = known if len(known) == len(missing) else list(requires) or list(missing)
    return " ".join([f'"{_python(interpreter)}"', "-m pip install", *(f'"{one}"' for one in wanted)])


def _python(interpreter: str) -> str:
    """The bundled app cannot install anything into itself; its owner has to choose another Python for the file."""
    return interpreter or ("python" if getattr(sys, "frozen", False) else sys.executable)


def _project(requirement: str) -> str:
    """The name under which an index knows the package (PEP 503)."""
    return re.sub(r"[-_.]+", "-", project(requirement) or requirement).lower()
