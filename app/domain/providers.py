"""What a person has set for a provider of models, and what it was found to offer. Keys are kept elsewhere."""

import re
from collections.abc import Collection
from datetime import datetime
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from app.domain.errors import WorkbenchError
from app.domain.values import Value

_CUSTOM_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LONGEST_NAME = 40


class ProviderSettings(Value):
    name: str
    """The first half of its models' names: `openai`, or that of a server of one's own."""
    title: str = ""
    """What a person calls it; empty for the known ones, which have their own."""
    address: str = ""
    organisation: str = ""
    region: str = ""
    api_version: str = ""
    uploads: Literal["", "allowed"] = ""
    """Whether it may keep files: its owner was asked."""
    models: tuple[str, ...] = ()
    """The models it offers, without the provider's name: as it listed them, or as a person wrote them down."""
    listed_at: datetime | None = None
    """When it was asked for them; `None` where it never was."""


class ProviderFile(Value):
    """A content that was uploaded to a provider. Never told to anybody: neither a trace nor an export names it."""

    key: str
    """See `file_key`."""
    provider: str
    account: str
    """A digest of the key and the address that it was uploaded with: no other account can use or delete it."""
    sha256: str
    file_id: str
    """As the provider calls it."""
    media_type: str
    size: int
    """Bytes."""
    uploaded_at: datetime
    expires_at: datetime
    """When it is gone there, or is uploaded anew."""
    sessions: tuple[str, ...]
    """The sessions that it belongs to; with the last one it is deleted there."""


def file_key(provider: str, account: str, sha256: str) -> str:
    return f"{provider}-{account}-{sha256}"


class KeptKey(Value):
    """That a key is kept, and where; never the key."""

    name: str
    """`openai:key`."""
    place: str


def checked_address(written: str) -> str:
    """The address without what surrounds it, empty for none. Raises `WorkbenchError` for what is no address."""
    address = written.strip().rstrip("/")
    if not address:
        return ""
    try:
        parts = urlsplit(address)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise _no_address(written) from None
    if not whole or re.search(r"[\s\x00-\x1f\x7f<>\"\\]", address):
        raise _no_address(written)
    _check_carries_nothing(parts)
    return address


def _no_address(written: str) -> WorkbenchError:
    return WorkbenchError(
        f"{written.strip()[:80]!r} is no address. Write one like https://api.example.com/v1 or http://localhost:8000/v1."
    )


def _check_carries_nothing(parts: SplitResult) -> None:
    """What is written into an address would be stored and shown with it."""
    if parts.username or parts.password:
        raise WorkbenchError("Leave name and password out of the address: it is stored and shown. Use the key's field.")
    if parts.query or parts.fragment:
        raise WorkbenchError("Leave out what follows “?” or “#” in the address: models are asked below it.")


def custom_name(title: str, taken: Collection[str]) -> str:
    """The first half of the names of that server's models. Raises `WorkbenchError` where none can be made of it."""
    name = re.sub(r"[^a-z0-9]+", "-", title.strip().lower()).strip("-")[:_LONGEST_NAME].strip("-")
    if not _CUSTOM_NAME.fullmatch(name):
        raise WorkbenchError("Give the server a name with letters a to z or digits: its models are called name/model.")
    if name in taken:
        raise WorkbenchError(f"There is a provider {name!r} already. Give this server another name.")
    return name
