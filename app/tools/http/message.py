"""An HTTP request and what came back, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Sent:
    """A request."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    """They stay with the first host: another one that it redirects to gets none of them."""
    content: bytes = b""


@dataclass(frozen=True)
class Received:
    """What came back."""

    url: str
    """After redirects."""
    status: int
    reason: str
    headers: Mapping[str, str]
    """Names in small letters."""
    content: bytes
    cut: bool
    """True when there was more than the limit."""
