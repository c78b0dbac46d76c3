"""The last seven days against the seven before, from daily rows."""

from datetime import date, timedelta

from app.domain.trace.model_tallies import NANO
from app.domain.usage.figures import Figures
from app.domain.usage.query import UsageRow
from app.ui.overview.week import tiles, weeks_of

TODAY = date(2026, 11, 23)


def row(days_ago: int, purpose: str = "chat", **figures: object) -> UsageRow:
    day = TODAY - timedelta(days=days_ago)
    return UsageRow((day.isoformat(), purpose), Figures(**figures))


def test_seven_days_stand_against_the_seven_before():
    weeks = weeks_of([row(0, runs=1), row(6, runs=2), row(7, runs=4), row(13, runs=8)], TODAY)
    assert (weeks.today.runs.runs, weeks.this.runs.runs, weeks.last.runs.runs) == (1, 3, 12)


def test_runs_behind_are_none_of_them_and_cost_all_the_same():
    weeks = weeks_of([row(0, runs=1, cost=NANO), row(0, "judge", runs=5, cost=2 * NANO)], TODAY)
    assert weeks.this.runs.runs == 1 and weeks.this.money.dollars == 3
    shown = tiles(weeks, TODAY, 10)
    assert "$3.00" in shown and "today $3.00 of $10.00" in shown and "is-warn" not in shown
    assert "/runs?from=2026-11-17&amp;sort=cost&amp;behind=1" in shown


def test_money_warns_from_80_percent_of_the_days_ceiling():
    weeks = weeks_of([row(0, runs=1, cost=8 * NANO)], TODAY)
    assert 'is-warn" data-testid="overview-money"' in tiles(weeks, TODAY, 10)
    assert "is-warn" not in tiles(weeks, TODAY, 0)


def test_failures_have_their_share_and_what_costs_nobody_knows_what_is_said():
    this = row(1, runs=4, endings={"failed": 2, "completed": 2}, unpriced_runs=1)
    shown = tiles(weeks_of([this, row(8, runs=10, endings={"failed": 1})], TODAY), TODAY, 0)
    assert "2 <small>50 %</small>" in shown and "before: 1 (10 %)" in shown and "unpriced" in shown
    assert 'is-warn" data-testid="overview-failures"' in shown


def test_without_runs_it_says_so():
    assert "Nothing was run" in tiles(weeks_of([], TODAY), TODAY, 10)
