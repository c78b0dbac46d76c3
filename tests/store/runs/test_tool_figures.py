"""Figures of tools over all runs."""

from datetime import timedelta
from pathlib import Path

import pytest

from app.domain.provenance import AgentRef, Trigger
from app.domain.trace import RunRow, ToolStats, ToolTally
from app.domain.values import now
from app.store.journal.database import JournalDB
from app.store.runs.rows import Rows

BEGAN = now()


def row(number: int, *tallies: ToolTally) -> RunRow:
    return RunRow(
        run_id=f"r{number}",
        session_id="s",
        agent=AgentRef(id="a", slug="a", name="A", variant=1),
        model="m",
        status="completed",
        request="?",
        purpose="chat",
        trigger=Trigger(kind="page"),
        started_at=BEGAN + timedelta(seconds=number),
        tools=tallies,
    )


@pytest.fixture
def database(tmp_path: Path) -> JournalDB:
    return JournalDB(tmp_path / "app.tdb")


async def test_figures_add_up_over_runs_and_are_the_same_after_a_restart(database: JournalDB, tmp_path: Path):
    rows = Rows(database)
    assert rows.tool_stats() == {}
    await rows.save(row(1, ToolTally(name="add", calls=3, failures=1, times={4: 3})))
    await rows.save(row(2, ToolTally(name="add", calls=2, times={40: 2}), ToolTally(name="see", calls=1, times={0: 1})))
    assert rows.tool_stats() == {
        "add": ToolStats(calls=5, failures=1, p50_ms=2.0, recent_runs=("r2", "r1")),
        "see": ToolStats(calls=1, failures=0, p50_ms=1.0, recent_runs=("r2",)),
    }
    again = Rows(JournalDB(tmp_path / "app.tdb"))
    await again.warm()
    assert again.tool_stats() == rows.tool_stats()


async def test_a_run_that_is_saved_again_counts_once(database: JournalDB):
    rows = Rows(database)
    await rows.save(row(1))
    for _ in range(2):
        await rows.save(row(1, ToolTally(name="add", calls=3, times={4: 3})))
    assert rows.tool_stats()["add"].calls == 3
    await rows.save(row(1, ToolTally(name="add", calls=1, times={8: 1})))
    assert rows.tool_stats() == {"add": ToolStats(calls=1, p50_ms=4.0, recent_runs=("r1",))}


async def test_a_row_from_before_there_were_tallies_counts_nothing(database: JournalDB, tmp_path: Path):
    old = row(1).model_dump(mode="json", exclude={"tools"})
    database.table("runs").insert({"id": "r1", "revision": 1, "started": 0.0, "text": "", "value": old})
    await database.journal.durable()
    rows = Rows(JournalDB(tmp_path / "app.tdb"))
    assert rows.tool_stats() == {} and rows.get("r1") == row(1)


async def test_a_tool_is_remembered_by_its_last_runs(database: JournalDB):
    rows = Rows(database)
    for number in (3, 1, 7, 2, 5, 6, 4):
        await rows.save(row(number, ToolTally(name="add", calls=1)))
    assert rows.tool_stats()["add"].recent_runs == ("r7", "r6", "r5", "r4", "r3")
