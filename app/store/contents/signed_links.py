"""Addresses of contents that nobody can make up: signed by this process, each for one content, and for some hours.

An address is `/<signature>/<end>/<sha256>?<name>`, the name percent-encoded; without one the content is to be shown.
"""

import base64
import hashlib
import hmac
import re
import secrets
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from app.domain.errors import NotFound

HOLDS = 12 * 3600
"""Seconds that an address holds at least, and at most twice as many: those made in one stretch of it are the same."""
LONGEST_NAME = 200
"""Characters of a name."""
_ADDRESS = re.compile(r"/([A-Za-z0-9_-]{43})/(\d{1,15})/([0-9a-f]{64})(?:\?([A-Za-z0-9_.~%-]+))?")


class Expired(NotFound):
    """The address was given out by this process, too long ago."""


@dataclass(frozen=True, slots=True)
class Linked:
    """What an address leads to."""

    digest: str
    name: str
    """What to save it as, percent-encoded; empty for what is shown."""


class SignedLinks:
    """`now` gives seconds of a clock that nobody sets."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._key = secrets.token_bytes(32)
        self._now = now

    def address(self, digest: str, name: str = "") -> str:
        """The path and query under which the content is saved as that, or shown when there is no name."""
        saved_as = quote(_plain(name) or "file", safe="") if name else ""
        until = (int(self._now()) // HOLDS + 2) * HOLDS
        path = f"/{self._signature(until, digest, saved_as)}/{until}/{quote(digest, safe='', errors='replace')}"
        return f"{path}?{saved_as}" if saved_as else path

    def read(self, address: str) -> Linked:
        """What the path and query lead to; raises `Expired`, or `NotFound` for what this process did not sign."""
        parts = _ADDRESS.fullmatch(address)
        if parts is None:
            raise NotFound("This is no address of a content.")
        signature, until, digest, name = parts.groups("")
        if not hmac.compare_digest(signature, self._signature(int(until), digest, name)):
            raise NotFound("This address was not given out by this app since it was started.")
        if int(until) <= self._now():
            raise Expired("This address held for some hours, which are over.")
        return Linked(digest, name)

    def _signature(self, until: int, digest: str, name: str) -> str:
        signed = hmac.digest(self._key, f"{until}/{digest}/{name}".encode(errors="replace"), hashlib.sha256)
        return base64.urlsafe_b64encode(signed).rstrip(b"=").decode()


def _plain(name: str) -> str:
    """The name without what ends a path, is no character, or turns the direction of those after it."""
    last = name[-LONGEST_NAME:].replace("\\", "/").rpartition("/")[2]
    return "".join("_" if unicodedata.category(letter)[0] == "C" else letter for letter in last)
