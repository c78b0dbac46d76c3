"""Texts without the secrets that this app knows: what is written, and what is shown while it is being written.

A secret is found as it is, as JSON or an address writes it, and in base64, also of something longer. What takes its
place says which it was, where that is anybody's business.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, JsonValue

from app.domain.secrets.secret import SHORTEST, Secret
from app.domain.secrets.spellings import Spellings
from app.domain.secrets.stream import CleanStream
from app.domain.values import well_formed

V = TypeVar("V", bound=BaseModel)


class Redaction:
    """Made anew from `secrets` when `changed` was called; what was known once stays known until the app ends."""

    def __init__(self, secrets: Callable[[], Iterable[Secret]]) -> None:
        self._secrets = secrets
        self._known: dict[str, Secret] = {}
        self._spellings = Spellings()
        self._changes = 1
        self._learnt = 0
        """How many changes are in what is known."""

    def changed(self) -> None:
        """Ask for the secrets again before the next text."""
        self._changes += 1

    def known(self) -> tuple[Secret, ...]:
        """All that are looked for."""
        self.spellings()
        return tuple(self._known.values())

    def text(self, text: str) -> str:
        """The text with `[redacted: OpenAI key]` in place of each secret."""
        return self.spellings().without(text)

    def value(self, value: V) -> V:
        """The value without secrets; the same object where it holds none."""
        if not self.spellings().stand_in_json(value.model_dump_json()):
            return value
        return type(value).model_validate(self._cleaned(value.model_dump(mode="json")))

    def content(self, content: bytes) -> bytes:
        """A file without secrets; one that is no text keeps its length."""
        return self.spellings().without_bytes(content)

    def stream(self) -> CleanStream:
        """For text that comes in pieces."""
        return CleanStream(self.spellings)

    def spellings(self) -> Spellings:
        """All that is looked for, as of now.

        Whatever fails here leaves it stale: the next text fails too, and none goes out with a secret in it.
        """
        if self._learnt != self._changes:
            changes, known = self._changes, dict(self._known)
            for secret in self._secrets():
                # What is no text, such as a variable of other bytes, can be in none.
                if len(secret.value) >= SHORTEST and well_formed(secret.value) == secret.value:
                    known.setdefault(secret.value, secret)
            self._spellings = Spellings(known.values())
            self._known, self._learnt = known, changes
        return self._spellings

    def _cleaned(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self._cleaned(inner) for key, inner in value.items()}
        return [self._cleaned(inner) for inner in value] if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class Redactions:
    """What takes the secrets out of a run's texts, by whose they are."""

    said: Redaction
    """What its caller and its model say."""
    streamed: Redaction
    """What the model says, while it is being written."""
    read: Redaction
    """What tools read outside of the session."""

    def of_tool(self, *, reads_outside: bool) -> Redaction:
        """For what a tool gives back."""
        return self.read if reads_outside else self.said
