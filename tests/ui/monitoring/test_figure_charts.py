"""What Monitoring's charts say."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path

from app.domain.usage.figures import Figures
from app.ui.charts.chart import Chart, Slot, finding
from app.ui.charts.chart_view import table
from app.ui.elements.addresses import edge_text
from app.ui.monitoring.figure_charts import NAMES, figure_charts
from app.ui.monitoring.spans import Seen, seen
from tests.api.over import opened


async def test_each_figure_of_an_hour_opens_the_runs_that_it_counts(tmp_path: Path) -> None:
    workbench = opened(tmp_path)
    found = await seen(workbench, "hour")
    await workbench.close()
    began = datetime.fromisoformat(found.slots[-1].href.partition("from=")[2].partition("&")[0])
    assert found.slots[-1].href == (
        f"/runs?from={began:%Y-%m-%dT%H:%M}:00Z&to={began + timedelta(minutes=1):%Y-%m-%dT%H:%M}:00Z&behind=1"
    )
    figures = Figures(runs=3, endings={"completed": 2, "failed": 1}, failures={"timeout": 1})
    drawn = dict(zip(NAMES, figure_charts(replace(found, figures=(None,) * 59 + (figures,))), strict=True))
    for name, which in (("runs", "status=failed"), ("errors", "error=timeout")):
        assert f'href="{found.slots[-1].href}&{which}"'.replace("&", "&amp;") in table(drawn[name])
        assert f"from={edge_text(found.since)}&behind=1" in next(
            one.href for one in drawn[name].series if one.which == which
        )


def charts(*figures: Figures | None) -> dict[str, Chart]:
    slots = tuple(Slot(f"{number} Nov") for number, _ in enumerate(figures))
    return dict(zip(NAMES, figure_charts(Seen("Day", slots, figures, date(2026, 11, 3))), strict=True))


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


def test_messages_that_waited_are_counted_and_their_waits_told() -> None:
    found = charts(Figures(runs=3, queued=3, waits={60: 2}), Figures(runs=1))
    assert shown(found["queued"]) == {"Waited": [3, 0]}
    waits = shown(found["waits"])
    assert [round(waits[name][0] or 0) for name in ("p50", "p99")] == [944, 944]
    assert waits["p50"][1] is None
    assert finding(found["queued"]) == "Messages that waited in a queue: 3 in all, most 0 Nov (3)"


def test_errors_are_named_as_everywhere_and_lead_to_their_runs() -> None:
    found = charts(Figures(failures={"timeout": 2}), Figures(failures={"rate_limit": 1, "timeout": 1}))["errors"]
    assert [(list(one.values), one.href) for one in found.series] == [
        ([2, 1], "/runs?error=timeout&from=2026-11-03&behind=1"),
        ([0, 1], "/runs?error=rate_limit&from=2026-11-03&behind=1"),
    ]
    assert "Too many requests" in shown(found)
    assert shown(charts(Figures())["errors"]) == {"No errors": [0]}
