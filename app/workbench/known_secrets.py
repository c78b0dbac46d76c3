"""The secrets that this app knows, wherever they come from, and the one thing that takes them out of texts."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING

from app.domain.provenance import Trigger
from app.late import late, late_part

with late():
    from app.domain import collectors
    from app.domain.secrets import redaction as redacting
    from app.domain.secrets import secret
    from app.export import known
    from app.llm.providers import providers

if TYPE_CHECKING:
    from app.engine.keys import Keys
    from app.store.folder.folder import DataFolder


_SPEAKER: ContextVar[Trigger | None] = ContextVar("speaker", default=None)
"""Whose request is being answered; the owner's where nobody said so."""


@contextmanager
def speaking(speaker: Trigger) -> "Iterator[None]":
    """What is stored, called or exported in here is theirs; a run has its own rule, by who started it."""
    before = _SPEAKER.set(speaker)
    try:
        yield
    finally:
        _SPEAKER.reset(before)


class KnownSecrets:
    """Makes nothing, and reads nothing, before something is written."""

    def __init__(self, data: "DataFolder", keys: "Keys", access_token: Callable[[], str]) -> None:
        self._data = data
        self._keys = keys
        self._access_token = access_token

    @late_part
    def redaction(self) -> "redacting.Redaction":
        """Of all of them, as far as they are read by now."""
        return self._followed(self.all)

    async def ready(self, speaker: Trigger) -> "redacting.Redactions":
        """For a run of theirs, once the saved keys are read."""
        await self._data.provider_keys.ready()
        return self._of(speaker)

    def now(self) -> "redacting.Redactions":
        """For what happens outside of runs."""
        return self._of(_SPEAKER.get())

    def _of(self, speaker: Trigger | None) -> "redacting.Redactions":
        return self._of_owner if speaker is None or speaker.is_owner else self._of_others

    @late_part
    def _of_owner(self) -> "redacting.Redactions":
        return redacting.Redactions(said=self.redaction, streamed=self.redaction, read=self.redaction)

    @late_part
    def _of_others(self) -> "redacting.Redactions":
        """Guests and keys: their marks name nothing, and what they may guess is looked for in what tools read only."""

        def said() -> "Iterator[secret.Secret]":
            return (replace(one, label="") for one in self.redaction.known() if not one.guessable)

        return redacting.Redactions(
            said=self._followed(said),
            streamed=self._followed(lambda: (one for one in said() if not one.own)),
            read=self._followed(lambda: (replace(one, label="") for one in self.redaction.known())),
        )

    def _followed(self, secrets: "Callable[[], Iterable[secret.Secret]]") -> "redacting.Redaction":
        made = redacting.Redaction(secrets)
        self._data.provider_keys.on_change.append(made.changed)
        self._keys.on_seen.append(made.changed)
        return made

    def values(self) -> list[str]:
        """What may be in no export and no log, as of now."""
        return known.known_secrets(os.environ, values=[one.value for one in self.all()])

    def exported(self) -> list[str]:
        """Those of them that are taken out of what is exported now."""
        by_owner = self.now() is self._of_owner
        return [value for value in self.values() if by_owner or not secret.Secret(value, "").guessable]

    def text(self, text: str) -> str:
        """Without them."""
        return self.redaction.text(text)

    def all(self) -> "Iterator[secret.Secret]":
        """What people call each of them with it."""
        for name, value in self._data.provider_keys.values().items():
            yield secret.Secret(_without_scheme(value), _label(name))
        yield from known.named_secrets(os.environ)
        for name, value in collectors.headers_of(os.environ).items():
            yield secret.Secret(_without_scheme(value), f"header {name} of the collector")
        yield secret.Secret(self._access_token(), "access token of this app", own=True)
        for value, key in list(self._keys.seen.items()):  # exports ask in a thread
            yield secret.Secret(value, f"API key {key}", own=True)


def _without_scheme(value: str) -> str:
    """The secret in the value of a header `Authorization`."""
    return value.removeprefix("Bearer ").removeprefix("Basic ")


def _label(name: str) -> str:
    """What a saved key is called: `OpenAI key` for `openai:key`."""
    provider, _, field = name.partition(":")
    if provider == "tool":
        return "secret of a tool"
    if provider == "otlp":
        return f"header {field} of the collector"
    if provider == "mcp":
        return f"{field.rpartition('/')[2].replace('_', ' ')} of an MCP server"
    title = providers.PROVIDERS[provider].title if provider in providers.PROVIDERS else provider
    return f"{title} {field.replace('_', ' ')}"
