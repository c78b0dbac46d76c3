"""Search through all that was said and called in all runs.

Its index is a cache: it can be deleted, and is then made again in the background. A run is indexed when it ends; those
that the index does not know yet are read one after the other, at a pace that leaves the app its time.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from time import monotonic

from app.domain.errors import WorkbenchError
from app.domain.events import Entry
from app.domain.trace import Excerpt, Passage, RunRow, said
from app.late import late, late_part
from app.store.journal.pause import Pause
from app.store.runs.rows import Rows
from app.store.runs.search_words import Finder, question
from app.store.runs.traces import Traces

with late():
    from app.store.runs import search_index

log = logging.getLogger(__name__)

MOST_TEXT = 2_000_000
"""Characters of a run that are indexed; what comes after them is not found."""
BATCH = 25
"""Runs that are written to the index together."""
MOST_REST = 1.0
"""Seconds between two batches; as a rule it rests as long as it worked."""
BEFORE, AFTER = 40, 110
"""Characters around what was found."""
_BARE_TEXT = 5_000
"""Characters of a text that are looked through for words with other accents."""


class Search:
    def __init__(self, folder: Path, rows: Rows, traces: Traces) -> None:
        """`folder` is for caches; it is made when it is first needed."""
        self._path = folder / "search.sqlite3"
        self._rows = rows
        self._traces = traces
        self._ended: deque[tuple[str, list[Entry]]] = deque()
        self._missing: deque[str] = deque()
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._working: asyncio.Task[None] | None = None
        self._replaced = 0
        self.grown = 0
        """Goes up whenever more can be found than before."""

    @property
    def behind(self) -> int:
        """How many runs are still to be read before all of them can be found."""
        return len(self._missing) + len(self._ended)

    def start(self) -> None:
        """Begin to index, in the background, the runs that are not indexed yet; nothing happens the second time."""
        if self._working is None:
            self._working = asyncio.create_task(self._work(), name="index runs")

    async def ready(self) -> None:
        """Return when all runs that there are now are indexed."""
        self.start()
        await self._idle.wait()

    async def close(self) -> None:
        """Stop indexing; what is not indexed yet is so after the next start."""
        if self._working is not None:
            self._working.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._working

    def take(self, run_id: str, entries: list[Entry]) -> None:
        """Index a run that has ended, soon."""
        if self._working is None:
            return  # once it works, it looks for all that it does not know
        self._ended.append((run_id, entries))
        self._idle.clear()
        self._wake.set()

    def look_again(self) -> None:
        """Index soon the runs that came another way than by ending here."""
        if self._working is not None:
            self._replaced = -1
            self._idle.clear()
            self._wake.set()

    async def forget(self, run_ids: Iterable[str]) -> None:
        """Drop what is known of the runs."""
        await asyncio.to_thread(lambda: self._index.remove(run_ids))

    async def matching(self, text: str) -> frozenset[str]:
        """The runs that say all of these words somewhere; deleted ones may be among them."""
        asked = question(text)
        if not asked:
            return frozenset()
        self.start()
        found = await asyncio.to_thread(lambda: self._index.matching(asked))
        self._look_again_if_replaced()
        return found

    async def excerpts(self, run_ids: Sequence[str], text: str) -> Mapping[str, Excerpt]:
        """Where these runs say some of the words, of those that do."""
        return await asyncio.to_thread(self._excerpts, run_ids, text)

    def _excerpts(self, run_ids: Sequence[str], text: str) -> dict[str, Excerpt]:
        finder, index = Finder(text), self._index
        found = {run_id: excerpt(passages, finder) for run_id, passages in index.passages(run_ids)}
        return {run_id: one for run_id, one in found.items() if one is not None}

    @late_part
    def _index(self) -> "search_index.SearchIndex":
        return search_index.SearchIndex(self._path)

    def _look_again_if_replaced(self) -> None:
        if self._index.replaced != self._replaced:
            self._idle.clear()
            self._wake.set()

    async def _work(self) -> None:
        """Index what is missing, then wait for more."""
        await self._find_missing()
        while True:
            began = monotonic()
            if runs := await self._next_runs():
                await asyncio.to_thread(lambda: self._index.put(runs))
                self.grown += 1
            elif not self.behind:
                self._idle.set()
                await self._wake.wait()
            self._wake.clear()
            if self._index.replaced != self._replaced:
                await self._find_missing()
            await asyncio.sleep(min(MOST_REST, monotonic() - began) if self._missing else 0)

    async def _find_missing(self) -> None:
        """Look which runs are not in the index as they now are, the newest first."""
        index = self._index
        self._replaced = index.replaced
        known = await asyncio.to_thread(index.stamps)
        await self._rows.warm()
        self._missing = await asyncio.to_thread(
            lambda: deque(run_id for run_id, stamp in self._rows.stamps() if known.get(run_id) != stamp)
        )

    async def _next_runs(self) -> "list[search_index.IndexedRun]":
        """Some runs to index, first those that ended just now."""
        ended = [self._ended.popleft() for _ in range(min(BATCH, len(self._ended)))]
        runs = [await self._run(run_id, self._rows.stamp(run_id), entries) for run_id, entries in ended]
        while self._missing and not self._ended and len(runs) < BATCH:
            run_id = self._missing.popleft()
            stamp = self._rows.stamp(run_id)  # before its entries: it may end while they are read
            runs.append(await self._run(run_id, stamp, await self._entries(run_id)))
        return [run for run in runs if run is not None]

    async def _entries(self, run_id: str) -> list[Entry]:
        """What can be read of the run."""
        try:
            return (await self._traces.read(run_id)).entries
        except WorkbenchError as problem:
            log.info("Run %s is searched by its row only: %s", run_id, problem)
        except Exception:  # one damaged run never keeps the others from being found
            log.exception("Run %s could not be read for the search", run_id)
        return []

    async def _run(self, run_id: str, stamp: str | None, entries: list[Entry]) -> "search_index.IndexedRun | None":
        if stamp is None:
            return None  # it was deleted meanwhile
        passages = await asyncio.to_thread(_passages, self._row(run_id), entries)
        return search_index.IndexedRun(run_id, stamp, passages)

    def _row(self, run_id: str) -> RunRow | None:
        try:
            return self._rows.get(run_id)
        except WorkbenchError:
            return None


def _passages(row: RunRow | None, entries: Sequence[Entry]) -> tuple[Passage, ...]:
    """What is indexed of a run: who answered, then what was said, as far as `MOST_TEXT`."""
    pause, left, passages = Pause(), MOST_TEXT, list[Passage]()
    if row is not None:
        passages.append(Passage(0, "Agent", f"{row.agent.name} {row.model}"))
    for passage in said(entries):
        pause()
        passages.append(Passage(passage.seq, passage.place, passage.text[:left]))
        left -= len(passage.text)
        if left <= 0:
            break
    return tuple(passages)


def excerpt(passages: Sequence[Passage], finder: Finder) -> Excerpt | None:
    """The first passage that says it, what the list shows of a run anyway last; `None` where no passage does."""
    pause = Pause()
    for passage in sorted(passages, key=lambda one: one.place == "Request"):
        pause()
        if place := finder.place(passage.text):
            return _cut(passage, *place)
    for passage in passages[:100]:
        pause()
        if place := finder.place_unaccented(passage.text[:_BARE_TEXT]):
            return _cut(passage, *place)
    return None


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
