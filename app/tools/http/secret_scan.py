"""Where secrets stand in the form of a server or a request, and the form with references in their place.

A secret is told by the name under which it stands or by its shape; where it is known by that, it is found wherever
else it stands in the form.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from urllib.parse import urlsplit

from app.domain.secrets.redaction import Redaction
from app.domain.secrets.secret import SHORTEST, Secret
from app.domain.secrets.shapes import looks_like_key
from app.domain.tool_settings import HttpTool, HttpTransport, StdioTransport, Transport
from app.domain.values import Value, new_id

_NAME = re.compile(r"key|token|secret|passw|pwd|credential|auth|cookie|session|dsn|signature", re.IGNORECASE)
_SCHEME = re.compile(r"(?:(?:Bearer|Basic|Token) )?(?=\S)", re.IGNORECASE)
_QUERY = re.compile(r"(?<=[?&])([^=&#?]+)=([^&#]+)")


class SecretScan:
    """The secrets of one form."""

    def __init__(self, known: Iterable[str]) -> None:
        """`known`: secrets that are kept already, which are found wherever they stand."""
        self._known = frozenset(secret for secret in known if len(secret) >= SHORTEST)
        self.names: dict[str, str] = {}
        """By secret: what its reference is called."""
        self.clear: set[str] = set()
        """Secrets that have to stay in the form."""

    def transport(self, transport: Transport) -> Transport:
        """The same with references in place of secrets."""
        named: Transport
        match transport:
            case StdioTransport():
                changes = {"env": self._pairs(transport.env), "args": self._words(transport.args)}
                named = transport.model_copy(update=changes)
            case HttpTransport():
                changed = {"headers": self._pairs(transport.headers), "url": self._address(transport.url)}
                named = transport.model_copy(update=changed)
        return rewritten(named, self._everywhere)

    def form(self, form: HttpTool) -> HttpTool:
        """Likewise; its headers alone may hold references."""
        headers = {name: self._everywhere(value) for name, value in self._pairs(form.headers).items()}
        return form.model_copy(update={"headers": headers})

    def stand_in(self, form: Value) -> bool:
        """Whether one of them, or one that is known, still stands there: it would be taken out of what is stored."""
        secrets = [Secret(value, "") for value in {*self.names, *self._known}]
        written = form.model_dump_json()
        return Redaction(lambda: secrets).text(written) != written

    def _pairs(self, pairs: Mapping[str, str]) -> dict[str, str]:
        """Variables or headers."""
        return {name: self._value(name, value) for name, value in pairs.items()}

    def _value(self, name: str, value: str) -> str:
        scheme = _SCHEME.match(value)
        begin = scheme.end() if scheme else 0
        secret = value[begin:]
        if not secret or secret.startswith("$"):
            return value
        if _NAME.search(name) or looks_like_key(secret):
            return value[:begin] + self._reference(secret)
        return self._address(value)

    def _words(self, words: Sequence[str]) -> tuple[str, ...]:
        named: list[str] = []
        for word in words:
            flag, equals, value = word.partition("=")
            if equals and flag.startswith("-"):
                named.append(f"{flag}={self._value(flag, value)}")
            else:
                before = named[-1] if named and named[-1].startswith("-") and "=" not in named[-1] else ""
                named.append(word if word.startswith("-") else self._value(before, word))
        return tuple(named)

    def _address(self, address: str) -> str:
        """Its password, and what stands under the name of a secret in its query."""
        if "://" not in address:
            return address
        try:
            password = urlsplit(address).password or ""
        except ValueError:
            return address
        if password and not password.startswith("$"):
            address = address.replace(f":{password}@", f":{self._reference(password)}@", 1)
        for name, value in _QUERY.findall(address):
            if _NAME.search(name) and not value.startswith("$"):
                address = address.replace(f"{name}={value}", f"{name}={self._reference(value)}", 1)
        return address

    def _everywhere(self, text: str) -> str:
        """With references also where nothing tells that it is a secret; a reference ends where its word does."""
        longest_first = sorted((one for one in {*self.names, *self._known} if len(one) >= SHORTEST), key=len)[::-1]
        if not longest_first:
            return text
        pattern = "|".join(map(re.escape, longest_first))
        return re.sub(rf"(?:{pattern})(?!\w)", lambda found: self._reference(found[0]), text)

    def _reference(self, secret: str) -> str:
        name = self.names.setdefault(secret, f"saved_{new_id()[:8]}")
        return secret if secret in self.clear else f"${name}"


def rewritten(transport: Transport, change: Callable[[str], str]) -> Transport:
    """The same with every text in it changed."""
    changed: dict[str, object] = {}
    for field, value in transport.model_dump(exclude={"type"}).items():
        match value:
            case str():
                changed[field] = change(value)
            case dict():
                changed[field] = {name: change(text) for name, text in value.items()}
            case tuple():
                changed[field] = tuple(map(change, value))
    return transport.model_copy(update=changed)
