"""The keys that this app knows: they are in no export, whatever shape they have."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

_NAMED_SECRET = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|AUTHORIZATION)", re.IGNORECASE)
_PLAIN = re.compile(r"(?:[/~.$]|[A-Za-z]:\\|true$|false$|none$|\d{1,7}$)", re.IGNORECASE)
"""Values that are no secret though their names sound so: paths, switches, numbers, names of other variables."""
SHORTEST = 8
"""Characters; a shorter value would be found in ordinary words."""


def known_secrets(folder: Path, *named: Mapping[str, str], values: Iterable[str] = ()) -> list[str]:
    """The token of the data folder, what stands under names such as `OPENAI_API_KEY`, and `values`."""
    found = [value.strip() for names in named for name, value in names.items() if _NAMED_SECRET.search(name)]
    words = (value.removeprefix("Bearer ").strip() for value in (*found, *values, _token(folder)))
    return sorted({word for word in words if len(word) >= SHORTEST and not _PLAIN.match(word)})


def _token(folder: Path) -> str:
    try:
        return (folder / "token").read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
