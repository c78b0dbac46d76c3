"""What a person decides on, so that all of it is seen: no character hides, and none turns its neighbours around."""

import json
import re
from typing import TypeVar

from app.domain.tools import ToolSpec
from app.ui.elements.format import head

S = TypeVar("S", bound=str)

HIDDEN = (
    "0-8 b-1f 7f-9f ad 34f 600-605 61c 6dd 70f 890-891 8e2 115f-1160 17b4-17b5 180b-180f 200b-200f 2028-202e 2060-206f "
    "3164 d800-dfff fe00-fe0f feff ffa0 fff0-fffb 110bd 110cd 13430-1343f 1bca0-1bca3 1d173-1d17a e0000-e0fff"
)
"""Unicode's categories Cc (but for tab and line feed), Cf, Cs, Zl and Zp, and what it calls default ignorable; see
https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point.
"""
_SPANS = (one.partition("-") for one in HIDDEN.split())
_RANGES = "".join(rf"\U{first:0>8}-\U{last or first:0>8}" for first, _, last in _SPANS)
_HIDDEN_ONE = re.compile(f"[{_RANGES}]")
_CONTROLS = {point: f"\\u{point:04x}" for point in range(0x80) if _HIDDEN_ONE.match(chr(point))}
_EMOJI = re.compile("([©®‼⁉™ℹ\u2190-\u2bff\U0001f000-\U0001faff]\ufe0f)")  # with a selector that shows


def visible(text: S) -> S:
    r"""The text or markup with `\u202e` for each such character, as JSON writes it; so JSON stays the same JSON."""
    pieces: list[str] = _EMOJI.split(text) if "\ufe0f" in text else [text]
    pieces[::2] = [
        piece.translate(_CONTROLS) if piece.isascii() else _HIDDEN_ONE.sub(_escape, piece) for piece in pieces[::2]
    ]
    return type(text)("".join(pieces))


def title_of(spec: ToolSpec) -> str:
    """What people call the tool."""
    return visible(spec.title or spec.name)


def titled(spec: ToolSpec | None, name: str, label: str) -> str:
    """`Calculator (weather › calculate)`: a title may be any words, so whose tool it is stands beside it."""
    title = head(spec.title if spec and spec.title else name, 60)
    return visible(f"{title} ({label})" if label else title)


def _escape(hidden: re.Match[str]) -> str:
    point = ord(hidden[0])
    return f"\\u{point:04x}" if point < 0x10000 else json.dumps(hidden[0])[1:-1]
