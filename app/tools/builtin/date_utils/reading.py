"""One date as somebody wrote it: what it may mean, and what was decided.

Dates of three numbers are read by rules of our own; words such as "March 5th, 2024" by dateutil. Two-digit years from
00 to 68 are 2000 to 2068, from 69 to 99 they are 1969 to 1999, as POSIX says.
"""

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from app.tools.builtin.date_utils.words import NoDate, in_plain_words, read_words

Order = Literal["year-month-day", "month/day/year", "day/month/year"]
LONGEST_DATE = 100
"""Characters."""
_ZONE = r"(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})"
_TIME = rf"(?:[T, ]+(?P<time>\d{{1,2}}(?::\d\d(?::\d\d(?:\.\d{{1,6}})?)?)? ?(?:[ap]\.?m\.?)? ?{_ZONE}?))?"
_NUMBERS = re.compile(rf"(\d{{1,4}}) ?([-/. ]) ?(\d{{1,2}}) ?\2 ?(\d{{1,4}}){_TIME}", re.IGNORECASE)
_COMPACT = re.compile(r"(?:19|20)\d{6}")
_ORDINAL = re.compile(r"(\d{4})-(\d{3})")
_WEEKDAY = re.compile(
    r"(?:(?P<mon>mon(?:day)?)|(?P<tue>tue(?:s|sday)?)|(?P<wed>wed(?:s|nesday)?)|(?P<thu>thu(?:rs?|rsday)?)"
    r"|(?P<fri>fri(?:day)?)|(?P<sat>sat(?:urday)?)|(?P<sun>sun(?:day)?))\b[.,]* *",
    re.IGNORECASE,
)
_PART_OF_HOUR = re.compile(r"[T ]\d\d(?::?\d\d)?[.,]")
_FINE = re.compile(r"[.,]\d{7}")
_UNIX = re.compile(r"\d{10}|\d{13}")
_SHEET_DAY = re.compile(r"[2-6]\d{4}")
_SHEET_START = date(1899, 12, 30)


@dataclass(frozen=True, slots=True)
class Reading:
    """One meaning of a text."""

    moment: datetime
    has_time: bool
    read_as: str
    """The format in words."""
    order: Order | None = None
    """For dates of three numbers."""

    @property
    def iso(self) -> str:
        if not self.has_time:
            return self.moment.date().isoformat()
        return self.moment.isoformat(timespec="auto" if self.moment.microsecond else "seconds")


def readings(text: str) -> list[Reading]:
    """Every meaning that the text may have, at least one. Raises `NoDate` where there is none, saying why."""
    text = " ".join(text.split())
    if not text:
        raise NoDate("It is empty.")
    if len(text) > LONGEST_DATE:
        raise NoDate(f"It is longer than {LONGEST_DATE} characters.")
    weekday = _WEEKDAY.match(text)
    plain = in_plain_words(text[weekday.end() :] if weekday else text)
    numbers = _NUMBERS.fullmatch(plain)
    if numbers:
        found = _of_numbers(numbers)
    else:
        found = [_iso(plain) or _compact(plain) or _ordinal(plain) or _counted(plain) or _worded(plain)]
    return _on_weekday(found, weekday.lastgroup or "") if weekday else found


def _on_weekday(found: list[Reading], weekday: str) -> list[Reading]:
    """Those meanings on that day of the week; where there is none, all, and that they are on another."""
    fitting = [one for one in found if one.moment.strftime("%a").lower() == weekday]
    return fitting or [replace(one, read_as=f"{one.read_as}, though that is a {one.moment:%A}") for one in found]


def _of_numbers(found: re.Match[str]) -> list[Reading]:
    first, separator, second, third = found[1], found[2], found[3], found[4]
    orders: list[tuple[Order, str, str, str]] = []
    if len(first) == 4:
        orders.append(("year-month-day", first, second, third))
    elif len(first) <= 2 and len(third) in (2, 4):
        orders += [("month/day/year", third, first, second), ("day/month/year", third, second, first)]
        if len(first) == 2 and len(third) == 2 and separator == "-":
            orders.append(("year-month-day", first, second, third))
    clock = _clock(found["time"])
    meanings = [
        Reading(
            datetime.combine(day, clock or time()), clock is not None, _described(order, separator, year, day), order
        )
        for order, year, month, number in orders
        if (day := _day(year, month, number)) is not None
    ]
    if not meanings:
        raise NoDate("No order of its numbers is a day of the calendar.")
    return meanings


def _day(year: str, month: str, day: str) -> date | None:
    try:
        return date(_year(year), int(month), int(day))
    except ValueError:
        return None


def _year(digits: str) -> int:
    number = int(digits)
    if len(digits) > 2:
        return number
    return number + (2000 if number < 69 else 1900)


def _described(order: Order, separator: str, year: str, day: date) -> str:
    words = re.sub("[-/]", separator, order)
    return words if len(year) == 4 else f"{words}, the year {year} as {day.year}"


def _clock(text: str | None) -> time | None:
    """The time behind a date, with its zone where it says one."""
    return read_words(f"2000-01-01 {text}").moment.timetz() if text else None


def _iso(text: str) -> Reading | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if _COMPACT.fullmatch(text):
        return None
    if _PART_OF_HOUR.search(text):
        raise NoDate("Its time is no clear one. Write it with colons.")
    has_time = ":" in text or "T" in text
    return Reading(moment, has_time, "ISO 8601, cut to microseconds" if _FINE.search(text) else "ISO 8601")


def _compact(text: str) -> Reading | None:
    day = _day(text[:4], text[4:6], text[6:]) if _COMPACT.fullmatch(text) else None
    return Reading(datetime.combine(day, time()), False, "year, month and day in eight digits") if day else None


def _ordinal(text: str) -> Reading | None:
    found = _ORDINAL.fullmatch(text)
    if found is None:
        return None
    try:
        day = date(int(found[1]), 1, 1) + timedelta(days=int(found[2]) - 1)
    except (ValueError, OverflowError):
        raise NoDate("There is no such year, or no such day in it.") from None
    if day.year != int(found[1]):
        raise NoDate("There is no such day in that year.")
    return Reading(datetime.combine(day, time()), False, "year and day of the year")


def _counted(text: str) -> Reading | None:
    """Seconds or milliseconds since 1970, or the days that spreadsheets count."""
    if _UNIX.fullmatch(text):
        seconds = int(text) / (1000 if len(text) == 13 else 1)
        return Reading(datetime.fromtimestamp(seconds, UTC), True, "Unix time, in UTC")
    if _SHEET_DAY.fullmatch(text):
        day = _SHEET_START + timedelta(days=int(text))
        return Reading(datetime.combine(day, time()), False, "a spreadsheet's day number")
    return None


def _worded(text: str) -> Reading:
    found = read_words(text)
    return Reading(found.moment, found.has_time, found.read_as)
