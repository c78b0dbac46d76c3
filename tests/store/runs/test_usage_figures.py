"""Daily figures of all runs."""

import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from app.domain.errors import StorageError
from app.domain.provenance import AgentRef, Trigger
from app.domain.trace import ModelTally, RunFilter, RunRow, ToolTally
from app.domain.usage.days import local_midnight
from app.domain.usage.figures import NOTHING, Figures
from app.domain.usage.query import UsageQuery
from app.domain.values import now
from app.store.folder.folder import DataFolder
from app.store.journal.database import JournalDB
from app.store.runs.rows import Rows
from app.store.runs.usage import Usage
from tests.store.disks import TroubledDisk, full

BEGAN = datetime(2026, 11, 20, 12, tzinfo=UTC)
WEEK = UsageQuery(since=date(2026, 11, 18), until=date(2026, 11, 24))


def row(number: int, *models: ModelTally, day: int = 0, **changes: object) -> RunRow:
    return RunRow(
        run_id=f"r{number}",
        session_id="s",
        agent=AgentRef(id="a", slug="a", name="A", variant=1),
        model="openai/small",
        status="completed",
        request="?",
        purpose="chat",
        trigger=Trigger(kind="page"),
        started_at=BEGAN + timedelta(days=day),
        duration_ms=2000,
        models=models,
    ).model_copy(update=changes)


def asked(model: str = "openai/small", **changes: object) -> ModelTally:
    tally = ModelTally(model=model, provider="openai", calls=2, input_tokens=100, output_tokens=10, cost=5)
    return tally.model_copy(update=changes)


@pytest.fixture
def database(tmp_path: Path) -> JournalDB:
    return JournalDB(tmp_path / "app.tdb")


def usage_of(rows: Rows) -> Usage:
    return Usage(rows.usage_figures, rows.settle_usage)


async def test_figures_add_up_by_whatever_they_are_asked_by(database: JournalDB):
    rows = Rows(database)
    usage = usage_of(rows)
    await rows.save(
        row(1, asked(), asked("openai/large", cost=70), tools=(ToolTally(name="add", calls=3, failures=1),))
    )
    await rows.save(row(2, asked(), day=1, status="failed", failure="network", background=True))
    found = await usage.rows(WEEK.model_copy(update={"by": ("model",)}))
    assert [(one.group, one.figures.cost, one.figures.calls, one.figures.runs) for one in found] == [
        (("openai/large",), 70, 2, 0),
        (("openai/small",), 10, 4, 2),
    ]
    sums = await usage.totals(WEEK)
    assert (sums.runs, sums.failed, sums.failures, sums.cost, sums.tool_calls) == (2, 1, {"network": 1}, 80, 3)
    only = await usage.totals(WEEK.model_copy(update={"where": {"background": ("true",)}}))
    assert (only.runs, only.cost) == (1, 5)
    by_tool = await usage.rows(WEEK.model_copy(update={"by": ("tool",)}))
    assert [(one.group, one.figures) for one in by_tool] == [(("add",), Figures(tool_calls=3, tool_failures=1))]


async def test_a_day_without_runs_is_nought_and_one_before_the_first_is_unknown(database: JournalDB):
    rows = Rows(database)
    usage = usage_of(rows)
    await rows.save(row(1, asked()))
    await rows.save(row(2, asked(), day=2))
    (series,) = await usage.daily(WEEK)
    assert [None if figures is None else figures.runs for _, figures in series.days] == [None, None, 1, 0, 1, 0, 0]


async def test_a_run_that_is_saved_again_counts_once(database: JournalDB, tmp_path: Path):
    rows = Rows(database)
    usage = usage_of(rows)
    await rows.save(row(1, status="running", duration_ms=None))
    await rows.save(row(1, asked(unpriced=1), unpriced=True))
    sums = await usage.totals(WEEK)
    assert (sums.runs, sums.calls, sums.unpriced, sums.unpriced_runs, sums.endings) == (1, 2, 1, 1, {"completed": 1})
    again = usage_of(Rows(JournalDB(tmp_path / "app.tdb")))
    await again.ready()
    assert await again.totals(WEEK) == sums


async def test_a_run_that_began_anew_another_day_leaves_its_figures_nowhere(database: JournalDB, tmp_path: Path):
    rows = Rows(database)
    await rows.save(row(1, asked(cost=70)))
    rows.usage_figures.keep()
    await rows.save(row(2, asked()))  # in its place: as many runs and as many changes of them as were stored
    await rows.save(row(1, asked(cost=70), day=1))
    rows.usage_figures.keep()
    again = usage_of(Rows(JournalDB(tmp_path / "app.tdb")))
    await again.ready()
    sums = [await again.totals(UsageQuery(since=day, until=day)) for day in (date(2026, 11, 20), date(2026, 11, 21))]
    assert [(one.runs, one.cost) for one in sums] == [(1, 5), (1, 70)]


async def test_a_deleted_run_still_costs_and_an_imported_one_never_did(database: JournalDB):
    rows = Rows(database)
    usage = usage_of(rows)
    await rows.save(row(1, asked(), imported=True))
    assert await usage.totals(WEEK) == NOTHING
    await rows.save(row(2, asked()))
    await rows.delete(["r2"])
    assert (await usage.totals(WEEK)).cost == 5


