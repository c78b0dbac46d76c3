"""What lists look at of every run, in columns: tens of thousands are filtered, sorted and counted without one row read.

What many runs have in common is kept once, as their kind.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from math import nan
from typing import NamedTuple

from pydantic import JsonValue

from app.domain.branches import Turn
from app.domain.provenance import BEHIND
from app.domain.trace import FORM, SortKey
from app.store.journal.frames import Document
from app.store.journal.packed import Packed
from app.store.runs.spent_since import SpentSince, pico
from app.store.runs.stored_row import listed, tally_of

NOBODY = -1
Moment = tuple[float, str, int, Callable[[], Document]]
"""When a run began, its id, how many times its row was stored, and what reads that."""


class Kind(NamedTuple):
    """What a row says that many others say too."""

    agent: str
    slug: str
    variant: str
    model: str
    status: str
    failure: str
    purpose: str
    trigger: str
    caller: str
    key: str
    background: bool
    imported: bool
    deleted: bool
    emptied: bool
    told: bool
    """Whether it says all that rows say now."""
    unpriced: bool
    called: tuple[tuple[str, str], ...]
    """The models that were called, each with its provider."""
    tools: tuple[str, ...]

    @property
    def of_app(self) -> bool:
        """Whether such a run holds the calls of an app."""
        return self.trigger == "app"

    @property
    def behind(self) -> bool:
        """Whether it is of an experiment, a judge or a try: nobody talked to an agent there."""
        return self.purpose in BEHIND


class Heads:
    def __init__(self) -> None:
        self.kinds: list[Kind] = []
        self._kind_numbers: dict[Kind, int] = {}
        self.names: list[str] = []
        """The ids of runs and sessions."""
        self._numbers: dict[str, int] = {}
        """By name: its place there."""
        self._positions = array("i")
        """By name: the position of the run that is called so."""
        self.session, self.run, self.parent, self.follows = array("i"), array("i"), array("i"), array("i")
        """By position, as all that follows: the place of a name, or `NOBODY`."""
        self.started, self.cost, self.duration = array("d"), array("d"), array("d")
        """In seconds since 1970, US dollars, and milliseconds, not a number while nobody knows."""
        self.tokens, self.calls, self.revision = array("d"), array("d"), array("q")
        self.kind = array("i")
        """Set last: what is looked through in another thread meanwhile is there in all of them."""
        words = (self.session, self.run, self.parent, self.follows)
        numbers = (self.started, self.cost, self.duration, self.tokens, self.calls, self.revision)
        self._all: tuple[array[int] | array[float], ...] = (*words, *numbers, self.kind)
        self.spent = SpentSince(self._spent)

    def put(self, position: int, document: Document) -> None:
        row, run = _fields(document.get("value")), self._number(str(document.get("id")))
        parent, follows = _fields(row.get("parent")), row.get("follows")
        if position == len(self.kind):
            for column in self._all:
                column.append(NOBODY)
        self._count(position, -1)
        self.session[position] = self._number(str(row.get("session_id") or ""))
        self.run[position] = run
        self.parent[position] = self._number(str(parent.get("run_id"))) if parent else NOBODY
        self.follows[position] = NOBODY if follows is None else self._number(str(follows))
        self.started[position] = _float(document.get("started"))
        self.cost[position] = _float(row.get("cost"))
        self.duration[position] = _float(row.get("duration_ms"), unsaid=nan)
        self.tokens[position] = _float(row.get("input_tokens")) + _float(row.get("output_tokens"))
        self.calls[position] = _float(row.get("model_calls"))
        self.revision[position] = int(_float(document.get("revision")))
        self.kind[position] = self._kind_number(document, row)
        self._positions[run] = position
        self._count(position, 1)

    def drop(self, position: int) -> None:
        """The run is gone, as if it had never been: it is found under no name, and is of a kind that nobody lists."""
        self._count(position, -1)
        self._positions[self.run[position]] = NOBODY
        self.kind[position] = NOBODY

    def position(self, run_id: str) -> int | None:
        """Where the run's row is; `None` where there is none."""
        number = self._numbers.get(run_id)
        position = NOBODY if number is None else self._positions[number]
        return None if position == NOBODY else position

    def number(self, name: str) -> int:
        """The place of that name, which nothing has where it was never met."""
        return self._numbers.get(name, NOBODY - 1)

    def kind_of(self, position: int) -> Kind:
        return self.kinds[self.kind[position]]

    def those(self, are: Callable[[Kind], bool]) -> list[int]:
        """The positions of the runs of such kinds."""
        kinds = self.kind[:]  # before their names: another thread may add to both
        wanted = [*map(are, list(self.kinds)), False]  # the last one is of `NOBODY`
        return [position for position, kind in enumerate(kinds) if wanted[kind]]

    def there(self, positions: Iterable[int]) -> list[int]:
        """Without those of runs that are gone as if they had never been."""
        return [position for position in positions if self.kind[position] != NOBODY]

    def moments(self, rows: Packed) -> Callable[[], Iterator[Moment]]:
        """Those of all rows as they are now, to be gone through in whatever thread; `rows` do not change either."""
        kinds, started, runs, revisions = self.kind[:], self.started[:], self.run[:], self.revision[:]

        def moments() -> Iterator[Moment]:
            for position, kind in enumerate(kinds):
                if kind != NOBODY:
                    yield started[position], self.names[runs[position]], revisions[position], partial(rows.at, position)

        return moments

    def kinds_listed(self) -> list[Kind]:
        """The kinds of which there are runs that lists show without being asked for more."""
        met = [self.kinds[number] for number in set(self.kind) if number != NOBODY]
        return [kind for kind in met if not (kind.deleted or kind.behind)]

    def paid(self, position: int) -> float:
        """US dollars that the run has cost here: nothing, where it was imported."""
        return 0.0 if self.kind_of(position).imported else self.cost[position]

    def turn(self, position: int) -> Turn:
        follows = self.follows[position]
        return Turn(
            self.names[self.run[position]],
            None if follows == NOBODY else self.names[follows],
            self.started[position],
            deleted=self.kind_of(position).deleted,
        )

    def session_of(self, position: int) -> str:
        return self.names[self.session[position]]

    def sorted(self, positions: Iterable[int], key: SortKey = "started_at", *, descending: bool = False) -> list[int]:
        """The same positions in order; those that are alike in it as they come."""
        column = _COLUMNS[key](self)
        if key == "duration_ms":
            return sorted(positions, key=lambda at: 0.0 if column[at] != column[at] else column[at], reverse=descending)
        return sorted(positions, key=column.__getitem__, reverse=descending)

    def _count(self, position: int, sign: int) -> None:
        """At once, not when it is on the disk: whoever looks at a row finds its money in the sums."""
        if self.kind[position] != NOBODY:
            self.spent.take(self.started[position], sign * self.paid(position))

    def _spent(self, start: float) -> int:
        """What the runs that began since then have cost, in whole numbers."""
        kinds = self.kind[:]  # another thread may add to the columns
        begun = (at for at, kind in enumerate(kinds) if kind != NOBODY and self.started[at] >= start)
        return sum(pico(self.paid(at)) for at in begun)

    def _number(self, name: str) -> int:
        if (number := self._numbers.get(name)) is None:
            number = len(self.names)
            self.names.append(name)
            self._positions.append(NOBODY)
            self._numbers[name] = number
        return number

    def _kind_number(self, document: Document, row: Document) -> int:
        kind = _kind(document, row)
        if (number := self._kind_numbers.get(kind)) is None:
            number = self._kind_numbers[kind] = len(self.kinds)
            self.kinds.append(kind)
        return number


