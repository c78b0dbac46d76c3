"""Reading on in a result that was too big to be told in full."""

import asyncio
import codecs

from app.domain.errors import ToolError
from app.domain.tools import CallContext
from app.tools.builtin.documents import plain_text
from app.tools.function.tool import tool

USUAL_LENGTH = 8_000
MOST_CHARACTERS = 16_000
MOST_BYTES = 18_000
"""Of what one call returns, so that it is not itself too big."""


@tool(icon="unfold_more", idempotent=True)
async def read_result(ref: str, context: CallContext, offset: int = 0, length: int = USUAL_LENGTH) -> str:
    """Read more of a big result, of which only the beginning was shown, or of an attached text file.

    Returns a line that says which characters these are, an empty line, and the text.

    Args:
        ref: The name that the shortened result gave, the first 12 or more digits of its sha256.
        offset: The first character to show, counted from 0.
        length: How many characters to show, 16000 at most.
    """
    if offset < 0 or length < 1:
        raise ToolError("'offset' counts from 0 and 'length' is at least 1.")
    content = await context.result(ref.strip().lower())
    return await asyncio.to_thread(_excerpt, ref.strip(), content, offset, min(length, MOST_CHARACTERS))


def _excerpt(ref: str, content: bytes, offset: int, length: int) -> str:
    text = _text(ref, content)
    if offset > len(text):
        raise ToolError(f"{ref} has {len(text):,} characters; {offset:,} is behind its end.")
    shown = _fitting(text[offset : offset + length])
    end = offset + len(shown)
    rest = f"; read on with offset={end}" if end < len(text) else "; this is its end"
    return f"{ref}: characters {offset:,} to {end:,} of {len(text):,}{rest}\n\n{shown}"


def _text(ref: str, content: bytes) -> str:
    text = plain_text(content)
    if text is None:
        raise ToolError(f"{ref} is no text ({len(content):,} bytes); it cannot be read here.")
    return text


def _fitting(text: str) -> str:
    """As many whole characters as may be returned."""
    return codecs.getincrementaldecoder("utf-8")().decode(text.encode()[:MOST_BYTES])
