"""Traces without the keys and passwords in them, and a list of what was taken out and where.

Keys that this app knows are always taken out, however they are written. What only looks like one is known by its shape;
each shape can be let through, since a text may be about one.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from pydantic import JsonValue, ValidationError

from app.domain.evals.scores import Score
from app.domain.events import Entry
from app.domain.secrets.shapes import SHAPES, Shape, replaced
from app.domain.secrets.spellings import spellings
from app.domain.values import Value

V = TypeVar("V", bound=Value)

KNOWN = "known key"
LONGEST_REMEMBERED = 40
SHORTEST_KNOWN = 6
"""Characters of a key below which it would be found in ordinary words."""


class Redaction(Value):
    """A place where something was taken out."""

    run_id: str
    seq: int
    """The entry it was in; -1 for the content of a file."""
    kind: str
    """A shape, or `KNOWN`."""
    masked: str
    """How it began, and how long it was."""
    count: int = 1
    """How often it stood there."""


class Redactor:
    """Takes secrets out of one run's texts and keeps a list of it."""

    def __init__(self, run_id: str, secrets: Iterable[str] = (), *, let_through: Collection[Shape] = ()) -> None:
        """`secrets`: the known keys. `let_through`: the shapes that stay as they are."""
        self._run_id = run_id
        self._known = _spellings(secrets)
        self._shapes = [shape for shape in SHAPES if shape not in let_through]
        self._found: dict[tuple[int, str, str], int] = {}
        self._renamed: dict[str, str] = {}
        self._seq = -1
        self._harmless: set[str] = set()
        """Short texts without a secret, such as the names of fields, which each entry repeats."""

    @property
    def redactions(self) -> tuple[Redaction, ...]:
        """What was taken out so far, in order of the entries."""
        return tuple(
            Redaction(run_id=self._run_id, seq=seq, kind=kind, masked=masked, count=count)
            for (seq, kind, masked), count in sorted(self._found.items())
        )

    def rename(self, digests: Mapping[str, str]) -> None:
        """Entries refer to the new digest from now on, where a file's content changed."""
        self._renamed.update(digests)

    def entries(self, entries: Sequence[Entry]) -> list[Entry]:
        """The entries without secrets; those that hold none are the same objects."""
        return [self._entry(entry) for entry in entries]

    def text(self, text: str) -> str:
        """The text with `[redacted …]` in place of each secret."""
        if text in self._harmless:
            return text
        cleaned = self._cleaned(text)
        if len(text) <= LONGEST_REMEMBERED and cleaned == text:
            self._harmless.add(text)
        return cleaned

    def score(self, score: Score) -> Score:
        """What was said of the run, without secrets."""
        self._seq = -1
        return score.model_copy(update={"label": self.text(score.label), "note": self.text(score.note)})

    def text_at(self, seq: int, text: str) -> str:
        """The same of a text that is shown with that entry."""
        self._seq = seq
        return self.text(text)

    def _cleaned(self, text: str) -> str:
        for secret, spelled in self._known:
            if spelled in text:
                for _ in range(text.count(spelled)):
                    self._note(KNOWN, secret)
                text = text.replace(spelled, f"[redacted {KNOWN}]")
        return replaced(text, self._replaced, self._shapes)

    def artifacts(self, contents: Mapping[str, bytes]) -> tuple[dict[str, bytes], dict[str, str]]:
        """Contents by sha256 without secrets, by the digests they have then; and the new digest of each changed one."""
        cleaned = {digest: self.content(content) for digest, content in contents.items()}
        renamed = {
            digest: hashlib.sha256(content).hexdigest()
            for digest, content in cleaned.items()
            if content is not contents[digest]
        }
        return {renamed.get(digest, digest): content for digest, content in cleaned.items()}, renamed

    def content(self, content: bytes) -> bytes:
        """A file's content without secrets; what is no text is left alone, but for known keys."""
        self._seq = -1
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return self._known_bytes(content)
        cleaned = self.text(text)
        return content if cleaned == text else cleaned.encode()

    def _known_bytes(self, content: bytes) -> bytes:
        for secret, spelled in self._known:
            if (octets := spelled.encode()) in content:
                self._note(KNOWN, secret)
                content = content.replace(octets, b"*" * len(octets))
        return content

    def _entry(self, entry: Entry) -> Entry:
        self._seq = entry.seq
        event: JsonValue = entry.event.model_dump(mode="json")
        cleaned = self.value(event)
        if cleaned == event:
            return entry
        rest = entry.model_dump(exclude={"event"})
        try:
            return Entry.model_validate({**rest, "event": cleaned})
        except ValidationError:
            if not (isinstance(cleaned, dict) and cleaned.get("workflow")):
                raise
            # A key stood where a document takes no other words, such as the id of a node: the run goes without it.
            return Entry.model_validate({**rest, "event": {**cleaned, "workflow": None}})

    def value(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self._renamed.get(value) or self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.value(inner) for key, inner in value.items()}
        return [self.value(inner) for inner in value] if isinstance(value, list) else value

    def _replaced(self, shape: Shape, secret: str) -> str:
        self._note(shape, secret)
        return f"[redacted {shape}]"

    def _note(self, kind: str, secret: str) -> None:
        key = (self._seq, kind, masked(secret))
        self._found[key] = self._found.get(key, 0) + 1


def masked(secret: str) -> str:
    """The first characters of a secret and its length: enough to know it by, too little to use it."""
    head = secret.split("\n", 1)[0][: min(4, len(secret) // 5)]
    return f"{head}… ({len(secret)} characters)"


def _spellings(secrets: Iterable[str]) -> list[tuple[str, str]]:
    """Each known key in all the ways in which it may be written; the longest first."""
    known = {secret.strip() for secret in secrets}
    found = {
        (spelled, secret)
        for secret in known
        if len(secret) >= SHORTEST_KNOWN
        for spelled in {*spellings(secret), json.dumps(secret)[1:-1]}
    }
    return [(secret, spelled) for spelled, secret in sorted(found, key=lambda pair: (-len(pair[0]), pair))]