_COLUMNS: dict[SortKey, Callable[[Heads], "array[float]"]] = {
    "started_at": lambda heads: heads.started,
    "duration_ms": lambda heads: heads.duration,
    "cost": lambda heads: heads.cost,
    "total_tokens": lambda heads: heads.tokens,
    "model_calls": lambda heads: heads.calls,
}


def _kind(document: Document, row: Document) -> Kind:
    agent, trigger, told = _fields(row.get("agent")), _fields(row.get("trigger")), row.get("models")
    models = map(tally_of, told) if isinstance(told, list) else ()
    return Kind(
        _word(agent.get("id")),
        _word(agent.get("slug")),
        _word(agent.get("variant")),
        _word(row.get("model")),
        _word(row.get("status")),
        _word(row.get("failure")),
        _word(row.get("purpose")),
        _word(trigger.get("kind")),
        _word(trigger.get("name")),
        _word(trigger.get("key")),
        bool(row.get("background")),
        bool(row.get("imported")),
        bool(document.get("deleted")),
        bool(document.get("emptied")),
        _float(row.get("form")) >= FORM,
        bool(row.get("unpriced")),
        tuple((_word(one.get("model")), _word(one.get("provider"))) for one in models),
        tuple(_word(tally.get("name")) for tally in listed(row.get("tools"))),
    )


def _fields(value: JsonValue) -> Document:
    return value if isinstance(value, dict) else {}


def _word(value: JsonValue) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _float(value: JsonValue, unsaid: float = 0.0) -> float:
    """The number; what is none, or none that counts, is as if nothing had been said."""
    return float(value) if isinstance(value, (int, float)) and abs(value) < 2**62 else unsaid
