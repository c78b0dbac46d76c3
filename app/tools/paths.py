"""How a session file may be named: an absolute POSIX path below `/`, spelled in one way only.

The names never reach the host's file system, but they are exported, shown and typed by models; so what could be read
as another path somewhere, on Windows for example, is refused.
"""

import unicodedata

from app.domain.errors import ToolError

LONGEST_PATH = 512
"""Characters."""
SEPARATORS = frozenset("/\\:")
LOOKALIKES = frozenset("\u2044\u2215\u29f8\u2216\u29f5\u29f9\u2571\u2572\ua789\u2236")
"""Slashes, backslashes and colons that Unicode's compatibility forms do not know as such."""
DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "clock$", *(f"{port}{n}" for port in ("com", "lpt") for n in "0123456789¹²³")]
)


def session_path(text: str) -> str:
    """The one spelling of a session file's path, for example `/reports/may.csv`.

    Doubled slashes and `.` steps are dropped, a missing first slash is added. Raises `ToolError` for anything else
    that is no plain path of a file.
    """
    path = unicodedata.normalize("NFC", text)
    if len(path) > LONGEST_PATH:
        raise ToolError(f"The path is {len(path)} characters long; {LONGEST_PATH} is the most.")
    _check_characters(path)
    steps = [step for step in path.split("/") if step not in ("", ".")]
    if not steps:
        raise ToolError(f"{text!r} names no file. Write a path like '/notes.txt'.")
    for step in steps:
        _check_step(path, step)
    return "/" + "/".join(steps)


def _check_characters(path: str) -> None:
    for character in path:
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
            raise ToolError(f"The path {path!r} holds a character that cannot be seen, {character!r}. Leave it out.")
        if character in "\\:":
            raise ToolError(f"The path {path!r} holds {character!r}. Write it like '/reports/may.csv'.")
        if _looks_like_separator(character):
            raise ToolError(f"The path {path!r} holds {character!r}, which looks like another character. Replace it.")


def _looks_like_separator(character: str) -> bool:
    """True for what is no separator or dot and may be taken for one."""
    if character in LOOKALIKES:
        return True
    plain = unicodedata.normalize("NFKC", character)
    return plain != character and any(one in SEPARATORS or one == "." for one in plain)


def _check_step(path: str, step: str) -> None:
    if step == "..":
        raise ToolError(f"The path {path!r} holds '..'. Files are named from '/', there is nothing above it.")
    if step != step.strip() or step.endswith("."):
        raise ToolError(f"In the path {path!r}, {step!r} starts or ends with a space or a dot. Leave that out.")
    if step.split(".", maxsplit=1)[0].rstrip().lower() in DEVICES:
        raise ToolError(f"In the path {path!r}, {step!r} is the name of a device. Choose another name.")
