"""The last seven days against the seven before, from daily series."""

from datetime import date, timedelta

from app.domain.trace.model_tallies import NANO
from app.domain.usage.figures import NOTHING, Figures
from app.domain.usage.query import UsageSeries
from app.ui.charts.chart import words_at
from app.ui.overview.week import runs_chart, tiles, weeks_of

TODAY = date(2026, 11, 23)


def series(days: dict[int, Figures], purpose: str = "chat", *, known: int = 13) -> UsageSeries:
    """Figures by how many days ago they are; the first day that is known is so many days ago."""
    span = [
        (TODAY - timedelta(days=ago), days.get(ago, NOTHING) if ago <= known else None) for ago in range(13, -1, -1)
    ]
    return UsageSeries((purpose,), tuple(span))


def test_seven_days_stand_against_the_seven_before():
    runs = {ago: Figures(runs=number) for ago, number in ((0, 1), (6, 2), (7, 4), (13, 8))}
    weeks = weeks_of([series(runs)])
    assert (weeks.this.runs.runs, weeks.last.runs.runs) == (3, 12)


def test_runs_behind_are_none_of_them_and_cost_all_the_same():
    chat = series({0: Figures(runs=1, cost=NANO)})
    weeks = weeks_of([chat, series({0: Figures(runs=5, cost=2 * NANO)}, "judge")])
    assert weeks.this.runs.runs == 1 and weeks.this.money.dollars == 3
    shown = tiles(weeks, 10)
    assert "$3.00" in shown and "today $3.00 of $10.00" in shown and "is-warn" not in shown
    assert 'href="/resources?over=week" class="tile" data-testid="overview-money"' in shown


def test_money_warns_from_80_percent_of_the_days_ceiling():
    weeks = weeks_of([series({0: Figures(runs=1, cost=8 * NANO)})])
    assert 'is-warn" data-testid="overview-money"' in tiles(weeks, 10)
    assert "is-warn" not in tiles(weeks, 0)


def test_failures_have_their_share_and_what_costs_nobody_knows_what_is_said():
    this = Figures(runs=4, endings={"failed": 2, "completed": 2}, unpriced_runs=1)
    shown = tiles(weeks_of([series({1: this, 8: Figures(runs=10, endings={"failed": 1})})]), 0)
    assert "2 <small>50 %</small>" in shown and "before: 1 (10 %)" in shown and "unpriced" in shown
    assert 'is-warn" data-testid="overview-failures"' in shown


def test_the_bars_tell_failed_runs_apart_and_open_the_runs_of_their_day():
    figures = {1: Figures(runs=4, endings={"failed": 1, "completed": 3})}
    chart = runs_chart(weeks_of([series(figures, known=2), series({}, "judge", known=2)]))
    assert words_at(chart, 12, 12) == "Sun 22 Nov: Others 3, Failed 1, together 4"
    assert chart.slots[12].href == "/runs?from=2026-11-22&to=2026-11-22"
    assert [one.values[10] for one in chart.series] == [None, None] and chart.series[0].values[11] == 0


def test_without_runs_it_says_so():
    assert "Nothing was run" in tiles(weeks_of([]), 10) and "Nothing was run" in tiles(weeks_of([series({})]), 10)
