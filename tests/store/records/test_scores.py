"""What people said of runs: looked up once, and anew after each change."""

import asyncio
import threading
from pathlib import Path

import pytest

from app.domain.errors import StorageError
from app.domain.evals.scores import RATING, TAG, given
from app.domain.provenance import Trigger
from app.domain.trace import RunFilter
from app.store.journal.database import JournalDB
from app.store.records.scores import Scores
from app.store.runs.rows import Rows
from tests.store.disks import TroubledDisk, full

PAGE = Trigger(kind="page")


def rated(run_id: str, value: float, by: Trigger = PAGE):
    return given(run_id, RATING, by, value=value)


async def test_what_was_said_of_a_run_is_put_together_again_only_after_a_change_of_it(tmp_path: Path):
    scores = Scores(JournalDB(tmp_path / "app.tdb"))
    for run_id in ("r1", "r2"):
        await scores.give(given(run_id, TAG, PAGE, label="odd"))
    assert (scores.tags(), scores.runs_with(RunFilter(tag="Odd"))) == (["odd"], {"r1", "r2"})
    first, second = scores.marks("r1"), scores.marks("r2")
    await scores.give(rated("r1", 1))
    assert scores.runs_with(RunFilter(rating="good")) == {"r1"}
    assert scores.marks("r1") != first
    assert scores.marks("r2") is second


async def test_scores_are_read_with_the_rows_before_a_page_asks_for_them(tmp_path: Path):
    await Scores(JournalDB(tmp_path / "app.tdb")).give(rated("r1", 1))
    database = JournalDB(tmp_path / "app.tdb")
    rows = Rows(database)
    assert database.journal.payloads("scores")
    await rows.warm()
    assert not database.journal.payloads("scores")


async def test_what_people_said_is_told_as_it_is_after_each_change(tmp_path: Path):
    scores = Scores(JournalDB(tmp_path / "app.tdb"))
    assert scores.marks("r1").rating is None
    first = await scores.give(rated("r1", 1))
    assert scores.marks("r1").rating == "good"
    other = await scores.give(rated("r1", 0))
    assert scores.marks("r1").rating == "bad"
    await scores.save(other.model_copy(update={"value": 1.0}))
    assert scores.marks("r1").rating == "good"
    await scores.delete(other.id)
    assert (scores.marks("r1").rating, scores.of("r1")) == (None, [])
    await scores.save(first)
    await scores.forget(["r1"])
    assert scores.marks("r1").rating is None


@pytest.mark.parametrize("change", ["give", "delete"])
async def test_what_the_disk_does_not_take_was_not_said(tmp_path: Path, change: str):
    disk = TroubledDisk("write", first=10**9, times=10**9, error=full)
    scores = Scores(JournalDB(tmp_path / "app.tdb", disk=disk))
    kept = await scores.give(rated("r1", 1))
    disk.first = disk.calls + 1
    changing = asyncio.create_task(
        scores.save(kept.model_copy(update={"value": 0.0})) if change == "give" else scores.delete(kept.id)
    )
    while not changing.done():
        scores.marks("r1")
        await asyncio.sleep(0)
    with pytest.raises(StorageError):
        await changing
    assert scores.marks("r1").rating == "good"


async def test_a_run_may_be_scored_while_those_with_a_tag_are_looked_for_in_a_thread(tmp_path: Path):
    scores = Scores(JournalDB(tmp_path / "app.tdb"))
    for run_id in ("r1", "r2"):
        await scores.give(given(run_id, TAG, PAGE, label="odd"))
    looking, let_go = threading.Event(), threading.Event()

    class Slow(str):
        def casefold(self) -> str:
            looking.set()
            let_go.wait(30)
            return super().casefold()

    wanted = RunFilter().model_copy(update={"tag": Slow("Odd")})
    found = asyncio.create_task(asyncio.to_thread(scores.runs_with, wanted))
    await asyncio.to_thread(looking.wait, 30)
    await scores.give(rated("r3", 1))
    let_go.set()
    assert await found == {"r1", "r2"}
