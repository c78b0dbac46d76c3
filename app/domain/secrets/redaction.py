"""Texts without the secrets that this app knows: what is written, and what is shown while it is being written.

A secret is found as it is, as JSON or an address writes it, and in base64, also of something longer. What takes its
place says which it was.
"""

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import quote, quote_plus

from pydantic import BaseModel, JsonValue
from pydantic_core import SchemaValidator, core_schema

from app.domain.streaming import CallDelta, Delta, ReasoningDelta, TextDelta
from app.domain.values import well_formed

SHORTEST = 8
"""Characters; a shorter value would be found in ordinary words."""
_IN_ADDRESSES = str.maketrans("+/", "-_")
V = TypeVar("V", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Secret:
    value: str
    label: str
    """What people call it: `OpenAI key`."""


class Redaction:
    """Made anew from `secrets` when `changed` was called; what was known once stays known until the app ends."""

    def __init__(self, secrets: Callable[[], Iterable[Secret]]) -> None:
        self._secrets = secrets
        self._known: dict[str, str] = {}
        self._spelled: tuple[tuple[str, str], ...] = ()
        self._in_json: tuple[str, ...] = ()
        self._glance = Glance(())
        self._begun: frozenset[str] | None = None
        self._longest = 0
        self._changes = 1
        self._learnt = 0
        """How many changes are in what is known."""

    def changed(self) -> None:
        """Ask for the secrets again before the next text."""
        self._changes += 1

    @property
    def _stale(self) -> bool:
        return self._learnt != self._changes

    def text(self, text: str) -> str:
        """The text with `[redacted: OpenAI key]` in place of each secret."""
        if self._stale:
            self._learn()
        if self._glance.sees_nothing(text):
            return text
        for spelled, mark in self._spelled:
            if spelled in text:
                text = text.replace(spelled, mark)
        return text

    def value(self, value: V) -> V:
        """The value without secrets; the same object where it holds none."""
        if self._stale:
            self._learn()
        if not self._in_json:
            return value
        written = value.model_dump_json()
        if self._glance.sees_nothing(written) or not any(spelled in written for spelled in self._in_json):
            return value
        return type(value).model_validate(self._cleaned(value.model_dump(mode="json")))

    def content(self, content: bytes) -> bytes:
        """A file without secrets; in one that is no text each is covered by as many `*`, so that nothing moves."""
        if self._stale:
            self._learn()
        if content.isascii() and self._glance.sees_nothing(content.decode("ascii")):
            return content
        found = [(spelled, mark) for spelled, mark in self._spelled if spelled.encode() in content]
        if not found:
            return content
        is_text = _is_text(content)
        for spelled, mark in found:
            old = spelled.encode()
            content = content.replace(old, mark.encode() if is_text else b"*" * len(old))
        return content

    def stream(self) -> "CleanStream":
        """For text that comes in pieces."""
        return CleanStream(self)

    def begun(self, text: str) -> int:
        """How many characters at the end of the text may be the beginning of a secret."""
        if self._begun is None or self._stale:
            self.text("")
            self._begun = frozenset(
                spelled[:length] for spelled, _ in self._spelled for length in range(1, len(spelled))
            )
        first = max(0, len(text) - self._longest + 1)
        for start in range(first, len(text)):
            if text[start:] in self._begun and not (start and text[start - 1].isalnum()):
                return len(text) - start
        return 0

    def _learn(self) -> None:
        """Whatever fails here leaves it stale: the next text fails too, and none goes out with a secret in it."""
        changes, known = self._changes, dict(self._known)
        for secret in self._secrets():
            # What is no text, such as a variable of other bytes, can be in none.
            if len(secret.value) >= SHORTEST and well_formed(secret.value) == secret.value:
                known.setdefault(secret.value, _plain(secret.label))
        found = {spelled: f"[redacted: {label}]" for value, label in known.items() for spelled in _spellings(value)}
        spelled = tuple(sorted(found.items(), key=lambda pair: (-len(pair[0]), pair)))
        in_json = tuple(dict.fromkeys(_in_json(one) for one, _ in spelled))
        glance = Glance((*found, *in_json))
        self._known, self._spelled, self._in_json, self._glance = known, spelled, in_json, glance
        self._longest = max(map(len, found), default=0)
        self._begun = None
        self._learnt = changes

    def _cleaned(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self._cleaned(inner) for key, inner in value.items()}
        return [self._cleaned(inner) for inner in value] if isinstance(value, list) else value


GLANCED_AT = 24
"""Characters at the beginning of a secret, by which it is told from nearly all that is none."""


class Glance:
    """Whether any of many texts may be in another one, told in one pass: one for each of them would take longer.

    Rust's regular expressions do that, which pydantic has. Python's try one text after the other.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        heads = dict.fromkeys(text[:GLANCED_AT] for text in texts)
        # Without any it may be in no text, which the pattern of an empty text would find everywhere.
        pattern = "|".join(map(re.escape, heads)) or "[^\\s\\S]"
        self._seen = SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))

    def sees_nothing(self, text: str) -> bool:
        """Whether it is certain that none of them is in the text."""
        return not self._seen.isinstance_python(text) and _TEXT.isinstance_python(text)


_TEXT = SchemaValidator(core_schema.str_schema(pattern=""))
"""Knows texts that nobody can look through: those with lone surrogates."""


class CleanStream:
    """Holds back the end of a text as long as it may become a secret."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._held: dict[str, Delta] = {}

    def take(self, delta: Delta) -> Delta:
        """What may be shown by now, which may be an empty piece."""
        channel = delta.call_id if isinstance(delta, CallDelta) else type(delta).__name__
        before = self._held.pop(channel, None)
        text = self._redaction.text(before.text + delta.text if before else delta.text)
        if held := self._redaction.begun(text):
            self._held[channel] = _with_text(delta, text[-held:])
            text = text[:-held]
        return _with_text(delta, text)

    @property
    def held(self) -> str:
        """What is held back now, of all that came."""
        return "".join(delta.text for delta in self._held.values())

    def rest(self) -> list[Delta]:
        """What was held back and became no secret."""
        held, self._held = list(self._held.values()), {}
        return held


def _with_text(delta: Delta, text: str) -> Delta:
    match delta:
        case TextDelta():
            return TextDelta(text)
        case ReasoningDelta():
            return ReasoningDelta(text)
        case CallDelta(call_id=call_id, name=name):
            return CallDelta(call_id, name, text)


def _spellings(value: str) -> set[str]:
    """As it is, as JSON in JSON and addresses write it, and as a tool that packs it in base64 does."""
    in_json = _in_json(value)
    return {value, in_json, _in_json(in_json), quote(value, safe=""), quote_plus(value), *_packed(value.encode())}


def _packed(value: bytes) -> Iterator[str]:
    """In base64, wherever in what is packed it begins: without the characters that its neighbours have a part in."""
    for before in range(3):
        packed = base64.b64encode(bytes(before) + value).decode()
        whole = packed[-(-before * 8 // 6) : (before + len(value)) * 8 // 6]
        yield from (whole, whole.translate(_IN_ADDRESSES))


def _in_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _plain(label: str) -> str:
    """Without what JSON or Markdown would write in another way."""
    return "".join(sign for sign in label if sign.isalnum() or sign in " _-.,:'")[:60]
