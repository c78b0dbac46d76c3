"""Where the blocks of a Markdown text end, in a text that grows or in one that is too long to be read in one piece.

A piece of a long text is as much as is read without anything else in the process having to wait: what the reader
makes of 20,000 characters takes Python 50 ms to look through for garbage, and all else stands still meanwhile.
"""

import re
import sys
from collections.abc import Iterator

LONG_LIST = 1500
"""Characters after which a list is cut at its next item, which is put together again when the answer is finished."""
PIECE = 10_000
LONGEST_PIECE = 20_000
"""Characters: of a piece where the text can be cut, and of one that is read as Markdown."""

_STARTS_BLOCK = re.compile(r"[^\s\-*+>\d|]")
_STARTS_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_FENCE = re.compile(r"(`{3,}(?![^\n]*`)|~{3,})[ \t]*([\w+#.-]*)")


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces of whole blocks, each with whether it is read as Markdown: what has no end is not.

    Code is, however long: there is nothing to read in it.
    """
    splitter, start = BlockSplitter(), 0
    for end in range(PIECE, len(text), PIECE):
        splitter.feed(text[:end])
        if splitter.cut > start:
            yield _judged(text[start : splitter.cut])
            start = splitter.cut
    yield _judged(text[start:])


def fenced_parts(text: str) -> list[tuple[str, str | None]]:
    """The text in parts: what stands between fences with its language, empty where none is named; the rest with `None`.

    A fence that is never closed is none: people write three backticks for other things too.
    """
    parts: list[tuple[str, str | None]] = []
    plain: list[str] = []
    code: list[str] = []
    fence = language = ""
    for line in text.splitlines(keepends=True):
        opening = _FENCE.match(line.lstrip(" "))
        if not fence and opening and line.lstrip(" ")[opening.end() :].strip() == "":
            fence, language, code = opening.group(1), opening.group(2), [line]
        elif fence and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            parts += [("".join(plain), None), ("".join(code[1:]), language)]
            fence, plain = "", []
        else:
            (code if fence else plain).append(line)
    parts.append(("".join(plain + (code if fence else [])), None))
    return [part for part in parts if part[0] or part[1] is not None]


def _judged(piece: str) -> tuple[str, bool]:
    return piece, len(piece) <= LONGEST_PIECE or _FENCE.match(piece) is not None


class BlockSplitter:
    """Finds the end of the finished blocks in a text that grows; looks at every line once."""

    def __init__(self) -> None:
        self.cut = 0
        """Everything before here is finished."""
        self.fence = ""
        """What closes the code block that is open at `fence_body`, empty when none is."""
        self.fence_at_margin = False
        self.fence_language = ""
        self.fence_body = 0
        self._scanned = 0
        self._after_blank = False

    def feed(self, text: str, most: int = sys.maxsize) -> bool:
        """Look at the lines of `text` that are complete and new, or at the first `most`: whether more may be left."""
        for _ in range(most):
            if (end := text.find("\n", self._scanned)) < 0:
                return False
            self._line(text[self._scanned : end + 1])
            self._scanned = end + 1
        return True

    def _line(self, line: str) -> None:
        stripped = line.lstrip()
        if self.fence:
            self._in_fence(line, stripped)
            return
        opening = _FENCE.match(stripped)
        at_margin = opening is not None and line == stripped
        if at_margin or self._starts_block(line):
            self.cut = self._scanned
        if opening is not None:
            self.fence, self.fence_language = opening.group(1), opening.group(2)
            self.fence_at_margin, self.fence_body = at_margin, self._scanned + len(line)
        self._after_blank = not stripped

    def _starts_block(self, line: str) -> bool:
        if self._scanned - self.cut > LONG_LIST and _STARTS_ITEM.match(line):
            return True
        return self._after_blank and _STARTS_BLOCK.match(line) is not None

    def _in_fence(self, line: str, stripped: str) -> None:
        if stripped.startswith(self.fence) and not stripped.strip().strip(self.fence[0]):
            if self.fence_at_margin:
                self.cut = self._scanned + len(line)
            self.fence = ""
            self._after_blank = False
