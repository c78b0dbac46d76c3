"""Calculations with single dates and times."""

import difflib
import re
from collections.abc import Collection, Iterable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import cache
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import Field, JsonValue, WithJsonSchema

from app.domain.errors import ToolError
from app.tools.builtin.date_utils.moments import DayFirst, Moment, iso, moment
from app.tools.function.tool import tool

Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
WEEKDAYS: tuple[Weekday, ...] = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
Holidays = Annotated[list[str], Field(description="Dates off.")]
Weekend = Annotated[
    list[Weekday],
    WithJsonSchema({"type": "array", "items": {"type": "string"}, "description": "Days of the week off."}),
]
SATURDAY_AND_SUNDAY: list[Weekday] = ["saturday", "sunday"]

MOST_HOLIDAYS = 5_000
MOST_STEPS = 100_000

_OFFSET = re.compile(r"(?:UTC|GMT)?\s*([+-])(\d{1,2})(?::?([0-5]\d))?", re.IGNORECASE)


@tool(title="ISO date", icon="today", idempotent=True)
def date_utils__iso(text: str, day_first: DayFirst = None, time_zone: str = "") -> dict[str, JsonValue]:
    """Write a date or time as ISO 8601, with weekday, week, quarter and Unix time.

    Args:
        text: Such as "March 5 2024 4pm".
        time_zone: Of a time that names none, such as Europe/Berlin or +02:00.
    """
    given = moment(text, day_first=day_first)
    notes = list(given.notes)
    when = placed(given.when, zone(time_zone), notes) if time_zone and given.when.tzinfo is None else given.when
    year, week, _ = when.isocalendar()
    return {
        "iso": iso(when, has_time=given.has_time),
        "weekday": WEEKDAYS[when.weekday()].capitalize(),
        "iso_week": f"{year}-W{week:02}",
        "quarter": (when.month + 2) // 3,
        "day_of_year": when.timetuple().tm_yday,
        "unix_time": int(when.timestamp()) if when.tzinfo else None,
        "notes": list[JsonValue](notes),
    }


@tool(title="Time between", icon="timelapse", idempotent=True)
def date_utils__difference(start: str, end: str) -> dict[str, JsonValue]:
    """How long it is from one date or time to another, in days, weeks and by the calendar."""
    from dateutil.relativedelta import relativedelta  # noqa: PLC0415  takes 20 ms to import

    first, last = moment(start), moment(end)
    _check_zones(first, last)
    between, calendar = last.when - first.when, relativedelta(last.when, first.when)
    told: dict[str, JsonValue] = {
        "start": first.iso,
        "end": last.iso,
        "days": _tidy(between / timedelta(days=1)),
        "weeks": _tidy(between / timedelta(weeks=1)),
        "calendar": {"years": calendar.years, "months": calendar.months, "days": calendar.days},
    }
    if first.has_time or last.has_time:
        told |= {"hours": _tidy(between / timedelta(hours=1)), "seconds": _tidy(between.total_seconds())}
    return {**told, "notes": list[JsonValue]([*first.notes, *last.notes])}


@tool(title="Add to a date", icon="more_time", idempotent=True)
def date_utils__add(
    start: str,
    *,
    years: int = 0,
    months: int = 0,
    weeks: int = 0,
    days: int = 0,
    business_days: int = 0,
    hours: float = 0,
    minutes: float = 0,
    holidays: Holidays = [],  # noqa: B006  never changed
    weekend: Weekend = SATURDAY_AND_SUNDAY,
) -> dict[str, JsonValue]:
    """Add time to a date or time; negative numbers go back."""
    from dateutil.relativedelta import relativedelta  # noqa: PLC0415  takes 20 ms to import

    given = moment(start)
    off, free = days_off(weekend), holiday_dates(holidays)
    try:
        later = given.when + relativedelta(years=years, months=months, weeks=weeks, days=days)
        later += timedelta(hours=hours, minutes=minutes)
        day = moved(later.date(), business_days, off, free)
    except (OverflowError, ValueError) as error:
        raise ToolError(f"That leads out of the calendar of years 1 to 9999: {error}.") from error
    ended = Moment(datetime.combine(day, later.timetz()), given.has_time or bool(hours or minutes))
    told: dict[str, JsonValue] = {"start": given.iso, "iso": ended.iso}
    return {**told, "weekday": WEEKDAYS[day.weekday()].capitalize(), "notes": list[JsonValue](given.notes)}


