"""Requests that say by a key of their own which request they are, so that one sent twice begins one run."""

import hashlib
from datetime import datetime, timedelta

from pydantic import ConfigDict

from app.domain.errors import WorkbenchError
from app.domain.values import Value

KEPT = timedelta(hours=24)
"""How long a request is known again."""
LONGEST_KEY = 255


class SentRequest(Value):
    model_config = ConfigDict(defer_build=True)  # the app's start makes none

    id: str
    """The sha256 of who sent it and its key."""
    content: str
    """The sha256 of what was asked."""
    run_id: str
    at: datetime


def request_id(caller: str, key: str) -> str:
    """The same for one caller and key; raises `WorkbenchError` for a key that is none."""
    if not 0 < len(key) <= LONGEST_KEY or not key.isprintable():
        raise WorkbenchError(f"An Idempotency-Key has 1 to {LONGEST_KEY} printable characters, such as a UUID.")
    return digest_of(caller.encode(), key.encode("utf-8", "surrogatepass"))


def digest_of(*contents: bytes) -> str:
    """The sha256 of all of them, each with its length, so that no two lists run into one."""
    whole = hashlib.sha256()
    for content in contents:
        whole.update(b"%d:" % len(content) + content)
    return whole.hexdigest()
