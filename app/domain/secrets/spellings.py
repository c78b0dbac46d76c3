"""Secrets in all the ways in which they may be written, and the texts in which they stand."""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

from pydantic_core import SchemaValidator, core_schema

from app.domain.secrets.secret import Secret

GLANCED_AT = 24
"""Characters at the beginning of a secret, by which it is told from nearly all that is none."""
_IN_ADDRESSES = str.maketrans("+/", "-_")


_TEXT = SchemaValidator(core_schema.str_schema(pattern=""))
"""Knows texts that nobody can look through: those with lone surrogates."""


class Spellings:
    """What is known at one moment; whoever looks for it does so with one of these, which never changes."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        found = {spelled: secret.mark for secret in secrets for spelled in spellings(secret.value)}
        self.marks = tuple(sorted(found.items(), key=lambda pair: (-len(pair[0]), pair)))
        """Each spelling with what takes its place, the longest first."""
        self._in_json = tuple(dict.fromkeys(_in_json(spelled) for spelled in found))
        heads = dict.fromkeys(spelled[:GLANCED_AT] for spelled in (*found, *self._in_json))
        # Without any it may be in no text, which the pattern of an empty text would find everywhere.
        pattern = "|".join(map(re.escape, heads)) or "[^\\s\\S]"
        # One pass for all of them, by Rust's regular expressions, which pydantic has: Python's try one by one.
        self._seen = SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))

    def sees_nothing(self, text: str) -> bool:
        """Whether it is certain that none of them, nor the first 24 characters of one, is in the text."""
        return not self._seen.isinstance_python(text) and _TEXT.isinstance_python(text)

    def without(self, text: str) -> str:
        """The text with the mark of each secret in its place."""
        if self.sees_nothing(text):
            return text
        for spelled, mark in self.marks:
            if spelled in text:
                text = text.replace(spelled, mark)
        return text

    def stand_in_json(self, written: str) -> bool:
        """Whether one of them is in the JSON of a value."""
        return not self.sees_nothing(written) and any(spelled in written for spelled in self._in_json)

    def without_bytes(self, content: bytes) -> bytes:
        """A file without secrets; in one that is no text each is covered by as many `*`, so that nothing moves."""
        if content.isascii() and self.sees_nothing(content.decode("ascii")):
            return content
        found = [(spelled.encode(), mark) for spelled, mark in self.marks if spelled.encode() in content]
        is_text = bool(found) and _is_text(content)
        for old, mark in found:
            content = content.replace(old, mark.encode() if is_text else b"*" * len(old))
        return content


def spellings(value: str) -> set[str]:
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
