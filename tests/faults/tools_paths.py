"""Spellings of paths against the rule for session files: what is taken stays below `/`, on any system."""

import ntpath
import posixpath
import random
import unicodedata

from app.domain.errors import ToolError
from app.tools.paths import session_path
from tests.figures import Figure
from tests.tools.hostile_paths import HOSTILE

TRIES = 20_000
PIECES = (
    *(
        "/",
        "..",
        ".",
        "\\",
        "//",
        "...",
        "a",
        "B.txt",
        " ",
        "\t",
        "\0",
        "C:",
        ":",
        "~",
        "%2e%2e",
        "%2f",
        "é",
        "e\u0301",
    ),
    *("\u202e", "\u200b", "\u2025", "\uff0e", "\uff0f", "\uff3c", "\u2215", "con", "NUL.txt", "\u0338", "\ud800"),
)


def run() -> list[Figure]:
    taken = [path for path in map(_taken, _spellings()) if path is not None]
    escapes = [path for path in taken if _leads_out(path)]
    refused = sum(_taken(text) is None for text in HOSTILE)
    return [
        Figure("R7 path escapes", f"{len(escapes)} of {TRIES:,} ({len(taken):,} were taken)", "0", not escapes),
        Figure("R7 hostile paths refused", f"{refused} of {len(HOSTILE)}", "all", refused == len(HOSTILE)),
    ]


def _spellings() -> list[str]:
    dice = random.Random(7)
    return ["".join(dice.choices(PIECES, k=dice.randint(1, 8))) for _ in range(TRIES)]


def _taken(text: str) -> str | None:
    try:
        return session_path(text)
    except ToolError:
        return None


def _leads_out(path: str) -> bool:
    """True when some system or some reader would understand the path as another one."""
    plain = unicodedata.normalize("NFKC", path)
    windows = "C:\\root" + plain.replace("/", "\\")
    return (
        posixpath.normpath("/root" + path) != "/root" + path
        or posixpath.normpath("/root" + plain) != "/root" + plain
        or plain.count("/") != path.count("/")
        or ntpath.normpath(windows) != windows
        or session_path(path) != path
    )
