"""What of a code is a keyword, a string and so on, as Pygments sees it. Runs in a process of its own: see `colours`."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES

from app.tools.function.authoring import tool

PROCESSOR_SECONDS = 1.0
"""That one code may take: what a machine gives to this process in a second says nothing of the code."""


@tool
def colouring(text: str, language: str) -> list[tuple[str, int]]:
    """The text's pieces in order, each as the class of its colour and its length in UTF-16, as browsers count."""
    pieces: list[tuple[str, int]] = []
    with _limited():
        for _, token, piece in get_lexer_by_name(language).get_tokens_unprocessed(text):
            known = (kind for kind in reversed(token.split()) if kind in STANDARD_TYPES)
            pieces.append((STANDARD_TYPES[next(known)], len(piece.encode("utf-16-le", "surrogatepass")) // 2))
    return pieces


@contextmanager
def _limited() -> Iterator[None]:
    """The system ends this process when its time is used up; nothing else ends a match of a pattern. Not on Windows."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, PROCESSOR_SECONDS)
    try:
        yield
    finally:
        if sys.platform != "win32":
            signal.setitimer(signal.ITIMER_PROF, 0)
