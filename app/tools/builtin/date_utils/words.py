"""Dates in words, "Tuesday, March 5th 2024 at 4pm", read by dateutil and checked for parts it made up."""

import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dateutil.parser import parser

_ZONES = {"UTC": 0, "GMT": 0, "Z": 0, "EST": -18000, "EDT": -14400, "CST": -21600, "CDT": -18000, "MST": -25200,
          "MDT": -21600, "PST": -28800, "PDT": -25200, "CET": 3600, "CEST": 7200, "BST": 3600}  # fmt: skip
"""Seconds east of Greenwich of the abbreviations that mean one zone to most people."""
_SPELLINGS = [
    (re.compile(pattern, re.IGNORECASE), plain)
    for pattern, plain in (
        (r"\b(?:de|del|den|der|le|el|um|à|a las)\b", " "),  # "5 de marzo de 2024", "le 5 mars 2024 à 10:00"
        (r"\bnoon\b", "12:00"),
        (r"\b(\d{1,2})\.(\d\d)(?= ?(?:[ap]\.?m\b|uhr\b|h\b))", r"\1:\2"),
        (r"\b(\d{1,2}) ?h(\d\d)\b", r"\1:\2"),
        (r"\b(\d{1,2}:\d\d) ?(?:uhr|h)\b", r"\1"),
        (r"\b(\d{1,2}) ?(?:uhr\b|h\b(?! ?\d))", r"\1:00"),
    )
]
"""Of times, and of what stands around dates in other languages."""
_CLOCK = re.compile(r"(?<![\d:+-])\d{1,2}:\d\d")
_LETTERS = re.compile(r"[^\W\d_]{3}")
_DIGITS = re.compile(r"\d{12}")
_MONTHS = (
    "jan january januar janvier enero ene", "feb february februar février febrero fév", "mar march märz mars marzo mär",
    "apr april avril abril avr abr", "may mai mayo", "jun june juni juin junio", "jul july juli juillet julio juil",
    "aug august août agosto ago", "sep sept september septembre septiembre", "oct october oktober octobre octubre okt",
    "nov november novembre noviembre", "dec december dezember décembre diciembre dez déc dic",
)  # fmt: skip


_MONTH_NUMBERS = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()}


class NoDate(ValueError):
    """The text is no date; the message says why, in a sentence."""


@dataclass(frozen=True, slots=True)
class WordedDate:
    moment: datetime
    has_time: bool
    read_as: str


def read_words(text: str) -> WordedDate:
    """Raises `NoDate` where day, month or year is missing, and for what is no date."""
    if _DIGITS.fullmatch(text) and text[:2] not in ("19", "20"):
        raise NoDate("Its twelve digits may be read in several ways.")
    if len(_CLOCK.findall(text)) > 1:
        raise NoDate("It names two times.")
    # dateutil fills in what is missing from a default: two defaults that differ in everything show what was.
    defaults = datetime(2000, 1, 1), datetime(2004, 12, 31, 13, 59)  # noqa: DTZ001
    early, late = (_parsed(text, default) for default in defaults)
    parts = {"day": early.day == late.day, "month": early.month == late.month, "year": early.year == late.year}
    if not all(parts.values()):
        raise NoDate(f"It has no {' and no '.join(part for part, is_there in parts.items() if not is_there)}.")
    return WordedDate(early, early.hour == late.hour, "month in words" if _LETTERS.search(text) else "digits in a row")


def in_plain_words(text: str) -> str:
    """The text with its times written with colons, and without small words: "10h11", "at noon", "um 10.30 Uhr"."""
    for pattern, plain in _SPELLINGS:
        text = pattern.sub(plain, text)
    return " ".join(text.split())


def _parsed(text: str, default: datetime) -> datetime:
    try:
        moment = _parser().parse(text, default=default, tzinfos=_seconds_east)
        moment.utcoffset()  # only when asked it tells of a day or more
    except NoDate:
        raise
    except (ValueError, OverflowError, TypeError, AttributeError) as error:
        if re.search(r"day is out of range|month must be|hour must be|minute must be", str(error)):
            raise NoDate(f"There is no such day or time: {error}.") from error
        raise NoDate("It is not written like a date.") from error
    else:
        return moment


def _seconds_east(name: str | None, offset: int | None) -> int | None:
    """The zone of a time that names one."""
    if offset is not None or name is None:
        return offset
    if name.upper() not in _ZONES:
        raise NoDate(f"The time zone {name!r} is unknown or has several meanings. Write it like +02:00.")
    return _ZONES[name.upper()]


@cache
def _parser() -> "parser":
    """dateutil's parser with month names of four languages and years of two digits by a fixed rule."""
    from dateutil.parser import parser, parserinfo  # noqa: PLC0415  takes 30 ms to import

    class Info(parserinfo):
        def month(self, name: str) -> int | None:
            return _MONTH_NUMBERS.get(name.lower())

        def convertyear(self, year: int, century_specified: bool = False) -> int:
            if year >= 100 or century_specified:
                return year
            return year + (2000 if year < 69 else 1900)

    return parser(Info())
