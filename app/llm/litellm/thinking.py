"""Thinking that a model writes into its answer between `<think>` and `</think>`, told apart from the answer.

Only at the start of an answer: later on the same tag is something the answer talks about. Empty lines behind a tag
belong to the tag.
"""

from typing import Literal

from app.domain.streaming import ReasoningDelta, TextDelta

Piece = TextDelta | ReasoningDelta

_OPENING = ("<think>", "<thinking>")


class ThinkSplitter:
    """Takes an answer piece by piece; what may be part of a tag is held back until it is clear."""

    def __init__(self) -> None:
        self._state: Literal["start", "thinking", "answer"] = "start"
        self._behind_tag = False
        self._held = ""
        self._closing = ""

    def feed(self, text: str) -> list[Piece]:
        if self._state == "answer" and not self._behind_tag:
            return [TextDelta(text)]
        self._held += text
        return self._read()

    def end(self) -> list[Piece]:
        """What is left when nothing more comes."""
        held, self._held = self._held, ""
        return self._said(held)

    def _read(self) -> list[Piece]:
        if self._state == "start":
            return self._read_start()
        if self._behind_tag:
            self._held = self._held.lstrip("\n")
            self._behind_tag = not self._held
        return self._read_thinking() if self._state == "thinking" else self.end()

    def _read_start(self) -> list[Piece]:
        begun = self._held.lstrip()
        for tag in _OPENING:
            if begun.startswith(tag):
                self._state, self._closing = "thinking", f"</{tag[1:]}"
                self._behind_tag, self._held = True, begun[len(tag) :]
                return self._read()
        if any(tag.startswith(begun) for tag in _OPENING):
            return []
        self._state = "answer"
        return self.end()

    def _read_thinking(self) -> list[Piece]:
        thought, closed, rest = self._held.partition(self._closing)
        if closed:
            said = self._said(thought)
            self._state, self._behind_tag, self._held = "answer", True, rest
            return said + self._read()
        kept = _overlap(self._held, self._closing)
        ready, self._held = self._held[: len(self._held) - kept], self._held[len(self._held) - kept :]
        return self._said(ready)

    def _said(self, text: str) -> list[Piece]:
        if not text:
            return []
        return [ReasoningDelta(text) if self._state == "thinking" else TextDelta(text)]


def _overlap(text: str, tag: str) -> int:
    """How many characters at the end of the text may be the beginning of the tag."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)
