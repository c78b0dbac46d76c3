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


def test_days_between_include_both():
    assert len(days_between(date(2026, 2, 27), date(2026, 3, 1))) == 3
    assert local_midnight(datetime(2026, 11, 23, 23, 30, tzinfo=UTC)).astimezone(UTC).hour == 23
