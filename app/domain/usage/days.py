"""The day of the person who uses the app: of 23, 24 or 25 hours, where the computer stands."""

from datetime import date, datetime, time, timedelta


def local_day(moment: float) -> str:
    """The day, as `2026-11-23`, on which that moment was, in seconds since 1970."""
    return datetime.fromtimestamp(moment).date().isoformat()  # noqa: DTZ006  the computer's own zone is meant


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
