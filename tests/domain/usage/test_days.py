"""The day of whoever uses the app."""

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import pytest

from app.domain.usage.days import days_between, local_day, local_midnight, midnight


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("day", "hours"), [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (date(2026, 11, 23), 24)]
)
def test_a_day_begins_at_midnight_also_where_the_clock_changes_on_it(day: date, hours: int):
    begins, ends = midnight(day).astimezone(UTC), midnight(day + timedelta(days=1)).astimezone(UTC)
    assert ends - begins == timedelta(hours=hours)
    for moment in (begins, begins + timedelta(hours=12), ends - timedelta(seconds=1)):
        assert local_midnight(moment) == begins
        assert local_day(moment.timestamp()) == day.isoformat()
    assert local_day(ends.timestamp()) != day.isoformat()


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_what_is_out_of_the_reach_of_calendars_is_of_the_nearest_day(zone: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    days = [date.fromisoformat(local_day(moment)) for moment in (-62_135_596_800.0, -1.0, 253_402_300_799.0, 1e300)]
    assert days[0] == days[1] and days[2] == days[3] and (days[0].year, days[2].year) == (1970, 9998)
    for day in days:
        assert midnight(day + timedelta(days=1)) > midnight(day)


def test_days_between_include_both():
    assert len(days_between(date(2026, 2, 27), date(2026, 3, 1))) == 3
    assert local_midnight(datetime(2026, 11, 23, 23, 30, tzinfo=UTC)).astimezone(UTC).hour == 23
