"""Figures of the last hours."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from app.domain.provenance import AgentRef
from app.domain.trace import ToolTally
from app.store.journal.database import JournalDB
from app.store.runs.recent_usage import RecentUsage
from app.store.runs.rows import Rows
from tests.store.runs.test_usage_figures import BEGAN, asked, row

MINUTE = timedelta(minutes=1)


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    return Rows(JournalDB(tmp_path / "app.tdb"))


async def test_runs_are_counted_in_the_step_in_which_they_began(rows: Rows) -> None:
    other = AgentRef(id="b", slug="b", name="B", variant=1)
    for number, minutes in enumerate((0, 2, 2, 3)):
        agent = {"agent": other} if number == 2 else {}
        await rows.save(row(number, asked(), started_at=BEGAN + minutes * MINUTE, **agent))
    steps = await RecentUsage(rows).steps(MINUTE, 3, until=BEGAN + 3.5 * MINUTE)
    assert [began for began, _ in steps] == [BEGAN + number * MINUTE for number in (1, 2, 3)]
    assert [None if one is None else (one.runs, one.calls) for _, one in steps] == [(0, 0), (2, 4), (1, 2)]


async def test_before_the_first_run_of_all_nothing_is_known(rows: Rows) -> None:
    usage = RecentUsage(rows)
    assert [figures for _, figures in await usage.steps(MINUTE, 2, until=BEGAN)] == [None, None]
    await rows.save(row(1, asked(), started_at=BEGAN + MINUTE))
    found = [figures for _, figures in await usage.steps(MINUTE, 3, until=BEGAN + 2 * MINUTE)]
    assert [figures if figures is None else figures.runs for figures in found] == [None, 1, 0]


async def test_deleted_runs_count_and_imported_ones_do_not(rows: Rows) -> None:
    await rows.save(row(1, asked(), started_at=BEGAN))
    await rows.save(row(2, asked(), started_at=BEGAN, imported=True))
    await rows.delete(["r1"])
    ((_, figures),) = await RecentUsage(rows).steps(MINUTE, 1, until=BEGAN)
    assert figures is not None
    assert figures.runs == 1


async def test_a_run_that_began_anew_is_counted_where_it_began_last(rows: Rows) -> None:
    for number in range(3):
        await rows.save(row(number, asked(), started_at=BEGAN + number * MINUTE))
    await rows.save(row(0, asked(), started_at=BEGAN + 3 * MINUTE))
    assert rows.first_begun() == BEGAN + MINUTE
    steps = await RecentUsage(rows).steps(MINUTE, 4, until=BEGAN + 3 * MINUTE)
    assert [None if one is None else one.runs for _, one in steps] == [None, 1, 1, 1]


async def test_a_run_that_is_saved_while_the_others_are_read_is_counted_once(rows: Rows, tmp_path: Path) -> None:
    for number in range(200):
        await rows.save(row(number, asked(), started_at=BEGAN))
    database = JournalDB(tmp_path / "app.tdb")
    cold = Rows(database)
    assert "runs" in database.journal.names()  # which are read by that, so that their figures come next
    tool = ToolTally(name="add", calls=1, times={0: 1})
    await asyncio.gather(cold.warm(), cold.save(row(200, asked(), started_at=BEGAN, tools=(tool,))))
    assert cold.tool_stats()["add"].calls == 1
    ((_, figures),) = await RecentUsage(cold).steps(MINUTE, 1, until=BEGAN)
    assert figures is not None and figures.runs == 201
