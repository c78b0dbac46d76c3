"""What Monitoring's charts say."""

from app.domain.usage.figures import Figures
from app.ui.charts.chart import Chart, Slot, finding
from app.ui.monitoring.figure_charts import NAMES, figure_charts
from app.ui.monitoring.spans import Seen


def charts(*figures: Figures | None) -> dict[str, Chart]:
    slots = tuple(Slot(f"{number} Nov") for number, _ in enumerate(figures))
    return dict(zip(NAMES, figure_charts(Seen("Day", slots, figures)), strict=True))


def shown(chart: Chart) -> dict[str, list[float | None]]:
    return {one.label: list(one.values) for one in chart.series}


def test_each_run_stands_in_one_bar() -> None:
    found = charts(None, Figures(runs=7, endings={"completed": 3, "failed": 1, "cancelled": 1, "limited": 1}))
    assert shown(found["runs"]) == {
        "Completed": [None, 3],
        "Failed": [None, 1],
        "Stopped or limited": [None, 2],
        "Without an end yet": [None, 1],
    }
    assert finding(found["runs"]) == "Runs begun: 7 in all, most 1 Nov (7)"


def test_times_are_told_by_how_many_were_faster() -> None:
    times = shown(charts(Figures(calls=100, times={20: 90, 60: 9, 80: 1}), Figures(runs=1))["answers"])
    assert [round(times[name][0] or 0) for name in ("p50", "p95", "p99")] == [9, 944, 944]
    assert [times[name][1] for name in times] == [None] * 3  # no line goes to where nothing was measured


def test_errors_are_named_as_everywhere_and_lead_to_their_runs() -> None:
    found = charts(Figures(failures={"timeout": 2}), Figures(failures={"rate_limit": 1, "timeout": 1}))["errors"]
    assert [(list(one.values), one.href) for one in found.series] == [
        ([2, 1], "/runs?error=timeout&behind=1"),
        ([0, 1], "/runs?error=rate_limit&behind=1"),
    ]
    assert "Too many requests" in shown(found)
    assert shown(charts(Figures())["errors"]) == {"No errors": [0]}
