"""When a ceiling is reached at the pace of the day or the month so far."""

from datetime import UTC, datetime, timedelta

import pytest

from app.domain.usage.pace import Pace

BEGAN = datetime(2026, 11, 1, tzinfo=UTC)
MONTH = BEGAN + timedelta(days=30)


def month(spent: float, *, days: float, allowed: float = 60.0) -> Pace:
    return Pace(spent, allowed, BEGAN, MONTH, BEGAN + timedelta(days=days))


def test_a_straight_line_leads_to_the_ceiling():
    pace = month(30, days=10)
    assert (pace.left, pace.share, pace.by_the_end) == (30, 0.5, 90)
    assert pace.reached_at == BEGAN + timedelta(days=20)


def test_what_does_not_come_to_the_ceiling_in_time_has_no_such_moment():
    pace = month(10, days=10)
    assert pace.by_the_end == 30 and pace.reached_at is None
    exactly = month(20, days=10)
    assert exactly.by_the_end == 60 and exactly.reached_at == MONTH


@pytest.mark.parametrize("spent", [60, 75])
def test_a_ceiling_that_is_reached_is_not_reached_again(spent: float):
    pace = month(spent, days=10)
    assert (pace.left, pace.reached_at) == (0, None) and pace.share >= 1


def test_the_first_hours_tell_no_pace():
    assert month(5, days=1.2).by_the_end is None and month(5, days=1.2).reached_at is None
    assert month(5, days=1.25).by_the_end == pytest.approx(120)


def test_without_a_ceiling_and_without_money_there_is_nothing_to_reach():
    free = month(10, days=10, allowed=0)
    assert (free.left, free.share, free.reached_at) == (0, 0, None) and free.by_the_end == 30
    nothing = month(0, days=10)
    assert (nothing.by_the_end, nothing.reached_at, nothing.left) == (0, None, 60)


def test_a_day_of_25_hours_is_as_long_as_it_is():
    pace = Pace(1, 4, BEGAN, BEGAN + timedelta(hours=25), BEGAN + timedelta(hours=5))
    assert pace.by_the_end == 5 and pace.reached_at == BEGAN + timedelta(hours=20)
