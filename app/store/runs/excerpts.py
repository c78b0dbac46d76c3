"""Where in a run a question was found, in a line."""

from collections.abc import Sequence

from app.domain.trace import Excerpt, Passage
from app.store.journal.pause import Pause
from app.store.runs.search_words import Finder

BEFORE, AFTER = 40, 110
"""Characters around what was found."""
_BARE_TEXT = 5_000
"""Characters of a text that are looked through for words with other accents."""


def excerpt(passages: Sequence[Passage], finder: Finder) -> Excerpt | None:
    """The first passage that says it, what the list shows of a run anyway last; `None` where no passage does."""
    pause = Pause()
    for passage in sorted(passages, key=_shown_anyway):
        pause()
        if place := finder.place(passage.text):
            return _cut(passage, *place)
    for passage in passages[:100]:
        pause()
        if place := finder.place_unaccented(passage.text[:_BARE_TEXT]):
            return _cut(passage, *place)
    return None


def _shown_anyway(passage: Passage) -> bool:
    return passage.place == "Request"


def _cut(passage: Passage, first: int, last: int) -> Excerpt:
    text = passage.text
    begin, end = max(0, first - BEFORE), last + AFTER
    return Excerpt(
        seq=passage.seq,
        place=passage.place,
        before=("…" if begin else "") + _one_line(text[begin:first]).lstrip(),
        hit=_one_line(text[first:last]),
        after=_one_line(text[last:end]).rstrip() + ("…" if end < len(text) else ""),
    )


def _one_line(text: str) -> str:
    """The text with each gap as one space; also one at its edge stays."""
    words = " ".join(text.split())
    return f"{' ' * text[:1].isspace()}{words}{' ' * text[-1:].isspace()}" if words else " " * bool(text)
