"""Answers while they are written: their Markdown is rendered once for all tabs, in finished blocks and a tail.

A page pulls: it asks for the answer's `LiveText`, lets it take the newest text and sends its own browser what is new
in it. Only the tail, the block that is still being written, is rendered again and again, and the slower that gets the
more seldom; an unfinished code block is not rendered at all but grows as plain text.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from time import monotonic
from typing import TypeVar

from app.domain.markdown_blocks import BlockSplitter
from app.late import late
from app.ui.elements.markup import Html
from app.ui.markdown.json_text import JsonIndenter, begins_as_json, indented

with late():
    from app.ui.markdown import render as markdown

THREAD_SIZE = 1000
"""Characters from which on rendering may take longer than the event loop should wait: brackets take 16 µs each."""
LINES = 4000
"""That are looked at for blocks before others have their turn: 1 µs each."""
THREAD = ThreadPoolExecutor(1, "markdown")
"""One for all: each thread that calculates gets its 5 ms before the event loop has its turn again."""
FIRST_REST, LONGEST_REST = 0.001, 0.08
"""Seconds until it is rendered again: so many a character, so that the first words are there at once, and the most."""
LIVE_TEXTS = 200
"""How many answers are remembered; an older one is rendered anew if it is still being written."""
KEPT_CHARACTERS = 8_000_000
"""Of HTML of finished answers that is kept."""

Key = tuple[str, int, bool]
Drawn = TypeVar("Drawn", bound=str)


@dataclass(slots=True)
class OpenCode:
    """A code block whose end has not come yet."""

    language: str
    text: str


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
        self._growing: asyncio.Task[None] | None = None

    async def take(self, text: str) -> None:
        """Take the answer as written so far; returns when it is rendered, or at once when it is too early for that.

        It is rendered also where the page that asked goes meanwhile: for the others.
        """
        if self._growing is None:
            if len(text) <= len(self._text) or self._clock() < self._not_before:
                return
            self._growing = asyncio.create_task(self._grow(text))
            self._growing.add_done_callback(self._let_go)  # an ended task would hold the request of the page that asked
        await asyncio.shield(self._growing)

    def _let_go(self, _: asyncio.Task[None]) -> None:
        self._growing = None

    async def _grow(self, text: str) -> None:
        new, self._text = text[len(self._text) :], text
        started = self._clock()
        if self._indenter is not None and begins_as_json(text):
            await self._grow_json(self._indenter, new if self.code else text.lstrip())
        else:
            while self._splitter.feed(text, LINES):  # noqa: ASYNC110  there is no event: it works
                await asyncio.sleep(0)
            await self._render_blocks()
            await self._render_tail()
        self.version += 1
        took = self._clock() - started
        self._not_before = self._clock() + max(min(len(text) * FIRST_REST, LONGEST_REST), 10 * took)

    async def _grow_json(self, indenter: JsonIndenter, new: str) -> None:
        grown = await _drawn(indenter.feed, new)
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
        self.tail = await render(self._text[self._rendered_up_to :], growing=True)


class LiveMarkdown:
    """The answers that are being written and those that were, for all tabs of the process."""

    def __init__(self, room: int = KEPT_CHARACTERS) -> None:
        self._texts: OrderedDict[Key, LiveText] = OrderedDict()
        self._drawn: OrderedDict[bytes, Html] = OrderedDict()
        self._room = room

    def text(self, run_id: str, number: int, *, reasoning: bool = False, json: bool = False) -> LiveText:
        """The live text, or the reasoning, of a run's answer; answers of a run count from 0.

        `json` says that the answer is asked to be JSON; what begins so is shown as JSON and not as Markdown.
        """
        key = (run_id, number, reasoning)
        if key not in self._texts:
            self._texts[key] = LiveText(json=json)
        self._texts.move_to_end(key)
        while len(self._texts) > LIVE_TEXTS:
            self._texts.popitem(last=False)
        return self._texts[key]

    async def finished(self, run_id: str, number: int, text: str, *, json: bool = False) -> Html:
        """The whole answer rendered in one piece, which repairs what its pieces could not know of each other."""
        self._texts.pop((run_id, number, False), None)
        return await self.drawn(text, json=json)

    async def drawn(self, text: str, *, json: bool = False) -> Html:
        """A text that is complete, rendered once: a session that is opened again finds it."""
        digest = sha256(f"{json}{text}".encode("utf-8", "surrogatepass")).digest()
        if digest not in self._drawn:
            html = await render(text, json=json)
            if digest not in self._drawn:  # another tab may have asked meanwhile
                self._drawn[digest] = html
                self._room -= len(html)
        self._drawn.move_to_end(digest)
        html = self._drawn[digest]
        while self._room < 0:
            self._room += len(self._drawn.popitem(last=False)[1])
        return html


async def render(text: str, *, json: bool = False, growing: bool = False) -> Html:
    """The Markdown, or with `json` what begins as JSON, as safe HTML; a long one is rendered in a worker thread."""
    await asyncio.sleep(0)  # many short ones after one another let others have their turn in between
    draw = _json_block if json and begins_as_json(text) else partial(markdown.rendered, growing=growing)
    return await _drawn(draw, text)


async def _drawn(draw: Callable[[str], Drawn], text: str) -> Drawn:
    if len(text) < THREAD_SIZE:
        return draw(text)
    return await asyncio.get_running_loop().run_in_executor(THREAD, draw, text)


def _json_block(text: str) -> Html:
    return markdown.code_block(indented(text.strip()), "json")
