"""The secrets that this app knows, wherever they come from, and the one thing that takes them out of texts."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.late import late_part

if TYPE_CHECKING:
    from app.domain.redaction import Redaction, Secret
    from app.engine.keys import Keys
    from app.store.folder import DataFolder


class KnownSecrets:
    """Makes nothing, and reads nothing, before something is written."""

    def __init__(self, data: "DataFolder", keys: "Keys") -> None:
        self._data = data
        self._keys = keys

    @late_part
    def redaction(self) -> "Redaction":
        """As far as they are read by now."""
        from app.domain.redaction import Redaction  # noqa: PLC0415  a start writes nothing

        redaction = Redaction(self.all)
        self._data.provider_keys.on_change.append(redaction.changed)
        self._keys.on_seen.append(redaction.changed)
        return redaction

    async def ready(self) -> "Redaction":
        """The same, once the saved keys are read."""
        await self._data.provider_keys.ready()
        return self.redaction

    def text(self, text: str) -> str:
        """Without them."""
        return self.redaction.text(text)

    def all(self) -> "Iterator[Secret]":
        """What people call each of them with it."""
        from app.domain.redaction import Secret  # noqa: PLC0415  see `redaction`
        from app.export.known import named_secrets, start_token  # noqa: PLC0415

        for name, value in self._data.provider_keys.values().items():
            yield Secret(value, _label(name))
        yield from named_secrets(os.environ)
        yield Secret(start_token(self._data.aside), "access token of this app")
        for secret, key in self._keys.seen.items():
            yield Secret(secret, f"API key {key}")


def _label(name: str) -> str:
    """What a saved key is called: `OpenAI key` for `openai:key`."""
    from app.llm.providers import PROVIDERS  # noqa: PLC0415  see `KnownSecrets.redaction`

    provider, _, field = name.partition(":")
    if provider == "tool":
        return "secret of a tool"
    title = PROVIDERS[provider].title if provider in PROVIDERS else provider
    return f"{title} {field.replace('_', ' ')}"
