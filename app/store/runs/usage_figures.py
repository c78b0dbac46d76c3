"""Figures of all runs by day, kept up while rows are saved: nobody ever adds up all rows for a page.

A day is stored now and then, and when the app is closed. What a kill, an older app or another time zone has left wrong
is told by the days' own marks after a start, and made again from the rows.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from datetime import date
from itertools import chain
from typing import NamedTuple

from app.domain.errors import StorageError
from app.domain.usage.days import local_day
from app.domain.usage.figures import Cell, Figures, UsageKey
from app.store.journal.database import JournalDB
from app.store.journal.frames import Document
from app.store.runs.heads import Moment
from app.store.runs.usage_days import (
    State,
    UsageDay,
    count,
    day_of,
    is_day,
    read_day,
    states,
    stored_cells,
    stored_form,
    stored_state,
)

TABLE = "usage"
WAIT_SECONDS = 1800.0
"""A day is stored so long after a run of it has changed: each time all of it, which makes the journal longer."""
NOBODY_KNOWS: State = (-1, -1)
Change = tuple[Document | None, Document | None]
"""A row as it was and as it is."""

log = logging.getLogger(__name__)


class _Days(defaultdict[str, UsageDay]):
    """By day; the first one who asks for it has it read."""

    def __init__(self, stored: Callable[[str], Document | None]) -> None:
        super().__init__()
        self._stored = stored

    def __missing__(self, day: str) -> UsageDay:
        stored = self._stored(day)
        found = self[day] = UsageDay() if stored is None else read_day(stored)
        return found


class UsageFigures:
    def __init__(self, database: JournalDB) -> None:
        self._journal = database.journal
        self._journal.pack(TABLE, StoredDays, block=1)
        self._days = _Days(lambda day: self._journal.table(TABLE).get(_place(day)))
        """Those that were changed, until the disk has them, and the last one."""
        self._times_stored = 0
        self._past: tuple[tuple[int, dict[str, State]], list[Cell]] | None = None
        """How often days were stored and which ones are, when they were added up last, and their sums."""
        self._changes: list[Change] | None = None
        """What came in while the rows are looked through."""
        self._timer: asyncio.TimerHandle | None = None
        self._settling = asyncio.Lock()
        self.settled = False
        """Whether the figures are known to be right: what was stored was compared with the rows."""

    def take(self, document: Document | None, *, before: Document | None) -> None:
        """Count a run's row as it is stored now, if it is, in place of what was stored `before`."""
        self._take(document, before)
        if self._changes is not None:
            self._changes.append((before, document))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(WAIT_SECONDS, self.keep)

    def cells(self, since: date, until: date) -> Callable[[], Iterator[Cell]]:
        """Reads those of these days as they stand now, one day after the other, in whatever thread."""
        days = range(since.toordinal(), until.toordinal() + 1)
        table = self._journal.packed(TABLE).frozen()
        live = {day: dict(figures.cells) for day, figures in self._days.items()}
        first, last = since.isoformat(), until.isoformat()

        def read() -> Iterator[Cell]:
            for place in table:
                if place in days and _day(place) not in live:
                    yield from stored_cells(table[place])
            for day, cells in live.items():
                if first <= day <= last:
                    yield from cells.items()

        return read

    def ever(self) -> Callable[[], list[Cell]]:
        """Adds up those of all days as they stand now, in whatever thread; the day in their keys is empty.

        What was stored is read again only where that has changed: it is asked for every few seconds.
        """
        table = self._journal.packed(TABLE).frozen()
        live = [cell for figures in self._days.values() for cell in figures.cells.items()]
        days = {day: one.state for day, one in self._stored.items() if day not in self._days}
        known = (self._times_stored, days)

        def read() -> list[Cell]:
            past = self._past
            if past is None or past[0] != known:
                stored = (stored_cells(table[place]) for place in table if _day(place) in days)
                self._past = past = known, _together(chain.from_iterable(stored))
            return _together(chain(past[1], live))

        return read

    def first_day(self) -> date | None:
        """The first of which there are figures."""
        days = {day: state.has_figures for day, state in self._stored.items()}
        days |= {day: bool(figures.cells) for day, figures in self._days.items()}
        return min((date.fromisoformat(day) for day, has_figures in days.items() if has_figures), default=None)

    async def warm(self) -> None:
        """Read what is stored off the event loop."""
        await self._journal.warm(TABLE)

    async def settle(self, rows: Callable[[], Callable[[], Iterator[Moment]]], *, anew: bool = False) -> None:
        """Compare what is stored with the rows, once a start; what is wrong, or all, is made again off the loop."""
        async with self._settling:
            if self.settled and not anew:
                return
            known = dict.fromkeys(self._states(), NOBODY_KNOWS) if anew else self._states()
            moments, self._changes = rows(), []
            try:
                made = await asyncio.to_thread(_made_again, moments, known)
                self._days.update(made)
                for before, document in self._changes:
                    self._take(document, before, only=made)
            finally:
                self._changes = None
            self.settled = True
            for day in made:  # after an update that may be all there are
                self._store(day)
                await asyncio.sleep(0)
            with suppress(StorageError):  # what was not stored stays here
                await self._journal.durable()
            self._forget_stored()

    def keep(self) -> None:
        """Store what has changed, where anything can be stored; what cannot is made again after the next start."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._forget_stored()
        for day in sorted(self._days):
            if not self._is_stored(day):
                self._store(day)

    def _store(self, day: str) -> None:
        figures = self._days[day]
        self._times_stored += 1
        try:
            self._journal.commit([(TABLE, {_place(day): stored_form(day, figures) if figures.runs else None})])
        except StorageError as problem:
            log.info("The daily figures are not on disk: %s", problem)

    def _forget_stored(self) -> None:
        """What was stored the last time, where the journal has not taken that back since."""
        for day in sorted(self._days)[:-1]:
            if self._is_stored(day):
                del self._days[day]

    def _is_stored(self, day: str) -> bool:
        stored = self._stored.get(day)
        return self._days[day].state == ((0, 0) if stored is None else stored.state)

    def _take(self, document: Document | None, before: Document | None, only: Container[str] | None = None) -> None:
        """`only`: the days whose figures do not know of it yet."""
        for row, sign in ((before, -1), (document, 1)):
            if row is not None and (only is None or day_of(row) in only):
                count(self._days, row, sign)

    def _states(self) -> dict[str, State]:
        known = {day: stored.state for day, stored in self._stored.items()}
        return known | {day: figures.state for day, figures in self._days.items()}

    @property
    def _stored(self) -> "dict[str, StoredDay]":
        columns = self._journal.packed(TABLE).columns
        return columns.days if isinstance(columns, StoredDays) else {}


class StoredDay(NamedTuple):
    state: State
    has_figures: bool


class StoredDays:
    """What is known of the days that are stored without reading their figures."""

    def __init__(self) -> None:
        self.days: dict[str, StoredDay] = {}
        self._by_position: list[str] = []

    def put(self, position: int, document: Document) -> None:
        day = str(document.get("day"))
        if position < len(self._by_position):
            self.drop(position)
        self._by_position[position:] = [day, *self._by_position[position + 1 :]]
        if is_day(day):
            self.days[day] = StoredDay(stored_state(document), bool(document.get("cells")))

    def drop(self, position: int) -> None:
        self.days.pop(self._by_position[position], None)


def _together(cells: Iterable[Cell]) -> list[Cell]:
    found: dict[UsageKey, Figures] = {}
    for key, figures in cells:
        ever = key._replace(day="")
        found[ever] = found[ever] + figures if ever in found else figures
    return list(found.items())


def _place(day: str) -> int:
    """The number of the day's document."""
    return date.fromisoformat(day).toordinal()


def _day(place: int) -> str:
    return date.fromordinal(place).isoformat()


def _made_again(moments: Callable[[], Iterator[Moment]], known: dict[str, State]) -> dict[str, UsageDay]:
    """The days that are not of these rows, as they should be."""
    right = states(moments())
    wrong = {day for day in right.keys() | known.keys() if right.get(day) != known.get(day)}
    made = {day: UsageDay() for day in wrong}
    for started, _, _, row in moments() if wrong else ():
        if local_day(started) in wrong:
            count(made, row(), 1)
    return made
