"""What of a code is a keyword, a string and so on, as Pygments sees it. Runs in a process of its own: see `colours`."""

from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES

from app.tools.function.authoring import tool


@tool
def colouring(text: str, language: str) -> list[tuple[str, int]]:
    """The text's pieces in order, each as the class of its colour and its length in UTF-16, as browsers count."""
    pieces: list[tuple[str, int]] = []
    for _, token, piece in get_lexer_by_name(language).get_tokens_unprocessed(text):
        known = (kind for kind in reversed(token.split()) if kind in STANDARD_TYPES)
        pieces.append((STANDARD_TYPES[next(known)], len(piece.encode("utf-16-le", "surrogatepass")) // 2))
    return pieces
