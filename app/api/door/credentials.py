"""What a request shows at the door: the owner's token or a cookie of theirs, an API key, or nothing."""

import hmac
import re
from dataclasses import dataclass

from starlette.requests import HTTPConnection

from app.api.door.caller import ANYONE, OWNER, STARTED_FROM, TERMINAL, Caller, with_key
from app.api.door.guests import Guests
from app.api.door.refusals import Refusal, asks_the_api
from app.domain.keys import ApiKey
from app.domain.values import now
from app.store.keys.sign_ins import SignIns

LOCKED = Refusal(
    401,
    "unauthorized",
    "Agent Playground is locked",
    "Start it again, which opens a page, or use the whole address that was printed when it started, up to its token. "
    "A program sends that token, or an API key, as 'Authorization: Bearer <key>' or 'X-API-Key: <key>'.",
)


@dataclass(frozen=True, slots=True)
class Asker:
    """Who stands at the door."""

    caller: Caller | None = None
    """`None` for somebody who is not known."""
    by_cookie: bool = False
    """Whether they are known by what a browser sends by itself, whichever page made it ask."""
    refusal: Refusal = LOCKED
    """What somebody who is not known is told."""


class Credentials:
    """Tells the owner by the token or a browser that is signed in, and guests by their keys."""

    def __init__(self, *, port: int, token: str, sign_ins: SignIns, guests: Guests) -> None:
        """A token that is no secret is a ValueError."""
        if not re.fullmatch(r"[\w-]{16,}", token, re.ASCII):
            raise ValueError("The token needs 16 or more letters, digits, '-' and '_'")
        self._token = token
        self._sign_ins = sign_ins
        self._guests = guests
        # Cookies are shared by all ports of a host, so the name tells ours from those of our neighbours.
        self.cookie = f"agent_playground_{port}"

    def is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())

    def asker(self, request: HTTPConnection) -> Asker:
        """Who sent it. A key that was sent decides, whatever else was."""
        if key := sent_key(request):
            return self._with_key(request, key)
        if self._sign_ins.is_signed_in(request.cookies.get(self.cookie, "")):
            return Asker(OWNER, by_cookie=True)
        return Asker(ANYONE) if self._guests.open_to_anyone(request) else Asker()

    def _owner(self, started_from: str | None) -> Caller:
        """The owner, who may ask as somebody that may less."""
        match started_from:
            case "terminal":
                return TERMINAL
            case "mcp":
                return with_key(self._guests.bridge())
            case _:
                return OWNER

    def _with_key(self, request: HTTPConnection, sent: str) -> Asker:
        if self.is_token(sent):
            return Asker(self._owner(request.headers.get(STARTED_FROM)))
        key = self._guests.key(sent)
        if key is None:
            return Asker(refusal=_no_key("There is no such key. Look for the one you mean in Integrations."))
        match key.standing(now()):
            case "expired":
                return Asker(refusal=_no_key(f"The key {key.name!r} expired {_day(key)}. Make a new one."))
            case "revoked":
                return Asker(refusal=_no_key(f"The key {key.name!r} was revoked {_day(key)}. Make a new one."))
            case "valid":
                return Asker(with_key(key))


def sent_key(request: HTTPConnection) -> str:
    """The key in the headers; empty where there is none, and where keys open nothing."""
    if not asks_the_api(request):
        return ""
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    return bearer.strip() if scheme.lower() == "bearer" else request.headers.get("x-api-key", "")


def _no_key(sentence: str) -> Refusal:
    return Refusal(401, "unauthorized", "This key opens nothing", sentence)


def _day(key: ApiKey) -> str:
    ended = key.revoked_at or key.expires_at
    return f"on {ended:%Y-%m-%d}" if ended else ""
