"""The secrets that this app knows, wherever they come from, and the one thing that takes them out of texts."""

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from app.late import late, late_part

with late():
    from app.domain.secrets import redaction as redacting
    from app.domain.secrets import secret
    from app.export import known
    from app.llm import providers

if TYPE_CHECKING:
    from app.engine.keys import Keys
    from app.store.folder import DataFolder


class KnownSecrets:
    """Makes nothing, and reads nothing, before something is written."""

    def __init__(self, data: "DataFolder", keys: "Keys", access_token: Callable[[], str]) -> None:
        self._data = data
        self._keys = keys
        self._access_token = access_token

    @late_part
    def redaction(self) -> "redacting.Redaction":
        """As far as they are read by now."""
        made = redacting.Redaction(self.all)
        self._data.provider_keys.on_change.append(made.changed)
        self._keys.on_seen.append(made.changed)
        return made

    async def ready(self) -> "redacting.Redaction":
        """The same, once the saved keys are read."""
        await self._data.provider_keys.ready()
        return self.redaction

    def text(self, text: str) -> str:
        """Without them."""
        return self.redaction.text(text)

    def all(self) -> "Iterator[secret.Secret]":
        """What people call each of them with it."""
        for name, value in self._data.provider_keys.values().items():
            yield secret.Secret(value, _label(name))
        yield from known.named_secrets(os.environ)
        yield secret.Secret(self._access_token(), "access token of this app")
        for value, key in self._keys.seen.items():
            yield secret.Secret(value, f"API key {key}")


def _label(name: str) -> str:
    """What a saved key is called: `OpenAI key` for `openai:key`."""
    provider, _, field = name.partition(":")
    if provider == "tool":
        return "secret of a tool"
    title = providers.PROVIDERS[provider].title if provider in providers.PROVIDERS else provider
    return f"{title} {field.replace('_', ' ')}"
