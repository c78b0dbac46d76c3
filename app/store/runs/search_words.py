"""Text and questions in the form that the search index knows.

Words are found in any case and without their accents, each by how it begins. Scripts that put no space between words
(Chinese, Japanese, Korean, Thai, Khmer) are indexed sign by sign, so that any piece of them is found.
"""

import re
import unicodedata
from typing import NamedTuple

MOST_TERMS = 20
"""Words asked for beyond these narrow nothing down."""
_PIECE = 20_000
"""Characters that are looked through at once: nothing else in the process goes on meanwhile."""

_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff])"
)
_TERM = re.compile(r'"([^"]*)"?|([^\s"]+)')
_WORD = r"(?<![^\W_])"
_BETWEEN = r"[\W_]+"


class Term(NamedTuple):
    """A word, or a phrase that was put in quotes."""

    text: str
    quoted: bool


def terms(text: str) -> list[Term]:
    """What a person asked for, `MOST_TERMS` at most."""
    found = (Term((quoted or word).strip(), bool(quoted)) for quoted, word in _TERM.findall(text))
    return [term for term in found if term.text][:MOST_TERMS]


def indexed(text: str) -> str:
    """The text as the index takes it."""
    return "".join(_indexed(text[start : start + _PIECE]) for start in range(0, len(text), _PIECE))


def question(text: str) -> str:
    """What to ask the index for, which is all of the words: each by how it begins, phrases in quotes as they are.

    Empty where there is no letter or digit in it: signs alone are not indexed.
    """
    asked = []
    for term in terms(text):
        words = indexed(term.text)
        if any(sign.isalnum() for sign in words):
            # In quotes nothing of it is a sign of the index's own language.
            asked.append(f'"{words}"' + ("" if term.quoted else "*"))
    return " AND ".join(asked)


class Finder:
    """Says where in a text the words of a question stand."""

    def __init__(self, text: str) -> None:
        pieces = [re.split(_BETWEEN, term.text) for term in terms(text)]
        self._asked = [[piece for piece in words if piece] for words in pieces]
        self._patterns = [_pattern(words) for words in self._asked if words]
        self._bare = [_pattern([_unaccented(word) for word in words]) for words in self._asked if words]

    def place(self, text: str) -> tuple[int, int] | None:
        """The first and the last place of the first word that is there; `None` where none is."""
        return next((found.span() for pattern in self._patterns if (found := pattern.search(text))), None)

    def place_unaccented(self, text: str) -> tuple[int, int] | None:
        """The same whatever the accents; slow, for texts of some thousand characters."""
        bare = _unaccented(text)
        return next((found.span() for pattern in self._bare if (found := pattern.search(bare))), None)


def _pattern(words: list[str]) -> re.Pattern[str]:
    # The one letter whose other case is two.
    wanted = _BETWEEN.join(re.escape(word).replace("ss", "(?:ss|ß)") for word in map(str.casefold, words))
    # In a script without spaces any place may be a word's beginning.
    begins = "" if _UNSPACED.match(words[0]) else _WORD
    return re.compile(begins + wanted, re.IGNORECASE)


def _indexed(text: str) -> str:
    # The index takes neither half a sign nor the sign for nothing.
    whole = text.encode("utf-8", "replace").decode().replace("\0", " ")
    return _UNSPACED.sub(r" \1 ", whole.casefold())


def _unaccented(text: str) -> str:
    """The text with each sign in its barest form, of the same length."""
    return "".join(unicodedata.normalize("NFD", sign)[0] for sign in text)
