import csv
import io

import pytest

from app.ui.charts.chart import Chart, Series, Slot, axis_amount, csv_text, finding, with_others, words_at
from app.ui.charts.chart_view import figure, table
from app.ui.charts.drawing import drawing, thinned
from tests.hostile import PAYLOADS

DAYS = tuple(Slot(f"{day} Nov", href=f"/runs?from=2026-11-{day}") for day in (16, 17, 18))


def cost(**changed: object) -> Chart:
    series = (Series("demo", (None, 0, 1.2)), Series("gpt", (None, 1.9, 0)))
    fields = {"name": "cost", "title": "Cost", "unit": "dollars", "slots": DAYS, "series": series, **changed}
    return Chart(**fields)  # type: ignore[arg-type]


def latency(values: list[float | None]) -> Chart:
    slots = [Slot(str(place)) for place in range(len(values))]
    return Chart("latency", "Latency", "ms", slots, (Series("p95", values),), kind="lines")


def test_a_chart_says_what_it_finds() -> None:
    assert finding(cost()) == "Cost: $3.10 in all, most 17 Nov ($1.90)"
    assert finding(latency([100, 2000, 400])) == "Latency: p95 0.4 s, highest 2.0 s (1)"
    assert finding(latency([None])) == "Latency: no figures yet"


def test_a_column_says_its_figures_exactly() -> None:
    assert words_at(cost(unfinished=True), 2, 2) == "18 Nov (so far): demo $1.20, gpt $0.00, together $1.20"


def test_a_day_before_the_first_run_is_not_a_day_without_runs() -> None:
    assert words_at(cost(), 0, 0) == "16 Nov: demo –, gpt –"
    assert "<td>–</td>" in table(cost())
    assert csv_text(cost()).splitlines()[1] == "16 Nov,,"


def test_the_table_and_the_file_say_the_same_as_the_drawing() -> None:
    rows = list(csv.reader(io.StringIO(csv_text(cost()))))
    assert rows == [["Day", "demo", "gpt"], ["16 Nov", "", ""], ["17 Nov", "0", "1.9"], ["18 Nov", "1.2", "0"]]
    assert table(cost()).index("18 Nov") < table(cost()).index("17 Nov")  # the newest first


def test_no_name_begins_a_formula_in_the_file() -> None:
    assert csv_text(cost(series=(Series("=1+1", (1, 1, 1)),))).startswith("Day,'=1+1")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_name_becomes_markup(payload: str) -> None:
    harmless, hostile = (
        figure(cost(title=name, series=(Series(name, (1, 2, 3)),), slots=[Slot(name)] * 3), as_table=True)
        for name in ("x", payload)
    )
    assert hostile.count("<") == harmless.count("<")
    assert hostile.count('"') == harmless.count('"')


def test_no_spike_is_lost_where_points_stand_closer_than_pixels() -> None:
    values: list[float | None] = [1.0] * 10_000
    values[4321], values[4322] = 99.0, 0.0
    kept = thinned(values, 400)
    assert {(4321, 99.0), (4322, 0.0)} <= set(kept)
    assert len(kept) <= 800
    assert [place for place, _ in kept] == sorted(place for place, _ in kept)


def test_no_line_goes_through_what_is_not_known() -> None:
    drawn = drawing(latency([1, 2, None, 3, 4, None, 5]))
    path = drawn.split('fill="none"')[0].rsplit('d="', 1)[1].split('"')[0]
    assert path.count("M") == 2
    assert drawn.count("<circle") == 1  # one alone is a dot


def test_one_column_is_reached_by_tab_and_leads_to_its_runs() -> None:
    drawn = drawing(cost())
    assert drawn.count('tabindex="0"') == 1
    assert drawn.count('class="chart-mark"') == len(DAYS)
    assert 'href="/runs?from=2026-11-18"' in drawn
    assert drawn.count("<title>") == len(DAYS)


def test_the_unfinished_day_is_hatched() -> None:
    assert "cost-hatch" in drawing(cost(unfinished=True))
    assert "cost-hatch" not in drawing(cost())


def test_ninety_days_of_four_series_are_small() -> None:
    slots = [Slot(f"{day} Nov", href=f"/runs?from=2026-11-{day}&to=2026-11-{day}") for day in range(90)]
    series = [Series(f"provider/model-{number}", [number * 1.25 + day for day in range(90)]) for number in range(4)]
    assert len(drawing(cost(slots=slots, series=series, unfinished=True))) <= 45_000
    assert len(drawing(latency([float(place % 97) for place in range(10_000)]))) <= 45_000


def test_the_rest_is_told_as_others() -> None:
    series = [Series(f"m{number}", (number, None, 0)) for number in range(9)]
    shown = with_others(series)
    assert [one.label for one in shown] == ["m8", "m7", "m6", "m5", "m4", "4 others"]
    assert list(shown[-1].values) == [6, None, 0]


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (0, "ms", "0 ms"),
        (2000, "ms", "2 s"),
        (0.5, "dollars", "$0.5"),
        (40_000, "tokens", "40.0k"),
        (0.5, "count", "0.5"),
    ],
)
def test_the_grid_says_its_figures_shortly(value: float, unit: str, said: str) -> None:
    assert axis_amount(value, unit) == said  # type: ignore[arg-type]
