"""The figures of one day as they are stored: a cache, which says for which rows it is right.

Rows are never removed and each change of one raises its revision, so that a day is right as long as it counts as many
runs, the same ones with the same revisions, and begins and ends when it does here and now.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any
from zlib import crc32

from pydantic import JsonValue

from app.domain.usage.days import local_day, midnight
from app.domain.usage.figures import NOTHING, Cell, Figures, UsageKey
from app.store.journal.documents import number
from app.store.journal.frames import Document
from app.store.runs.heads import Moment
from app.store.runs.usage_shares import shares

FORM = 3
"""Of what is stored here, and of what counts as what: days in another form are made again."""
_BY_BUCKET = frozenset(("durations", "waits", "times", "first_token_times", "tool_times"))

_LENGTH = len(UsageKey._fields)
"""Of a stored cell: its day is that of its document, and its figures stand last."""

State = tuple[int, int]
"""How many runs began on a day, and which revisions of which ones, added up: one that began anew leaves its day."""


@dataclass(slots=True)
class UsageDay:
    """One day's figures, which change."""

    cells: dict[UsageKey, Figures] = field(default_factory=dict)
    runs: int = 0
    mark: int = 0

    @property
    def state(self) -> State:
        return self.runs, self.mark

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
    day.mark += sign * _mark(str(document.get("id")), int(number(document.get("revision"))))
    for key, figures in shares(document):
        day.add(key, figures, sign)


def states(moments: Iterable[Moment]) -> dict[str, State]:
    """By day: what its figures have to be of to be right."""
    runs: Counter[str] = Counter()
    marks: Counter[str] = Counter()
    for started, run_id, revision, _ in moments:
        day = local_day(started)
        runs[day] += 1
        marks[day] += _mark(run_id, revision)
    return {day: (runs[day], marks[day]) for day in runs}


def _mark(run_id: str, revision: int) -> int:
    return crc32(run_id.encode(errors="replace")) * revision


def stored_form(day: str, figures: UsageDay) -> Document:
    """The day as it is stored."""
    cells: list[JsonValue] = [[*key[1:], _nonzero(one)] for key, one in figures.cells.items()]
    return {"day": day, **_frame(day), "runs": figures.runs, "mark": figures.mark, "cells": cells}


def stored_state(document: Document) -> State:
    """Of which rows the stored figures are right; of none, where they are in another form or of another time zone."""
    if not _in_frame(document):
        return 0, 0
    return int(number(document.get("runs"))), int(number(document.get("mark")))


def read_day(document: Document) -> UsageDay:
    """The stored figures to go on with; empty ones where they are in another form."""
    return UsageDay(dict(stored_cells(document)), *stored_state(document))


def stored_cells(document: Document) -> list[Cell]:
    """Nothing where they are in another form, or of another time zone; or where nobody can read them."""
    day, cells = str(document.get("day")), document.get("cells")
    try:
        return [_cell(day, cell) for cell in cells] if isinstance(cells, list) and _in_frame(document) else []
    except (TypeError, ValueError):
        return []


def _cell(day: str, stored: JsonValue) -> Cell:
    if not isinstance(stored, list):
        raise TypeError(f"This is no cell: {stored!r}")
    agent, variant, model, provider, purpose, background, tool, figures = stored
    words = (str(agent), int(number(variant)), str(model), str(provider), str(purpose), bool(background))
    return UsageKey(day, *words, str(tool)), _figures(figures)


def _in_frame(document: Document) -> bool:
    day, cells = document.get("day"), document.get("cells")
    if not is_day(day) or not isinstance(cells, list):
        return False
    framed = all(document.get(name) == value for name, value in _frame(str(day)).items())
    return framed and all(isinstance(cell, list) and len(cell) == _LENGTH for cell in cells)


def is_day(day: JsonValue) -> bool:
    """Whether that names one, as `2026-11-23`."""
    try:
        return date.fromisoformat(str(day)).isoformat() == day
    except ValueError:
        return False


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
    if not isinstance(stored, dict):
        raise TypeError(f"These are no figures: {stored!r}")
    for name, value in stored.items():
        if isinstance(value, dict):
            kind = int if name in _BY_BUCKET else str
            read[name] = {kind(what): _whole(times) for what, times in value.items()}
        else:
            read[name] = _whole(value)
    return Figures(**read)


def _whole(value: JsonValue) -> int:
    if not isinstance(value, int):
        raise TypeError(f"This is no whole number: {value!r}")
    return value