@tool(title="Business days", icon="work_history", idempotent=True)
def date_utils__business_days(
    start: str,
    end: str,
    holidays: Holidays = [],  # noqa: B006  never changed
    weekend: Weekend = SATURDAY_AND_SUNDAY,
) -> dict[str, JsonValue]:
    """Count the business days from one date to another, both included, as NETWORKDAYS does."""
    first, last = moment(start), moment(end)
    off, free = days_off(weekend), holiday_dates(holidays)
    early, late = sorted((first.when.date(), last.when.date()))
    counted = count(early, late, off, free)
    used = sorted(day.isoformat() for day in free if early <= day <= late and day.weekday() not in off)
    return {
        "start": first.when.date().isoformat(),
        "end": last.when.date().isoformat(),
        "business_days": counted if first.when.date() <= last.when.date() else -counted,
        "calendar_days": (late - early).days + 1,
        "holidays_counted": list[JsonValue](used),
        "notes": list[JsonValue]([*first.notes, *last.notes]),
    }


@tool(title="Convert time zone", icon="public", idempotent=True)
def date_utils__convert_time_zone(time: str, to_zone: str, from_zone: str = "") -> dict[str, JsonValue]:
    """Say what a time in one time zone is in another.

    Args:
        time: Such as 2024-03-05 16:00.
        to_zone: Such as Asia/Tokyo or +02:00.
        from_zone: Needed when the time names none.
    """
    given = moment(time)
    target, notes = zone(to_zone), list(given.notes)
    if given.when.tzinfo is None and not from_zone:
        raise ToolError(f"{time!r} names no time zone. Pass from_zone, such as Europe/Berlin or UTC.")
    there = given.when if given.when.tzinfo else placed(given.when, zone(from_zone), notes)
    if not given.has_time:
        notes.append("No time was given; midnight was taken.")
    try:
        here = there.astimezone(UTC).astimezone(target)
    except OverflowError as error:
        raise ToolError("That leads out of the calendar of years 1 to 9999.") from error
    return {
        "from": iso(there, has_time=True),
        "iso": iso(here, has_time=True),
        "time": here.strftime("%H:%M"),
        "day": f"{WEEKDAYS[here.weekday()].capitalize()}, {here.date().isoformat()}",
        "offset_hours": _tidy((here.utcoffset() or timedelta()) / timedelta(hours=1)),
        "notes": list[JsonValue](notes),
    }


def _check_zones(first: Moment, last: Moment) -> None:
    if (first.when.tzinfo is None) != (last.when.tzinfo is None):
        raise ToolError("Only one of the two times names its time zone. Add it to the other, such as +02:00.")


def _tidy(number: float) -> int | float:
    return int(number) if number == int(number) else round(number, 6)


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


def zone(name: str) -> tzinfo:
    """Raises `ToolError` that names zones of a like name."""
    offset = _OFFSET.fullmatch(name.strip())
    if offset and int(offset[2]) < 24:
        east = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        return timezone(east if offset[1] == "+" else -east)
    known = _by_name()
    wanted = _folded(name)
    if wanted not in known:
        near = [known[one] for one in difflib.get_close_matches(wanted, known, n=3)]
        guess = f" Did you mean {' or '.join(near)}?" if near else ""
        raise ToolError(f"There is no time zone {name[:60]!r}.{guess} Write it like Europe/Berlin or +02:00.")
    try:
        return ZoneInfo(known[wanted])
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ToolError(f"The time zone {known[wanted]} cannot be read on this computer: {error}.") from error


def placed(when: datetime, place: tzinfo, notes: list[str]) -> datetime:
    """A wall clock's time in its zone; notes tell when that time comes twice or never, as when clocks change."""
    there = when.replace(tzinfo=place)
    if _exists(there):
        if there.utcoffset() != there.replace(fold=1).utcoffset():
            notes.append(f"{when.isoformat()} comes twice there as the clocks go back; the first one was taken.")
        return there
    notes.append(f"{when.isoformat()} does not exist there: the clocks go forward over it.")
    return there


def _exists(there: datetime) -> bool:
    try:
        back = there.astimezone(UTC).astimezone(there.tzinfo)
    except OverflowError:  # within a day of the calendar's edges no clocks change
        return True
    return back.replace(tzinfo=None) == there.replace(tzinfo=None)


@cache
def _by_name() -> dict[str, str]:
    """Each zone by its folded name, and by its city where only one zone has a city of that name."""
    names = sorted(available_timezones())
    cities: dict[str, list[str]] = {}
    for name in names:
        if "/" in name and not name.startswith(("Etc/", "posix/", "right/", "SystemV/", "US/", "Brazil/")):
            cities.setdefault(_folded(name.rpartition("/")[2]), []).append(name)
    return {city: zones[0] for city, zones in cities.items() if len(zones) == 1} | {
        _folded(name): name for name in names
    }


def _folded(name: str) -> str:
    return re.sub(r"[\s_]+", "_", name.strip()).casefold()
