from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.domain.errors import NotFound
from app.domain.evals.scores import TAG, given
from app.domain.provenance import Trigger
from app.domain.sessions import Session
from app.domain.trace import run_row
from app.store.folder.folder import DataFolder
from app.store.runs.retention import RemovedRuns
from app.store.runs.search import Search
from tests.traces import the_sum


@dataclass
class Bench:
    data: DataFolder
    search: Search

    async def store(self, run_id: str) -> None:
        entries = [entry.model_copy(update={"run_id": run_id}) for entry in the_sum()]
        trace = await self.data.traces.create(run_id, "s1")
        for entry in entries:
            trace.append(entry)
        await trace.close()
        await self.data.rows.save(run_row(entries, alive=False))

    async def session(self, *runs: str) -> None:
        at = datetime(2026, 5, 1, tzinfo=UTC)
        made = Session(id="s1", agent_id="a", agent_slug="cook", variant=1, created_at=at, updated_at=at, runs=runs)
        await self.data.sessions.create(made)

    async def restarted(self) -> list[str]:
        """What is removed at the next start."""
        data = self.data
        return await RemovedRuns(data.rows, data.sessions, data.traces, self.search, data.scores).remove()


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    data = DataFolder.open(tmp_path)
    search = Search(tmp_path / "cache", data.rows, data.traces)
    yield Bench(data, search)
    await search.close()
    await data.close()


async def test_the_trace_and_the_texts_of_a_deleted_run_are_gone_after_the_next_start(bench: Bench):
    await bench.store("r1")
    await bench.store("r2")
    for run_id in ("r1", "r2"):
        await bench.data.scores.give(given(run_id, TAG, Trigger(kind="page"), label="sums"))
    await bench.search.ready()
    await bench.data.rows.delete(["r1"])
    assert await bench.restarted() == ["r1"]
    with pytest.raises(NotFound):
        await bench.data.traces.read("r1")
    assert (await bench.data.traces.read("r2")).entries
    assert await bench.search.matching("answer") == {"r2"}
    assert (bench.data.scores.of("r1"), bench.data.scores.marks("r2").tags) == ([], ("sums",))
    assert "What is 5 + 10" not in str(bench.data._database.table("runs").get(doc_id=1))
    assert bench.data.rows.cost_of_session("s1") == 3.0
    assert await bench.restarted() == []


async def test_what_is_deleted_now_can_be_brought_back(bench: Bench):
    await bench.store("r1")
    removed = RemovedRuns(bench.data.rows, bench.data.sessions, bench.data.traces, bench.search, bench.data.scores)
    await bench.data.rows.delete(["r1"])
    assert await removed.remove() == []
    await bench.data.rows.restore(["r1"])
    assert await bench.restarted() == []
    assert (await bench.data.traces.read("r1")).entries


async def test_a_turn_of_a_session_stays_until_the_session_is_deleted(bench: Bench):
    await bench.store("r1")
    await bench.session("r1")
    await bench.data.rows.delete(["r1"])
    assert await bench.restarted() == []
    await bench.data.sessions.delete("s1")
    assert await bench.restarted() == ["r1"]


def holding(folder: Path, words: bytes) -> list[str]:
    """The files in which they stand."""
    return [path.name for path in folder.rglob("*") if path.is_file() and words in path.read_bytes()]


async def test_nothing_of_what_was_said_is_left_once_the_session_and_its_runs_are_removed(bench: Bench, tmp_path: Path):
    await bench.store("r1")
    await bench.store("r2")
    await bench.session("r1", "r2")
    await bench.data.sessions.delete("s1")
    await bench.data.rows.delete(["r1"])
    assert await bench.restarted() == ["r1"]
    assert (await bench.data.traces.read("r2")).entries == [
        one.model_copy(update={"run_id": "r2"}) for one in the_sum()
    ]
    await bench.data.rows.delete(["r2"])
    trace = await bench.data.traces.create("r3", "s1")
    assert await bench.restarted() == ["r2"]
    assert holding(tmp_path / "sessions", b"What is 5 + 10") == ["s1.tdb"]  # a run is written to it
    await trace.close()
    assert await bench.restarted() == []
    await bench.data.close()
    assert holding(tmp_path / "sessions", b"What is 5 + 10") == holding(tmp_path / "runs", b"What is 5 + 10") == []


async def test_a_turn_that_was_replaced_goes(bench: Bench):
    await bench.store("r1")
    await bench.session("r2")
    await bench.data.rows.delete(["r1", "nobody"])
    assert await bench.restarted() == ["r1"]


async def test_what_was_kept_for_a_run_that_never_began_goes_with_its_session(bench: Bench, tmp_path: Path):
    trace = await bench.data.traces.create("r1", "s1")
    for entry in the_sum():
        trace.append(entry)
    await trace.abandon()
    await bench.session()
    words = b"What is 5 + 10"
    assert (holding(tmp_path / "runs", words), await bench.restarted()) == ([], [])
    assert holding(tmp_path / "sessions", words) == ["s1.tdb"]
    await bench.data.sessions.delete("s1")
    other = await bench.data.traces.create("r2", "s2")
    other.append(the_sum()[0])
    await other.close()
    assert (await bench.restarted(), holding(tmp_path / "sessions", words)) == ([], ["s1.tdb"])  # r2 may be lost
    await bench.data.traces.delete("r2")
    assert (await bench.restarted(), holding(tmp_path / "sessions", words)) == ([], [])
