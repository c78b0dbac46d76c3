"""Days on which people work: all but the weekend and holidays."""

from collections.abc import Collection, Iterable
from datetime import date, timedelta
from typing import Literal

from app.domain.errors import ToolError
from app.tools.builtin.date_utils.moments import moment

Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
WEEKDAYS: tuple[Weekday, ...] = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MOST_HOLIDAYS = 5_000
MOST_STEPS = 100_000


def days_off(weekend: Collection[Weekday]) -> frozenset[int]:
    """The numbers of these weekdays, Monday is 0. Raises `ToolError` when no day is left."""
    numbers = frozenset(WEEKDAYS.index(day) for day in weekend)
    if len(numbers) == 7:
        raise ToolError("With all seven days in 'weekend' there is no business day. Leave at least one out.")
    return numbers


def holiday_dates(texts: Iterable[str]) -> frozenset[date]:
    """Raises `ToolError` for one that is no date."""
    listed = list(texts)
    if len(listed) > MOST_HOLIDAYS:
        raise ToolError(f"{len(listed):,} holidays are too many; {MOST_HOLIDAYS:,} is the most.")
    return frozenset(moment(text).when.date() for text in listed)


def count(start: date, end: date, weekend: frozenset[int], holidays: frozenset[date]) -> int:
    """Business days from `start` to `end`, both included."""
    weeks, rest = divmod((end - start).days + 1, 7)
    partial = sum((start.weekday() + step) % 7 not in weekend for step in range(rest))
    free = sum(start <= day <= end and day.weekday() not in weekend for day in holidays)
    return weeks * (7 - len(weekend)) + partial - free


def moved(start: date, steps: int, weekend: frozenset[int], holidays: frozenset[date]) -> date:
    """The business day that many business days after `start`, before it when negative."""
    if abs(steps) > MOST_STEPS:
        raise ToolError(f"{steps:,} business days are too many; {MOST_STEPS:,} is the most.")
    day, left = start, abs(steps)
    while left:
        day += timedelta(days=1 if steps > 0 else -1)
        left -= day.weekday() not in weekend and day not in holidays
    return day
