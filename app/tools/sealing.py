"""Secrets that a person wrote into a server's or a tool's form: kept with the providers' keys, not with the form.

In their place stands a reference such as `$saved_k3f9x2ab`, which is filled in only for whoever needs the secret.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Protocol
from urllib.parse import urlsplit

from app.domain.errors import StorageError, WorkbenchError
from app.domain.tool_settings import HttpTransport, McpServer, StdioTransport, Transport
from app.domain.values import new_id

log = logging.getLogger(__name__)

REFERENCE = re.compile(r"\$(saved_[a-z0-9]{8})")
PREFIX = "tool:"
"""What the names begin with under which they are kept."""
_NAME = re.compile(r"key|token|secret|passw|pwd|credential|auth|cookie|session|dsn|signature", re.IGNORECASE)
_SHAPE = re.compile(
    r"(?:sk|pk|rk)[-_][\w-]{12,}|(?:gh[pousr]_|github_pat_|glpat-|gsk_|hf_|xai-|ap_)[\w-]{16,}|xox[a-z]-[\w-]{8,}"
    r"|AIza[\w-]{20,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|eyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*"
)
_SCHEME = re.compile(r"(?:(?:Bearer|Basic|Token) )?(?=\S)", re.IGNORECASE)
_QUERY = re.compile(r"(?<=[?&])([^=&#]+)=([^&#]+)")


class Vault(Protocol):
    """Where keys are kept."""

    async def ready(self) -> None: ...
    def values(self) -> Mapping[str, str]: ...
    async def keep(self, name: str, secret: str, *, lasting: bool = False) -> None: ...
    async def forget(self, name: str) -> None: ...


class Sealing:
    def __init__(self, vault: Vault, *, lasting: bool = False) -> None:
        """With `lasting`, a secret that could be kept only until the app ends stays in the form."""
        self._vault = vault
        self._lasting = lasting

    def lasting(self) -> "Sealing":
        """For secrets that are on disk already, in clear, and must not be lost."""
        return Sealing(self._vault, lasting=True)

    async def ready(self) -> None:
        """Return when what is kept can be filled in."""
        await self._vault.ready()

    async def transport(self, transport: Transport) -> Transport:
        """The same with references in place of secrets."""
        match transport:
            case StdioTransport():
                changes = {"env": await self.pairs(transport.env), "args": await self._words(transport.args)}
                return transport.model_copy(update=changes)
            case HttpTransport():
                changed = {"headers": await self.pairs(transport.headers), "url": await self._address(transport.url)}
                return transport.model_copy(update=changed)

    async def pairs(self, pairs: Mapping[str, str]) -> dict[str, str]:
        """Variables or headers."""
        return {name: await self._value(name, value) for name, value in pairs.items()}

    def filled(self, server: McpServer) -> McpServer:
        """The server with its secrets, to be started and never shown. Raises `WorkbenchError` where one is gone."""
        document = server.transport.model_dump()
        opened: dict[str, object] = {}
        for field, value in document.items():
            match value:
                case str():
                    opened[field] = self._filled(value)
                case dict():
                    opened[field] = {name: self._filled(text) for name, text in value.items()}
                case tuple():
                    opened[field] = tuple(self._filled(text) for text in value)
        return server.model_copy(update={"transport": server.transport.model_copy(update=opened)})

    def variables(self) -> dict[str, str]:
        """What the references stand for, by their names without the `$`."""
        kept = self._vault.values().items()
        return {name.removeprefix(PREFIX): value for name, value in kept if name.startswith(PREFIX)}

    async def forget(self, before: str, after: str = "") -> None:
        """Delete the secrets to which only `before` refers; both are forms as JSON."""
        for name in set(REFERENCE.findall(before)) - set(REFERENCE.findall(after)):
            await self._vault.forget(PREFIX + name)

    async def _value(self, name: str, value: str) -> str:
        scheme = _SCHEME.match(value)
        begin = scheme.end() if scheme else 0
        secret = value[begin:]
        if not secret or secret.startswith("$"):
            return value
        if _NAME.search(name) or _SHAPE.search(secret):
            return value[:begin] + await self._kept(secret)
        return await self._address(value)

    async def _words(self, words: Sequence[str]) -> tuple[str, ...]:
        sealed: list[str] = []
        for word in words:
            flag, equals, value = word.partition("=")
            if equals and flag.startswith("-"):
                sealed.append(f"{flag}={await self._value(flag, value)}")
            else:
                before = sealed[-1] if sealed and sealed[-1].startswith("-") and "=" not in sealed[-1] else ""
                sealed.append(word if word.startswith("-") else await self._value(before, word))
        return tuple(sealed)

    async def _address(self, address: str) -> str:
        """Its password, and what stands under the name of a secret in its query."""
        if "://" not in address:
            return address
        try:
            password = urlsplit(address).password or ""
        except ValueError:
            return address
        if password and not password.startswith("$"):
            address = address.replace(f":{password}@", f":{await self._kept(password)}@", 1)
        for name, value in _QUERY.findall(address):
            if _NAME.search(name) and not value.startswith("$"):
                address = address.replace(f"{name}={value}", f"{name}={await self._kept(value)}", 1)
        return address

    async def _kept(self, secret: str) -> str:
        name = f"saved_{new_id()[:8]}"
        try:
            await self._vault.keep(PREFIX + name, secret, lasting=self._lasting)
        except StorageError as problem:
            if not self._lasting:
                raise
            log.warning("A secret of a tool stays where an earlier version stored it: %s", problem)
            return secret
        return f"${name}"

    def _filled(self, text: str) -> str:
        return REFERENCE.sub(lambda found: self._secret(found[1]), text)

    def _secret(self, name: str) -> str:
        if secret := self._vault.values().get(PREFIX + name):
            return secret
        raise WorkbenchError(
            f"The secret behind ${name} is not among the saved keys any more: it may belong to another computer. "
            "Write it again on the Tools page."
        )
