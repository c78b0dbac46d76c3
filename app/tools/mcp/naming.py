"""The names under which a server's tools are known: `server__tool`, in letters that every model takes."""

import hashlib
import re
from collections.abc import Iterable

from app.domain.errors import WorkbenchError
from app.domain.tools import canonical_name

LONGEST_NAME = 64
"""What providers take."""
SERVER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
ODD = re.compile(r"[^A-Za-z0-9_]")


def checked_server_name(name: str) -> str:
    """The name as it is; raises `WorkbenchError` for one that tools cannot be called by."""
    if not SERVER_NAME.fullmatch(name) or "__" in canonical_name(name):
        raise WorkbenchError(
            f"A server cannot be called {name!r}: use up to 32 letters, digits, '_' and '-', no two '_' in a row, "
            "and begin with a letter or digit."
        )
    return name


def proper_server_name(name: str) -> str:
    """The nearest name to this one that a server may have."""
    proper = re.sub(r"[-_]{2,}", "-", re.sub(r"[^A-Za-z0-9_-]+", "-", name)).strip("-_")
    return proper[:32].rstrip("-_") or "server"


def tool_names(server: str, tools: Iterable[str]) -> dict[str, str]:
    """By what the server calls each tool, the name that models are told. Equal sets of tools get equal names."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for tool in sorted(set(tools)):
        plain = f"{canonical_name(server)}__{ODD.sub('_', tool)}"
        fits = len(plain) <= LONGEST_NAME and plain not in taken
        names[tool] = plain if fits else _shortened(plain, tool)
        taken.add(names[tool])
    return names


def _shortened(plain: str, tool: str) -> str:
    """Told apart by a digest of the tool's own name."""
    mark = "_" + hashlib.sha256(tool.encode()).hexdigest()[:8]
    return plain[: LONGEST_NAME - len(mark)] + mark
