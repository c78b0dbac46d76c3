"""One secret that the app knows, and whether somebody could guess it."""

import base64
import re
from dataclasses import dataclass

SHORTEST = 8
"""Characters; a shorter value would be found in ordinary words."""
GUESSES = 64
"""Bits: what takes more guesses than that is found by nobody who has to ask the app for each."""
FEWEST_SIGNS = 9
"""Different ones in what is random, at least; of a million keys of 32 hexadecimal digits, three have fewer."""
_WORD = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")


@dataclass(frozen=True, slots=True)
class Secret:
    value: str
    label: str
    """What people call it: `OpenAI key`; empty where nobody is told."""
    own: bool = False
    """Made by the app, of 256 random bits: its access token, or one of its API keys."""

    @property
    def mark(self) -> str:
        """What stands in its place."""
        return f"[redacted: {_plain(self.label)}]" if self.label else "[redacted]"

    @property
    def guessable(self) -> bool:
        """Whether it is short, or not random: then a word that becomes a mark says that it was guessed.

        A letter of a word counts 2 bits (NIST SP 800-63, version 1.0.2, appendix A), the same word only once; any other
        letter or digit 4.
        """
        value = _unpacked(self.value)
        words = {word.lower() for word in _WORD.findall(value)}
        bits = 2 * sum(map(len, words)) + 4 * sum(map(str.isalnum, _WORD.sub("", value)))
        return bits < GUESSES or len(set(value)) < FEWEST_SIGNS


def _unpacked(value: str) -> str:
    """What is packed in it, as a name and a password are for HTTP; else as it is."""
    try:
        return base64.b64decode(value, validate=True).decode()
    except ValueError:
        return value


def _plain(label: str) -> str:
    """Without what JSON or Markdown would write in another way."""
    return "".join(sign for sign in label if sign.isalnum() or sign in " _-.,:'")[:60]
