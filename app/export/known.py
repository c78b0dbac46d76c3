"""The keys that this app knows: they are in nothing that it writes, whatever shape they have."""

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote, urlsplit

from app.domain.secrets.secret import SHORTEST, Secret

_NAMED_SECRET = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|AUTHORIZATION)", re.IGNORECASE)
_PLAIN = re.compile(
    r"(?:[/~.$]|[A-Za-z]:\\|[a-z][a-z0-9+.-]*://|true$|false$|none$|\d{1,7}$|[a-z]+$|[A-Z][a-z]+$)", re.ASCII
)
"""Values that are no secret though their names sound so: paths, addresses, switches, numbers, plain words."""


def known_secrets(*named: Mapping[str, str], values: Iterable[str] = ()) -> list[str]:
    """What stands under names such as `OPENAI_API_KEY`, and `values`."""
    found = [secret.value for names in named for secret in named_secrets(names)]
    words = (value.removeprefix("Bearer ").strip() for value in (*found, *values))
    return sorted({word for word in words if len(word) >= SHORTEST})


def named_secrets(variables: Mapping[str, str]) -> Iterator[Secret]:
    """What stands under names such as `OPENAI_API_KEY`, and the passwords in addresses such as a proxy's."""
    for name, value in variables.items():
        word = value.strip().removeprefix("Bearer ").strip()
        if _NAMED_SECRET.search(name) and len(word) >= SHORTEST and not _PLAIN.match(word):
            yield Secret(word, name)
        for password in _passwords(word):
            yield Secret(password, f"password in {name}")


def _passwords(value: str) -> set[str]:
    """Of an address: as it is written there, and as it is meant; with the name as it is packed into a header."""
    if "://" not in value or "@" not in value:
        return set()
    try:
        parts = urlsplit(value)
    except ValueError:
        return set()
    user, password = parts.username or "", parts.password or ""
    spelled = {password, unquote(password)}
    return {one for one in spelled if len(one) >= SHORTEST} | {f"{user}:{one}" for one in spelled if one}
