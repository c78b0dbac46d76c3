"""What the Overview, Monitoring and Resources say of the same runs is the same, and each number opens as many runs."""

import random
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from app.domain.provenance import Purpose, Trigger
from app.domain.trace import ModelTally, RunRow
from app.domain.usage.figures import Figures
from app.domain.usage.pricing import together
from app.domain.usage.query import UsageQuery
from app.domain.values import now
from app.ui.monitoring.figure_charts import figure_charts
from app.ui.monitoring.spans import Seen, seen
from app.ui.overview.week import runs_chart, tiles, weeks_of
from app.ui.resources.asked import ResourcesQuery
from app.ui.resources.figures import Looked, chart, table_view, tiles_view, unpriced_view
from app.ui.runs.trace_query import RunsQuery
from app.workbench import Workbench
from tests.api.over import opened
from tests.seeds import seeded_row

RUNS = 300
PURPOSES: tuple[Purpose, ...] = ("chat", "api", "experiment", "judge", "try")
APP = {"trigger": Trigger(kind="app"), "models": (), "cost": 0.0, "input_tokens": 0, "output_tokens": 0}
"""Calls of an app, which is no run and asks no model."""
LINK = re.compile(r'href="(/[^"]*)"')


@pytest.fixture
async def workbench(tmp_path: Path) -> AsyncIterator[Workbench]:
    """With runs of forty days: of all purposes, with a second model, without a price, calls of apps."""
    workbench, chance = opened(tmp_path), random.Random(5)
    for number in range(RUNS):
        row = seeded_row(number, chance, back=timedelta(days=40) * (number / RUNS))
        await workbench.rows.save(row.model_copy(update=varied(row, number)))
    yield workbench
    await workbench.close()


def varied(row: RunRow, number: int) -> dict[str, object]:
    purpose = PURPOSES[number % len(PURPOSES)]
    if number % 11 == 0:
        return {"purpose": purpose, **APP}
    other = ModelTally(model="custom/own", provider="custom", calls=1, input_tokens=5, unpriced=1)
    own = {"models": (*(row.models or ()), other), "unpriced": True} if number % 4 == 0 else {}
    return {"purpose": purpose, "background": number % 3 == 0, **own}


def runs_behind(workbench: Workbench, address: str) -> int:
    return workbench.rows.find(RunsQuery.of(said_by(address)).filter, limit=0).total


def said_by(address: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(unescape(address)).query))


def link(shown: str, testid: str) -> str:
    (found,) = re.findall(rf'href="([^"]*)"[^>]*data-testid="{testid}"', shown)
    return str(found)


async def on_resources(workbench: Workbench, query: ResourcesQuery) -> Looked:
    today = now().astimezone().date()
    span = query.span(today)
    found = await workbench.usage.priced_days(query.usage(span))
    names = {row.group[0]: (row.group[0].title(), row.group[0]) for row in found.rows}
    return Looked(query, span, today, names, together(found.rows), found.rows, found.series, None)


async def test_the_overview_opens_the_runs_that_it_counts(workbench: Workbench) -> None:
    weeks = weeks_of(await workbench.usage.daily(UsageQuery(days=14, by=("purpose",))))
    shown = tiles(weeks, 0)
    assert weeks.this.runs.runs == runs_behind(workbench, link(shown, "overview-runs")) > 10
    assert weeks.this.runs.failed == runs_behind(workbench, link(shown, "overview-failures")) > 0
    drawn = runs_chart(weeks)
    for place, slot in enumerate(drawn.slots):
        assert drawn.stack(place) == runs_behind(workbench, slot.href)
    failed = drawn.series[1]
    assert sum(value or 0 for value in failed.values) == runs_behind(workbench, failed.href) > weeks.this.runs.failed


async def test_the_money_of_the_week_is_that_of_resources_and_other_runs_are_accounted_for(
    workbench: Workbench,
) -> None:
    weeks = weeks_of(await workbench.usage.daily(UsageQuery(days=14, by=("purpose",))))
    shown = tiles(weeks, 0)
    looked = await on_resources(workbench, ResourcesQuery.of_address(said_by(link(shown, "overview-money"))))
    assert looked.whole.figures == weeks.this.money
    behind = looked.whole.figures.runs - weeks.this.runs.runs
    assert f"also that of {behind} runs of experiments, judges and tries" in shown and behind > 10


@pytest.mark.parametrize("by", ["agent", "variant", "purpose", "background"])
async def test_resources_open_the_runs_that_they_count(workbench: Workbench, by: str) -> None:
    looked = await on_resources(workbench, ResourcesQuery.of_address({"by": by}))
    figures = looked.whole.figures
    assert figures.runs == runs_behind(workbench, link(tiles_view(looked), "resources-runs"))
    assert figures.unpriced_runs == runs_behind(workbench, link(unpriced_view(looked), "unpriced-runs")) > 10
    rows = LINK.findall(table_view(looked))
    assert [row.figures.runs for row in looked.rows] == [runs_behind(workbench, address) for address in rows]
    bars = chart(looked)
    by_day = [sum(one.runs if one else 0 for one in figures) for figures in days_of(looked)]
    assert by_day == [runs_behind(workbench, slot.href) for slot in bars.slots]


def days_of(looked: Looked) -> list[tuple[Figures | None, ...]]:
    return list(zip(*([figures for _, figures in one.days] for one in looked.series), strict=True))


@pytest.mark.parametrize("span", ["week", "month"])
async def test_monitoring_opens_the_runs_that_it_counts(workbench: Workbench, span) -> None:
    found = await seen(workbench, span)
    runs, *_ = charts = figure_charts(found)
    errors = charts[3]
    for drawn in (runs.series[1], *errors.series):
        assert sum(value or 0 for value in drawn.values) == runs_behind(workbench, drawn.href) > 0
    for place, slot in enumerate(runs.slots):
        assert runs.stack(place) == runs_behind(workbench, slot.href)
    over = "week" if span == "week" else "month"
    looked = await on_resources(workbench, ResourcesQuery.of_address({"over": over}))
    assert looked.whole.figures == sum((one for one in found.figures if one), Figures())


async def test_the_hours_lead_to_no_runs_from_before_their_days(workbench: Workbench) -> None:
    found: Seen = await seen(workbench, "day")
    failed = figure_charts(found)[0].series[1]
    counted = sum(value or 0 for value in failed.values)
    assert counted <= runs_behind(workbench, failed.href) < runs_behind(workbench, "/runs?status=failed&behind=1")
