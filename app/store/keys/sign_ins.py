"""Browsers that are signed in: each shows a random id, of which only the digest is kept.

It is a file beside the data, as that of the keys is: no backup holds it and no restore brings it back, so a copy of the
data opens nothing, and who was signed out stays so.
"""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from app.domain.errors import StorageError
from app.domain.keys import PREFIX, secret_digest
from app.store.journal.disk import Disk, write_new
from app.store.journal.trouble import in_words

log = logging.getLogger(__name__)

FILE = "sign-ins.json"
SIGN_OUT = "/sign-everyone-out"
"""The address by which a page of the app signs every browser out, and its own in anew."""
DAY = 86_400
LIFETIME_DAYS = 90
"""How long a browser that is not used stays signed in."""
MOST = 100
"""Browsers at a time; one more signs out the one that was not used for longest."""
_USES = TypeAdapter(dict[str, float])


class SignIns:
    """A full disk keeps nobody out before the app ends."""

    def __init__(self, file: Path | None = None, now: Callable[[], float] = time.time) -> None:
        """Without a file they end with the app. Raises `StorageError` for one that cannot be read."""
        self._file = file
        self._now = now
        self._last_used = _read(file) if file is not None else {}
        """By digest, in seconds since 1970 and to the day; the one that was used last at the end."""
        self._one_at_a_time = asyncio.Lock()

    @property
    def number(self) -> int:
        """How many browsers are signed in."""
        return sum(map(self._holds, self._last_used.values()))

    async def sign_in(self) -> str:
        """A new id for the cookie of a browser."""
        shown = PREFIX + secrets.token_urlsafe(32)  # looks like a key, so that no log and no export holds it
        self._use(secret_digest(shown))
        for forgotten in list(self._last_used)[:-MOST]:
            del self._last_used[forgotten]
        await self.save()
        return shown

    def is_signed_in(self, shown: str) -> bool:
        """Whether a browser that shows this id is."""
        digest = secret_digest(shown)
        last_used = self._last_used.get(digest)
        if last_used is None or not self._holds(last_used):
            return False
        if self._now() - last_used >= DAY:
            self._use(digest)
        return True

    async def sign_all_out(self) -> None:
        """At once, also where `StorageError` says that it does not hold for the next start."""
        self._last_used.clear()
        await asyncio.shield(self._write())

    async def save(self) -> None:
        """Keep for the next start who is signed in, and when they came last."""
        try:
            await asyncio.shield(self._write())
        except StorageError as error:
            log.warning("Who is signed in has to sign in again after the next start: %s", error)

    close = save

    def _holds(self, last_used: float) -> bool:
        return self._now() - last_used < LIFETIME_DAYS * DAY

    def _use(self, digest: str) -> None:
        self._last_used.pop(digest, None)
        self._last_used[digest] = self._now()

    async def _write(self) -> None:
        if self._file is None:
            return
        async with self._one_at_a_time:
            try:
                await asyncio.to_thread(write_new, Disk(), self._file, json.dumps(self._last_used).encode())
            except OSError as error:
                raise in_words(error, self._file) from error


def _read(file: Path) -> dict[str, float]:
    try:
        return _USES.validate_json(Disk().read(file) or b"{}")
    except OSError as error:
        raise in_words(error, file) from error
    except ValidationError:
        log.warning("%s is damaged: every browser has to be signed in again.", file)
        return {}
