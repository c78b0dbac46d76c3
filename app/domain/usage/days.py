"""The day of the person who uses the app: of 23, 24 or 25 hours, where the computer stands."""

from datetime import UTC, date, datetime, time, timedelta

_FIRST = datetime(1970, 1, 2, tzinfo=UTC).timestamp()
_LAST = datetime(9998, 12, 30, tzinfo=UTC).timestamp()
"""Moments between these have a day, and one after it, in the calendars of all systems and in all time zones."""


def local_day(moment: float) -> str:
    """The day, as `2026-11-23`, of that moment in seconds since 1970; the nearest one where it is out of reach."""
    within = min(max(moment, _FIRST), _LAST)
    return datetime.fromtimestamp(within).date().isoformat()  # noqa: DTZ006  the computer's own zone is meant


def midnight(day: date) -> datetime:
    """When the day began."""
    return datetime.combine(day, time()).astimezone()


def local_midnight(moment: datetime) -> datetime:
    """When that moment's day began."""
    return midnight(moment.astimezone().date())


def local_month(moment: datetime) -> datetime:
    """When that moment's month began."""
    return midnight(moment.astimezone().date().replace(day=1))


def days_between(first: date, last: date) -> list[date]:
    """All days from the first to the last, both included."""
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]
