"""Answers while they are written: their Markdown is rendered once for all tabs, in finished blocks and a tail.

A page pulls: it asks for the answer's `LiveText`, lets it take the newest text and sends its own browser what is new
in it. Only the tail, the block that is still being written, is rendered again and again, and the slower that gets the
more seldom; an unfinished code block is not rendered at all but grows as plain text.
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from app.late import late
from app.ui.json_text import JsonIndenter, begins_as_json, indented
from app.ui.markup import Html

with late():
    from app.ui import render as markdown

THREAD_SIZE = 4000
"""Characters from which on rendering may take longer than the event loop should wait."""
LONG_LIST = 1500
"""Characters after which a list is cut at its next item, which is put together again when the answer is finished."""
LIVE_TEXTS = 200
"""How many answers are remembered; an older one is rendered anew if it is still being written."""

Key = tuple[str, int, bool]

_STARTS_BLOCK = re.compile(r"[^\s\-*+>\d|]")
_STARTS_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*([\w+#.-]*)")


@dataclass(slots=True)
class OpenCode:
    """A code block whose end has not come yet."""

    language: str
    text: str


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

    def feed(self, text: str) -> None:
        """Look at the lines of `text` that are complete and new."""
        while (end := text.find("\n", self._scanned)) >= 0:
            self._line(text[self._scanned : end + 1])
            self._scanned = end + 1

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


class LiveText:
    """One answer while it is written. Positions in `blocks` and `version` tell a page what it has not sent yet."""

    def __init__(self, clock: Callable[[], float] = monotonic, *, json: bool = False) -> None:
        self.blocks: list[Html] = []
        self.tail = Html("")
        self.code: OpenCode | None = None
        """The tail, when it is an open code block."""
        self.version = 0
        """Counts the changes."""
        self._text = ""
        self._rendered_up_to = 0
        self._splitter = BlockSplitter()
        self._indenter = JsonIndenter() if json else None
        self._not_before = 0.0
        self._clock = clock
        self._lock = asyncio.Lock()

    async def take(self, text: str) -> None:
        """Take the answer as written so far; returns when it is rendered, or at once when it is too early for that."""
        async with self._lock:
            if len(text) <= len(self._text) or self._clock() < self._not_before:
                return
            new, self._text = text[len(self._text) :], text
            started = self._clock()
            if self._indenter is not None and begins_as_json(text):
                await self._grow_json(self._indenter, new if self.code else text.lstrip())
            else:
                self._splitter.feed(text)
                await self._render_blocks()
                await self._render_tail()
            self.version += 1
            took = self._clock() - started
            self._not_before = self._clock() + max(0.08, 10 * took)

    async def _grow_json(self, indenter: JsonIndenter, new: str) -> None:
        grown = indenter.feed(new) if len(new) < THREAD_SIZE else await asyncio.to_thread(indenter.feed, new)
        self.code = OpenCode("json", (self.code.text if self.code else "") + grown)
        self.tail = Html("")

    async def _render_blocks(self) -> None:
        if self._splitter.cut > self._rendered_up_to:
            self.blocks.append(await render(self._text[self._rendered_up_to : self._splitter.cut]))
            self._rendered_up_to = self._splitter.cut

    async def _render_tail(self) -> None:
        splitter = self._splitter
        if splitter.fence and splitter.fence_at_margin:
            self.code = OpenCode(splitter.fence_language, self._text[splitter.fence_body :])
            self.tail = Html("")
            return
        self.code = None
        self.tail = await render(self._text[self._rendered_up_to :])


class LiveMarkdown:
    """The answers that are being written, for all tabs of the process."""

    def __init__(self) -> None:
        self._texts: OrderedDict[Key, LiveText] = OrderedDict()
        self._finished: OrderedDict[Key, Html] = OrderedDict()

    def text(self, run_id: str, number: int, *, reasoning: bool = False, json: bool = False) -> LiveText:
        """The live text, or the reasoning, of a run's answer; answers of a run count from 0.

        `json` says that the answer is asked to be JSON; what begins so is shown as JSON and not as Markdown.
        """
        key = (run_id, number, reasoning)
        if key not in self._texts:
            self._texts[key] = LiveText(json=json)
        self._texts.move_to_end(key)
        _forget_oldest(self._texts)
        return self._texts[key]

    async def finished(self, run_id: str, number: int, text: str, *, json: bool = False) -> Html:
        """The whole answer rendered in one piece, which repairs what its pieces could not know of each other."""
        key = (run_id, number, False)
        if key not in self._finished:
            self._finished[key] = await render(text, json=json)
        self._texts.pop(key, None)
        _forget_oldest(self._finished)
        return self._finished[key]


async def render(text: str, *, json: bool = False) -> Html:
    """The Markdown, or with `json` what begins as JSON, as safe HTML; a long one is rendered in a worker thread."""
    draw = _json_block if json and begins_as_json(text) else markdown.rendered
    return draw(text) if len(text) < THREAD_SIZE else await asyncio.to_thread(draw, text)


def _json_block(text: str) -> Html:
    return markdown.code_block(indented(text.strip()), "json")


def _forget_oldest(kept: OrderedDict[Key, LiveText] | OrderedDict[Key, Html]) -> None:
    while len(kept) > LIVE_TEXTS:
        kept.popitem(last=False)