async def test_a_row_from_before_there_were_tallies_counts_what_it_says(database: JournalDB, tmp_path: Path):
    whole = row(1).model_copy(update={"cost": 0.25, "model_calls": 3, "input_tokens": 7, "output_tokens": 2})
    old = whole.model_dump(mode="json", exclude={"models", "tools"})
    database.table("runs").insert({"id": "r1", "revision": 1, "started": BEGAN.timestamp(), "text": "", "value": old})
    await database.journal.durable()
    usage = usage_of(Rows(JournalDB(tmp_path / "app.tdb")))
    await usage.ready()
    sums = await usage.totals(WEEK)
    assert (sums.dollars, sums.calls, sums.input_tokens, sums.output_tokens, sums.runs) == (0.25, 3, 7, 2, 1)


async def test_the_figures_of_today_are_what_the_ceiling_of_the_day_counts(database: JournalDB):
    rows = Rows(database)
    begins = local_midnight(now())
    for number, seconds in enumerate((-7200, -1, 0, 1, 60)):
        cost = 0.1 * 3**number
        own = row(number, asked(cost=round(cost * 10**9)), cost=cost, imported=number == 4)
        await rows.save(own.model_copy(update={"started_at": begins + timedelta(seconds=seconds)}))
    today = await usage_of(rows).totals(UsageQuery(days=1))
    assert today.dollars == pytest.approx(0.9 + 2.7)
    assert today.dollars == pytest.approx(rows.cost_since(begins), abs=1e-9)


async def test_stored_figures_are_read_without_any_row(tmp_path: Path):
    path = tmp_path / "app.tdb"
    rows = Rows(JournalDB(path))
    await rows.save(row(1, asked()))
    rows.usage_figures.keep()
    again = Rows(journal := JournalDB(path))
    assert (await usage_of(again).totals(WEEK)).cost == 5
    assert journal.journal.payloads("runs"), "the rows were parsed"
    assert not again.usage_figures.settled


async def test_days_that_are_stored_are_added_up_once_and_again_where_one_of_them_changed(tmp_path: Path):
    rows = Rows(JournalDB(tmp_path / "app.tdb"))
    for number in range(4):
        await rows.save(row(number, asked(), day=number // 2))
    rows.usage_figures.keep()
    rows = Rows(JournalDB(tmp_path / "app.tdb"))
    usage = usage_of(rows)
    ((key, first),) = await usage.ever()
    assert (key.day, first.runs, first.cost) == ("", 4, 20)
    ((_, second),) = await usage.ever()
    assert second is first
    await rows.save(row(4, asked(), day=3))
    await rows.save(row(5, asked(), day=0))
    assert [(figures.runs, figures.cost) for _, figures in await usage.ever()] == [(6, 30)]
    rows.usage_figures.keep()
    assert [(figures.runs, figures.cost) for _, figures in await usage.ever()] == [(6, 30)]
    await usage.ready()
    await rows.settle_usage(anew=True)
    assert [(figures.runs, figures.cost) for _, figures in await usage.ever()] == [(6, 30)]


async def test_days_that_a_full_disk_did_not_take_still_count(tmp_path: Path):
    before = Rows(JournalDB(tmp_path / "app.tdb"))
    for number in range(3):
        await before.save(row(number, asked(), day=number))  # and its app is killed
    disk = TroubledDisk("write", times=0, error=full)
    data = DataFolder.open(tmp_path, disk=disk)
    disk.first, disk.times = disk.calls + 1, 1000
    usage = usage_of(data.rows)
    await usage.ready()
    with pytest.raises(StorageError):
        await data.rows.save(row(3, asked(), day=1))
    assert (await usage.totals(WEEK)).runs == 3
    disk.heal()
    await data.rows.save(row(3, asked(), day=1))
    assert (await usage.totals(WEEK)).runs == 4
    await data.close()
    assert (await usage_of(Rows(JournalDB(tmp_path / "app.tdb"))).totals(WEEK)).runs == 4


async def test_days_that_began_at_another_time_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "app.tdb"
    rows = Rows(JournalDB(path))
    await rows.save(row(1, asked(), started_at=datetime(2026, 11, 20, 3, tzinfo=UTC)))
    rows.usage_figures.keep()
    monkeypatch.setenv("TZ", "America/Los_Angeles")
    time.tzset()
    try:
        usage = usage_of(Rows(JournalDB(path)))
        await usage.ready()
        (one,) = await usage.rows(WEEK.model_copy(update={"by": ("day",)}))
        assert (one.group, one.figures.cost) == (("2026-11-19",), 5)
    finally:
        monkeypatch.undo()
        time.tzset()


async def test_what_is_not_stored_as_it_goes_without_saying_is_found_all_the_same(database: JournalDB, tmp_path: Path):
    await Rows(database).save(free := row(1, asked(cost=0)))
    await Rows(database).save(row(2, asked(), cost=2.0, failure="network", status="failed"))
    (stored,) = (one for one in database.journal.table("runs").values() if one["id"] == "r1")
    assert isinstance(value := stored["value"], dict)
    assert not {"cost", "failure", "background"} & value.keys()
    again = Rows(JournalDB(tmp_path / "app.tdb"))
    assert again.find(RunFilter(max_cost=1)).rows == [free]
    assert again.find(RunFilter(min_cost=0)).total == 2
    assert [one.run_id for one in again.find(RunFilter(), sort="cost").rows] == ["r2", "r1"]
