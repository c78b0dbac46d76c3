"""The figures of one day as they are stored: a cache, which says for which rows it is right.

Rows are never removed and each change of one raises its revision, so that a day is right as long as it counts as many
runs and as many revisions as there are, and begins and ends when it does here and now.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from pydantic import JsonValue

from app.domain.usage.days import local_day, midnight
from app.domain.usage.figures import NOTHING, Cell, Figures, UsageKey
from app.store.journal.documents import number
from app.store.journal.frames import Document
from app.store.runs.heads import Moment
from app.store.runs.usage_shares import shares

FORM = 1
"""Of what is stored here, and of what counts as what: days in another form are made again."""
_BY_BUCKET = frozenset(("durations", "times", "first_token_times", "tool_times"))

State = tuple[int, int]
"""How many runs began on a day, and their revisions together."""


@dataclass(slots=True)
class UsageDay:
    """One day's figures, which change."""

    cells: dict[UsageKey, Figures] = field(default_factory=dict)
    runs: int = 0
    revisions: int = 0

    @property
    def state(self) -> State:
        return self.runs, self.revisions

    def add(self, key: UsageKey, figures: Figures, sign: int) -> None:
        before = self.cells.get(key, NOTHING)
        if after := before.plus(figures, sign):
            self.cells[key] = after
        else:
            self.cells.pop(key, None)


def day_of(document: Document) -> str:
    """The day on which the run of that row began."""
    return local_day(number(document.get("started")))


def count(days: Mapping[str, UsageDay], document: Document, sign: int) -> None:
    """Add the row to its day, or take it out with a `sign` of -1."""
    day = days[day_of(document)]
    day.runs += sign
    day.revisions += sign * int(number(document.get("revision")))
    for key, figures in shares(document):
        day.add(key, figures, sign)


def states(moments: Iterable[Moment]) -> dict[str, State]:
    """By day: what its figures have to be of to be right."""
    runs: Counter[str] = Counter()
    revisions: Counter[str] = Counter()
    for started, revision, _ in moments:
        day = local_day(started)
        runs[day] += 1
        revisions[day] += revision
    return {day: (runs[day], revisions[day]) for day in runs}


def stored_form(day: str, figures: UsageDay) -> Document:
    """The day as it is stored."""
    cells: list[JsonValue] = [[*key[1:], _nonzero(one)] for key, one in figures.cells.items()]
    return {"day": day, **_frame(day), "runs": figures.runs, "revisions": figures.revisions, "cells": cells}


def stored_state(document: Document) -> State:
    """Of which rows the stored figures are right; of none, where they are in another form or of another time zone."""
    frame = _frame(str(document.get("day")))
    if any(document.get(name) != value for name, value in frame.items()):
        return 0, 0
    return int(number(document.get("runs"))), int(number(document.get("revisions")))


def read_day(document: Document) -> UsageDay:
    """The stored figures to go on with; empty ones where they are in another form."""
    runs, revisions = stored_state(document)
    return UsageDay(dict(stored_cells(document)), runs, revisions)


def stored_cells(document: Document) -> Iterator[Cell]:
    """Nothing where they are in another form, or of another time zone."""
    cells = document.get("cells")
    if stored_state(document) == (0, 0) or not isinstance(cells, list):
        return
    for cell in cells:
        if isinstance(cell, list):
            agent, variant, model, provider, purpose, background, tool, figures = cell
            words = (str(agent), int(number(variant)), str(model), str(provider), str(purpose), bool(background))
            yield UsageKey(str(document.get("day")), *words, str(tool)), _figures(figures)


def _frame(day: str) -> Document:
    """What has to be as it was when the day was stored: a traveller's days begin at other times."""
    begins = date.fromisoformat(day)
    ends = begins + timedelta(days=1)
    return {"form": FORM, "begins": midnight(begins).timestamp(), "ends": midnight(ends).timestamp()}


def _nonzero(figures: Figures) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for name, said in figures._asdict().items():
        match said:
            case int(value) if value:
                found[name] = value
            case dict(counts) if counts:
                found[name] = {str(what): times for what, times in counts.items()}
            case _:
                pass
    return found


def _figures(stored: JsonValue) -> Figures:
    read: dict[str, Any] = {}
    for name, value in stored.items() if isinstance(stored, dict) else ():
        if isinstance(value, dict):
            kind = int if name in _BY_BUCKET else str
            read[name] = {kind(what): times for what, times in value.items()}
        elif name in Figures._fields:
            read[name] = value
    return Figures(**read)
