"""Figures of each tool over all runs, kept up while rows are saved: nobody ever adds up all rows for a page."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.domain.trace import ToolStats
from app.domain.trace.tallies import median_ms
from app.store.journal.documents import number
from app.store.journal.frames import Document
from app.store.runs.stored_row import row_field

RECENT = 5
"""Runs that a tool is remembered by."""


@dataclass
class _Figures:
    calls: int = 0
    failures: int = 0
    times: Counter[int] = field(default_factory=Counter)
    recent: dict[str, float] = field(default_factory=dict)
    """By run id: when it started."""
    oldest: float = 0.0
    """When the first of the remembered runs started, once there are enough of them."""

    def add(self, tally: Document, sign: int) -> None:
        self.calls += sign * int(number(tally.get("calls")))
        self.failures += sign * int(number(tally.get("failures")))
        times = tally.get("times")
        for step, count in times.items() if isinstance(times, dict) else ():
            self.times[int(step)] += sign * int(number(count))

    def remember(self, run_id: str, started: float) -> None:
        if started <= self.oldest:
            return
        self.recent[run_id] = started
        if len(self.recent) > RECENT:
            del self.recent[min(self.recent, key=lambda known: self.recent[known])]
            self.oldest = min(self.recent.values())

    def stats(self) -> ToolStats:
        newest_first = sorted(self.recent, key=lambda run_id: self.recent[run_id], reverse=True)
        return ToolStats(
            calls=self.calls,
            failures=self.failures,
            p50_ms=median_ms(self.times),
            recent_runs=tuple(newest_first),
        )


class ToolFigures:
    def __init__(self, stored: Iterable[Document] = ()) -> None:
        """`stored` are the documents of all runs' rows; they are looked at as they are stored, for there are many."""
        self._tools: defaultdict[str, _Figures] = defaultdict(_Figures)
        for document in stored:
            self._add(document, 1)

    def take(self, document: Document | None, *, before: Document | None) -> None:
        """Count a run's row as it is stored now, if it is, in place of what was stored `before`."""
        for row, sign in ((before, -1), (document, 1)):
            if row is not None:
                self._add(row, sign)

    def stats(self) -> Mapping[str, ToolStats]:
        """By tool, those that were ever called."""
        return {name: figures.stats() for name, figures in self._tools.items() if figures.calls > 0}

    def _add(self, document: Document, sign: int) -> None:
        tools = row_field(document, "tools")  # rows of older apps have none
        for tally in tools if isinstance(tools, list) else ():
            if isinstance(tally, dict):
                figures = self._tools[str(tally.get("name"))]
                figures.add(tally, sign)
                figures.remember(str(document.get("id")), number(document.get("started")))
