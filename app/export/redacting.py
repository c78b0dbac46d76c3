"""Traces without the keys and passwords in them, and a list of what was taken out and where.

Keys that this app knows are always taken out, however they are written. What only looks like one is known by its shape;
each shape can be let through, since a text may be about one.
"""

import codecs
import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
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
LOOKED_AT = 256 * 1024
"""Bytes of a file that a pattern goes through in one go, as nothing else is done meanwhile."""
SHORTEST_KNOWN = 6
"""Characters of a key below which it would be found in ordinary words."""
SHORTEST_READABLE = 12
"""Characters of a text in a file that is none: no key with what stands around it is shorter."""
_READABLE = re.compile(rb"[\t\n\r\x20-\x7e]{%d,}" % SHORTEST_READABLE)


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
        """A file's content without secrets; in what is no text they are covered by `*`, so that nothing moves."""
        self._seq = -1
        if (read := _read(content)) is None:
            return self._shaped_bytes(self._known_bytes(content))
        if (cleaned := self.text(read[0])) != read[0]:
            content = cleaned.encode(read[1])
        return self._known_bytes(content) if b"\0" in content else content

    def _known_bytes(self, content: bytes) -> bytes:
        """Without the known keys, also where each sign of them has two bytes."""
        bare = content.replace(b"\0", b"")  # in which one look finds most of them, whatever their signs have
        for secret, spelled in self._known:
            for written in dict.fromkeys(map(spelled.encode, ("utf-8", "utf-16-le", "utf-16-be"))):
                if written.replace(b"\0", b"") in bare and written in content:
                    self._note(KNOWN, secret)
                    content = content.replace(written, b"*" * len(written))
        return content

    def _shaped_bytes(self, content: bytes) -> bytes:
        """Without what looks like a secret in what can be read of it."""
        pieces, end = list[bytes](), 0
        for start, stop in _readable(content):
            text = content[start:stop].decode("ascii")
            if (covered := replaced(text, self._covered, self._shapes)) != text:
                pieces += (content[end:start], covered.encode())
                end = stop
        return b"".join((*pieces, content[end:])) if pieces else content

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

    def _covered(self, shape: Shape, secret: str) -> str:
        self._note(shape, secret)
        return "*" * len(secret)

    def _note(self, kind: str, secret: str) -> None:
        key = (self._seq, kind, masked(secret))
        self._found[key] = self._found.get(key, 0) + 1


def masked(secret: str) -> str:
    """The first characters of a secret and its length: enough to know it by, too little to use it."""
    head = secret.split("\n", 1)[0][: min(4, len(secret) // 5)]
    return f"{head}… ({len(secret)} characters)"


def _read(content: bytes) -> tuple[str, str] | None:
    """The text that the file is, and how that is written; `None` for what is none."""
    wide = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}.get(content[:2])
    for encoding in (wide,) if wide else ("utf-8",) if b"\0" in content else ("utf-8", "latin-1"):
        with suppress(UnicodeDecodeError):
            return content.decode(encoding), encoding
    return None


def _readable(content: bytes) -> Iterator[tuple[int, int]]:
    """From where to where there are only letters, digits and signs."""
    place = 0
    while place < len(content):
        found = _READABLE.search(content, place, place + LOOKED_AT)
        whole = found and _READABLE.match(content, found.start())
        if whole:
            yield whole.span()
        place = whole.end() if whole else place + LOOKED_AT - SHORTEST_READABLE + 1


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
