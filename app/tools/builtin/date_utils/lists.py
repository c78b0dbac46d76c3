"""Dates of one list read together: the clear ones show in which order the unclear ones are written."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from app.tools.builtin.date_utils.reading import Order, Reading, readings
from app.tools.builtin.date_utils.words import NoDate


@dataclass(frozen=True, slots=True)
class ReadDate:
    """How one text was read; `reading` is `None` for what is no date."""

    text: str
    reading: Reading | None = None
    alternatives: tuple[Reading, ...] = ()
    """What else it may mean."""
    why: str = ""
    """Why this meaning was chosen, or why there is none."""

    @property
    def told(self) -> dict[str, JsonValue]:
        if self.reading is None:
            return {"text": self.text, "iso": None, "problem": self.why}
        told: dict[str, JsonValue] = {
            "text": self.text,
            "iso": self.reading.iso,
            "read_as": self.reading.read_as + (f" ({self.why})" if self.why else ""),
            "ambiguous": bool(self.alternatives),
        }
        if self.alternatives:
            told["or"] = [f"{other.iso} ({other.read_as})" for other in self.alternatives]
        return told


def read_dates(texts: Sequence[str], *, day_first: bool | None = None) -> list[ReadDate]:
    """Each text as a date. Of several orders the one is taken that `day_first` says, else that others in the list
    show, else day first where points stand between the numbers and month first elsewhere.
    """
    meanings = [_meanings(text) for text in texts]
    evidence = _evidence(meanings) if day_first is None else {}
    return [_decided(one, day_first, evidence) for one in meanings]


Evidence = dict[bool, tuple[Order, str]]


@dataclass(frozen=True, slots=True)
class _Meanings:
    text: str
    found: tuple[Reading, ...] = ()
    problem: str = ""


def _meanings(text: str) -> _Meanings:
    try:
        found = readings(text)
    except NoDate as error:
        return _Meanings(text, problem=str(error))
    different = {meaning.moment: meaning for meaning in reversed(found)}
    return _Meanings(text, tuple(reversed(different.values())))


def _evidence(meanings: Sequence[_Meanings]) -> Evidence:
    """By whether points stand between the numbers: an order that the clear dates share, and one that shows it."""
    shown: dict[bool, dict[Order, str]] = {True: {}, False: {}}
    for one in meanings:
        order = one.found[0].order if len(one.found) == 1 else None
        # 5/5/2024 is the same day in both orders and shows neither.
        if order in ("month/day/year", "day/month/year") and one.found[0].moment.day != one.found[0].moment.month:
            shown[_with_points(one.text)].setdefault(order, one.text)
    return {points: next(iter(orders.items())) for points, orders in shown.items() if len(orders) == 1}


def _decided(one: _Meanings, day_first: bool | None, evidence: Evidence) -> ReadDate:
    if not one.found:
        return ReadDate(one.text, why=one.problem)
    if len(one.found) == 1:
        return ReadDate(one.text, one.found[0])
    points = _with_points(one.text)
    usual: Order = "day/month/year" if points else "month/day/year"
    if day_first is not None and (told := _of_order(one.found, "day/month/year" if day_first else "month/day/year")):
        return ReadDate(one.text, told, why="as day_first says")
    order, witness = evidence.get(points, (usual, ""))
    chosen = _of_order(one.found, order) or one.found[0]
    why = "day first is usual with points" if points else "day_first says which is meant"
    return ReadDate(one.text, chosen, _others(one.found, chosen), f"as {witness!r} in this list" if witness else why)


def _with_points(text: str) -> bool:
    return "." in text.partition(":")[0]


def _of_order(found: Sequence[Reading], order: Order) -> Reading | None:
    return next((meaning for meaning in found if meaning.order == order), None)


def _others(found: Sequence[Reading], chosen: Reading) -> tuple[Reading, ...]:
    return tuple(meaning for meaning in found if meaning is not chosen)
