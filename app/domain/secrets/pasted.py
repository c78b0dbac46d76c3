"""A key as it was pasted: cleaned of what surrounds it, refused where something in it cannot belong to a key."""

import re
from dataclasses import dataclass

from app.domain.errors import WorkbenchError

_LONGEST = 4096
_ASSIGNED = re.compile(r"(?:export\s+|set\s+|\$env:)?([A-Za-z_][A-Za-z0-9_]*)\s*[=:]\s*(?=\S)(?!=*$)")
_BEARER = re.compile(r"(?:authorization\s*:\s*)?bearer\s+", re.IGNORECASE)
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "„": "“", "‘": "’", "«": "»"}
_SHOWN = 4
_LONG_ENOUGH = 12
"""Characters; of a shorter key nothing is shown."""


@dataclass(frozen=True, slots=True)
class CleanedKey:
    value: str
    removed: tuple[str, ...]
    """What was taken away, in words."""


def cleaned_key(pasted: str) -> CleanedKey:
    """The key in what was pasted. Raises `WorkbenchError`, which never quotes it, where there is none."""
    removed: list[str] = []
    key = pasted.strip()
    if key != pasted:
        removed.append("spaces or line breaks around it")
    if bearer := _BEARER.match(key):
        key = key[bearer.end() :].strip()
        removed.append("“Bearer” before it")
    elif (assigned := _ASSIGNED.match(key)) and "_" in assigned[1]:
        key = key[assigned.end() :].strip().removesuffix(";").rstrip()
        removed.append(f"“{assigned[1][:60]}=” before it")
    if len(key) > 1 and _QUOTES.get(key[0]) == key[-1]:
        key = key[1:-1].strip()
        removed.append("the quotes around it")
    _check(key)
    return CleanedKey(key, tuple(removed))


def _check(key: str) -> None:
    if not key:
        raise WorkbenchError("There is no key in it. Paste the key as the provider shows it.")
    if len(key) > _LONGEST:
        raise WorkbenchError(f"That is too long for a key: {len(key):,} characters. Paste the key alone.")
    if re.search(r"[\r\n]", key):
        raise WorkbenchError("There is a line break in the key. Paste it as one line, and nothing else with it.")
    if re.search(r"\s", key):
        raise WorkbenchError("There is a space in the key. Paste the key alone, without words around it.")
    if not key.isprintable() or not key.isascii():
        raise WorkbenchError(
            "There is a sign in the key that none has: perhaps it was copied while it was hidden by dots. "
            "Copy it from the provider's page once more."
        )
    if re.match(r"https?://", key, re.IGNORECASE):
        raise WorkbenchError("That is an address, not a key. The address has a field of its own.")


def last_four(key: str) -> str:
    """The end of a key, by which its owner knows it again; empty where that would be much of it."""
    return key[-_SHOWN:] if len(key) >= _LONG_ENOUGH else ""
