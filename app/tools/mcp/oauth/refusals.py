"""How a server refuses a request for want of a sign-in, brought from the HTTP connection to who made the request."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from app.domain.errors import ToolError

SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,200}")
"""RFC 6749, section 3.3."""


@dataclass(frozen=True)
class Challenge:
    status: int = 401
    header: str = ""
    """Its `WWW-Authenticate`, which says where to sign in and for what."""
    token: str = ""
    """What was sent and refused."""

    @classmethod
    def for_scopes(cls, scopes: Iterable[str]) -> "Challenge":
        """As of a server that wants these, of those that can be written in a header."""
        wanted = " ".join(scope for scope in scopes if SCOPE.fullmatch(scope))
        return cls(403, f'Bearer error="insufficient_scope", scope="{wanted}"') if wanted else cls()

    @property
    def wants_more(self) -> bool:
        """Whether the token is good, but not for this."""
        return self.status == 403


@dataclass
class Refusal:
    """Of the requests that are made inside `refused`: the last challenge, if there was one."""

    challenge: Challenge | None = None


class NotSignedIn(ToolError):
    """The server did not run the call; it is made again once its owner has signed in."""

    def __init__(self, server: str, challenge: Challenge) -> None:
        super().__init__(f"The MCP server {server} asks its owner to sign in.")
        self.challenge = challenge


# The library sends each message in the context of who sent it, so parallel calls are told apart.
_NOTED: ContextVar[Refusal | None] = ContextVar("refusal", default=None)


@contextmanager
def refused() -> Iterator[Refusal]:
    """Notes how requests that are made in here were refused."""
    noted = Refusal()
    before = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(before)


def note(challenge: Challenge) -> None:
    """A request in this context was refused."""
    if (noted := _NOTED.get()) is not None:
        noted.challenge = challenge
