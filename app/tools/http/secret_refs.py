"""Secrets that a person wrote into a server's or a tool's form: kept with the providers' keys, not with the form.

In their place stands a reference such as `$saved_k3f9x2ab`, which is filled in only for whoever needs the secret.
"""

import logging
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar

from app.domain.errors import StorageError, WorkbenchError
from app.domain.tool_settings import HttpTool, McpServer, Transport
from app.domain.values import Value
from app.tools.http.secret_scan import SecretScan, rewritten

log = logging.getLogger(__name__)

REFERENCE = re.compile(r"\$(saved_[a-z0-9]{8})")
PREFIX = "tool:"
"""What the names begin with under which they are kept."""
Form = TypeVar("Form", bound=Value)


class Vault(Protocol):
    """Where keys are kept."""

    async def ready(self) -> None: ...
    def values(self) -> Mapping[str, str]: ...
    async def keep(self, name: str, secret: str, *, lasting: bool = False) -> None: ...
    async def forget(self, name: str) -> None: ...


class SecretRefs:
    def __init__(self, vault: Vault, *, stored: str = "") -> None:
        """`stored` is what people call a form that is on disk already, in plaintext, and must not be lost."""
        self._vault = vault
        self._stored = stored

    @property
    def vault(self) -> Vault:
        """Where they are kept."""
        return self._vault

    def of_stored(self, title: str) -> "SecretRefs":
        """For a form that is on disk already: what cannot be kept for good, or would leave it broken, stays in it."""
        return SecretRefs(self._vault, stored=title)

    async def ready(self) -> None:
        """Return when what is kept can be filled in."""
        await self._vault.ready()

    async def transport(self, transport: Transport) -> Transport:
        """The same with references in place of secrets, which are kept by then. Raises `StorageError`."""
        scan = SecretScan(self._vault.values().values())
        return await self._sealed(transport, scan, lambda: scan.transport(transport))

    async def form(self, form: HttpTool) -> HttpTool:
        """Likewise, of its headers."""
        scan = SecretScan(self._vault.values().values())
        return await self._sealed(form, scan, lambda: scan.form(form))

    async def filled(self, server: McpServer) -> McpServer:
        """The server with its secrets, to be started and never shown. Raises `WorkbenchError` where one is gone."""
        await self.ready()
        return server.model_copy(update={"transport": rewritten(server.transport, self._filled)})

    def with_secrets(self, form: HttpTool) -> HttpTool:
        """The form with the secrets of its headers as far as they are kept, to be stored anew and never shown."""
        kept = self.variables()
        headers = {
            name: REFERENCE.sub(lambda found: kept.get(found[1], found[0]), text) for name, text in form.headers.items()
        }
        return form.model_copy(update={"headers": headers})

    def variables(self) -> dict[str, str]:
        """What the references stand for, by their names without the `$`."""
        kept = self._vault.values().items()
        return {name.removeprefix(PREFIX): value for name, value in kept if name.startswith(PREFIX)}

    def names_kept(self, form: str) -> bool:
        """Whether the form, as JSON, refers to a secret that is kept, or may be some day."""
        return REFERENCE.search(form) is not None

    async def forget(self, before: str, after: str = "") -> None:
        """Delete the secrets to which only `before` refers; both are forms as JSON."""
        for name in set(REFERENCE.findall(before)) - set(REFERENCE.findall(after)):
            await self._vault.forget(PREFIX + name)

    @asynccontextmanager
    async def storing(self, sealed: Form, *, given: Form) -> AsyncIterator[None]:
        """Where the sealed form is stored in here, and cannot be: what was kept for it just now is forgotten."""
        try:
            yield
        except Exception:
            await self.forget(sealed.model_dump_json(), given.model_dump_json())
            raise

    async def _sealed(self, form: Form, scan: SecretScan, named: Callable[[], Form]) -> Form:
        """Nothing is kept before it is certain that the form may be stored: a secret that is kept is in no text."""
        sealed = named()
        if sealed != form and self._stored and scan.stand_in(sealed):
            log.warning(
                "The secrets of %s stay in plaintext where an earlier version stored them: one of them stands in it "
                "where no reference can be. Write it into a header or a variable alone.",
                self._stored,
            )
            return form
        for secret, name in scan.names.items():
            try:
                await self._vault.keep(PREFIX + name, secret, lasting=True)
            except StorageError as problem:
                if not self._stored:
                    await self.forget(sealed.model_dump_json(), form.model_dump_json())
                    raise
                log.warning("A secret of %s stays where an earlier version stored it: %s", self._stored, problem)
                scan.clear.add(secret)
        return named()

    def _filled(self, text: str) -> str:
        return REFERENCE.sub(lambda found: self._secret(found[1]), text)

    def _secret(self, name: str) -> str:
        if secret := self._vault.values().get(PREFIX + name):
            return secret
        raise WorkbenchError(
            f"The secret behind ${name} is not among the saved keys any more: it may belong to another computer. "
            "Write it again on the Tools page."
        )
