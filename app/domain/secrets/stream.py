"""Text without secrets while it is written; nobody can tell what is secret by the way in which it comes.

What is held back is the same of every text: the run of characters at its end that has no blank, 64 of them at most. If
only what may become a secret were held back, whoever watches the pieces would see whether they guessed how one begins.

A longer secret is known by its first 64 characters. From there on nothing is shown until all of it can be there, and
then it is looked at as a whole: looked at before that, it would tell how much of a guess is right. What only begins
like it is shown then, as it is stored. Of a secret with blanks the words are shown that came before it was known.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from app.domain.secrets.spellings import Spellings
from app.domain.streaming import CallDelta, Delta

HELD = 64
"""Characters that are held back at most, and by which a longer secret is known."""
_BREAK = re.compile(
    "[\\s\u0e00-\u109f\u1780-\u17ff\u2e80-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)
"""A blank, or a character of a script that is written without any, such as Chinese, Japanese or Thai."""


class CleanStream:
    """Texts that come in pieces: an answer, thoughts, the arguments of calls."""

    def __init__(self, known: Callable[[], Spellings]) -> None:
        """`known` says what is secret by now."""
        self._known = known
        self._texts: dict[str, _Text] = {}

    def take(self, delta: Delta) -> list[Delta]:
        """What may be shown by now, which may be an empty piece.

        The first piece of a text brings the ends of those before it: no last word waits while something else is said.
        """
        name = delta.call_id if isinstance(delta, CallDelta) else type(delta).__name__
        known, others = self._known(), [] if name in self._texts else self._texts.values()
        ended = [text.end(known) for text in others if text.held and not text.due]
        return [*ended, self._texts.setdefault(name, _Text(delta)).take(delta.text, known)]

    @property
    def held(self) -> str:
        """What is held back now, of all that came."""
        return "".join(text.rest(self._known()) for text in self._texts.values())

    def rest(self) -> list[Delta]:
        """What was held back; whatever comes from now on is another text."""
        texts, self._texts = self._texts, {}
        return [text.end(self._known()) for text in texts.values() if text.held]


@dataclass
class _Text:
    like: Delta
    """One of its pieces."""
    shown: str = ""
    """The end of what was shown."""
    held: str = ""
    due: int = 0
    """How many characters have to be held before they are looked at again."""

    def take(self, piece: str, known: Spellings) -> Delta:
        self.held += piece
        if len(self.held) < self.due:
            return _with_text(self.like, "")
        text, begin = self.shown + self.held, len(self.shown)
        end = max(begin, len(text) - _run(text))
        if known.sees_nothing(text):
            return self._show(text[begin:end], end - begin)
        end, whole = _end(text, begin, end, known)
        return self._show(_clean(text, begin, end, known), end - begin, due=max(0, whole - end))

    def end(self, known: Spellings) -> Delta:
        return self._show(self.rest(known), len(self.held))

    def rest(self, known: Spellings) -> str:
        text = self.shown + self.held
        return _clean(text, len(self.shown), len(text), known)

    def _show(self, clean: str, taken: int, *, due: int = 0) -> Delta:
        self.shown, self.held, self.due = (self.shown + clean)[1 - HELD :], self.held[taken:], due
        return _with_text(self.like, clean)


def _end(text: str, begin: int, end: int, known: Spellings) -> tuple[int, int]:
    """Up to where it may be shown at most, and how long it has to be before the rest is looked at."""
    whole = 0
    for spelled, _ in known.marks:
        at = text.find(spelled[:HELD], max(0, len(text) - len(spelled) + 1), end + HELD - 1)  # not all of it came yet
        if at < 0:
            at = text.find(spelled, max(0, end - len(spelled) + 1), end + len(spelled) - 1)
        if 0 <= at < end:
            end, whole = max(begin, at), max(whole, at + len(spelled))
    return end, whole


def _clean(text: str, begin: int, end: int, known: Spellings) -> str:
    """What stands there, without secrets and the rest of one that began before."""
    for spelled, mark in known.marks:
        at = text.find(spelled, max(0, begin - len(spelled) + 1), min(end, begin + len(spelled) - 1))
        if at >= 0:
            return mark + known.without(text[at + len(spelled) : end])
    return known.without(text[begin:end])


def _run(text: str) -> int:
    """The length of the run at its end; one of a single sign, such as the dots of a progress, begins no secret."""
    last = text[: -HELD - 1 : -1]
    found = _BREAK.search(last)
    run = last[: found.start()] if found else last
    return 0 if len(run) > 2 and not run[0].isalnum() and not run.strip(run[0]) else len(run)


def _with_text(delta: Delta, text: str) -> Delta:
    return CallDelta(delta.call_id, delta.name, text) if isinstance(delta, CallDelta) else type(delta)(text)
