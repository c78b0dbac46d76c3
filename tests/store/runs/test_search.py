import asyncio
import sqlite3
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.domain.errors import ErrorInfo
from app.domain.events import Entry, Forked, RunFinished
from app.domain.trace import RunFilter, run_row
from app.store.folder.folder import DataFolder
from app.store.runs.search import Search
from app.store.runs.search_index import SearchIndex
from app.store.runs.search_words import question
from tests.traces import ADD, MULTIPLY, asked, called, finished, ran, returned, said, started, the_sum, trace_of


@pytest.fixture
async def data(tmp_path: Path) -> AsyncIterator[DataFolder]:
    folder = DataFolder.open(tmp_path)
    yield folder
    await folder.close()


@pytest.fixture
async def search(data: DataFolder) -> AsyncIterator[Search]:
    made = searching(data)
    yield made
    await made.close()


def searching(data: DataFolder) -> Search:
    return Search(data.path / "cache", data.rows, data.traces)


async def store(data: DataFolder, entries: list[Entry]) -> list[Entry]:
    trace = await data.traces.create(entries[0].run_id, "s1")
    for entry in entries:
        trace.append(entry)
    await trace.close()
    await data.rows.save(run_row(entries, alive=False))
    return entries


async def store_saying(data: DataFolder, run_id: str, text: str) -> list[Entry]:
    return await store(data, trace_of(started(), asked("Go"), said(text), finished(), run_id=run_id))


def cache(data: DataFolder) -> Path:
    return data.path / "cache" / "search.sqlite3"


@pytest.mark.parametrize(
    "text",
    [
        "ANSWER",
        "answ",
        "is 45",
        '"the answer is"',
        "calculator",
        "multiply",
        "then product",
        "assistant demo",
        "15 = 5",
        "  sum   45  ",
        '"unfinished quote',
    ],
)
async def test_a_run_is_found_by_whatever_was_said_and_called_in_it(data: DataFolder, search: Search, text: str):
    await store(data, the_sum())
    if "quote" in text:
        await store_saying(data, "r1", "An unfinished quote")
    await search.ready()
    assert await search.matching(text) == {"r1"}


@pytest.mark.parametrize("text", ["answer potato", '"answer the is"', "nswer", '"answe"'])
async def test_all_words_must_be_there_and_phrases_as_they_stand(data: DataFolder, search: Search, text: str):
    await store(data, the_sum())
    await search.ready()
    assert not await search.matching(text)


@pytest.mark.parametrize(
    ("said_text", "wanted"),
    [
        ("今日は東京で会議があります", "京で会"),
        ("中文搜索", "文搜"),
        ("한국어 검색", "국어"),
        ("Die Köchin grüßt", "kochin"),
        ("Die Köchin grüßt", "GRÜSST"),
        ("data_transform__csv_to_json ran", "csv_to"),
        ("gpt-4o-mini", "gpt-4"),
        ("ПРИВЕТ мир", "привет"),
    ],
)
async def test_words_are_found_in_every_script(data: DataFolder, search: Search, said_text: str, wanted: str):
    await store_saying(data, "other", "nothing of that")
    await store_saying(data, "this", said_text)
    await search.ready()
    assert await search.matching(wanted) == {"this"}
    assert (await search.excerpts(["this"], wanted)).keys() == {"this"}


SIGNS = [
    '"',
    '""',
    "*",
    "^x",
    "(",
    "'",
    "\\",
    "-",
    "--",
    ";",
    "\0",
    "a\0b",
    "\ud800",
    "🙂",
    "%",
    "_",
    "+",
    '"a"b"',
    '"*"',
]
LANGUAGE = ["AND", "NOT x", "a OR", "text:", "{a b}:", "NEAR(a", "a* b*", "a + b", "x" * 5000, "word " * 3000]


@pytest.mark.parametrize("text", [*SIGNS, *LANGUAGE])
async def test_no_question_is_refused(data: DataFolder, search: Search, text: str):
    await store(data, the_sum())
    await search.ready()
    assert await search.matching(text) <= {"r1"}
    assert len(await search.excerpts(["r1", "nobody"], text)) <= 1


async def test_signs_alone_ask_nothing():
    assert question("!!! ... 🙂") == ""


async def test_errors_and_failed_tools_are_found(data: DataFolder, search: Search):
    error = ErrorInfo(failure="network", text="The provider closed the connection.")
    end = RunFinished(status="failed", error=error)
    await store(data, trace_of(started(), asked("Go"), *ran(ADD, "no such column", status="error"), end))
    await search.ready()
    assert await search.matching("closed connection column") == {"r1"}


async def test_only_what_a_fork_did_itself_is_found(data: DataFolder, search: Search):
    forked = Forked(run_id="origin", seq=2, prefix_digest="d")
    await store(data, trace_of(started(), asked("Old words"), said("copied"), forked, said("new words"), finished()))
    await search.ready()
    assert await search.matching("new words") == {"r1"}
    assert not await search.matching("copied")


async def test_an_excerpt_says_where_it_was_found(data: DataFolder, search: Search):
    await store(data, the_sum())
    await search.ready()
    found = (await search.excerpts(["r1"], "product"))["r1"]
    assert (found.place, found.before, found.hit, found.after) == ("Reasoning", "Then the ", "product", ".")
    assert the_sum()[found.seq].event == said("", MULTIPLY, reasoning="Then the product.")
    found = (await search.excerpts(["r1"], "45"))["r1"]
    assert (found.place, found.before, found.hit) == ("Result of calculator", "15 * 3 = ", "45")


async def test_the_request_is_named_only_where_nothing_else_says_it(data: DataFolder, search: Search):
    await store(data, the_sum())
    await search.ready()
    assert (await search.excerpts(["r1"], "multiply"))["r1"].place == "Call of calculator"
    assert (await search.excerpts(["r1"], "what"))["r1"].place == "Request"


async def test_a_long_excerpt_is_cut_on_both_sides(data: DataFolder, search: Search):
    await store_saying(data, "r1", "before " * 50 + "needle\n\n" + "after " * 50)
    await search.ready()
    found = (await search.excerpts(["r1"], "needle"))["r1"]
    assert found.before.startswith("…") and found.after.endswith("…")
    assert len(found.before + found.hit + found.after) < 200 and "\n" not in found.after


async def test_a_run_is_found_once_it_has_ended(data: DataFolder, search: Search):
    await search.ready()
    search.take("r1", await store(data, the_sum()))
    assert search.behind == 1
    await search.ready()
    assert await search.matching("answer") == {"r1"}


async def test_a_run_that_went_on_is_indexed_again_as_it_is_now(data: DataFolder, search: Search):
    begun = trace_of(started(), asked("Go"), said("first words"), called())
    await store(data, begun)
    await search.ready()
    assert await search.matching("first") == {"r1"}
    whole = trace_of(started(), asked("Go"), said("other words"), called(), returned(), finished())
    await data.rows.save(run_row(whole, alive=False))
    search.take("r1", whole)
    await search.ready()
    assert await search.matching("other") == {"r1"}
    assert not await search.matching("first")


async def test_what_ended_while_nobody_looked_is_indexed_at_the_next_start(data: DataFolder, search: Search):
    await store(data, the_sum())
    await search.ready()
    await search.close()
    await store_saying(data, "r2", "later words")
    again = searching(data)
    await again.ready()
    assert await again.matching("later") == {"r2"}
    assert await again.matching("answer") == {"r1"}
    await again.close()


async def test_forgotten_runs_are_not_found(data: DataFolder, search: Search):
    await store(data, the_sum())
    await store_saying(data, "r2", "The answer is 45 too")
    await search.ready()
    await search.forget(["r1", "nobody"])
    assert await search.matching("answer") == {"r2"}


def damage(path: Path) -> None:
    path.write_bytes(b"This is no database, it only stands where one was. " * 200)


def tear(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:1024] + b"\xff" * (len(whole) - 1024))


def make_foreign(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()


def make_stranger(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE runs (anything TEXT)")
    database.close()


@pytest.mark.parametrize("harm", [damage, tear, make_foreign, make_stranger, Path.unlink])
async def test_a_cache_that_cannot_be_used_is_made_again(data: DataFolder, search: Search, harm):
    await store(data, the_sum())
    await search.ready()
    await search.close()
    await asyncio.to_thread(harm, cache(data))
    again = searching(data)
    await again.ready()
    assert await again.matching("answer") == {"r1"}
    await again.close()


async def test_a_cache_that_is_damaged_while_it_is_used_is_made_again(data: DataFolder, search: Search):
    await store(data, the_sum())
    await search.ready()
    await asyncio.to_thread(damage, cache(data))
    await search.matching("answer")
    await search.ready()
    assert await search.matching("answer") == {"r1"}


async def test_texts_that_cannot_be_unpacked_are_indexed_again(data: DataFolder, search: Search):
    await store(data, the_sum())
    await search.ready()
    with sqlite3.connect(cache(data)) as database:
        database.execute("UPDATE texts SET body = x'00'")
    database.close()
    assert await search.excerpts(["r1"], "answer") == {}
    await search.matching("answer")
    await search.ready()
    assert (await search.excerpts(["r1"], "answer")).keys() == {"r1"}


async def test_without_a_place_for_the_cache_rows_are_searched_all_the_same(data: DataFolder, search: Search):
    (data.path / "cache").write_text("A file where the folder should be.")
    await store(data, the_sum())
    await search.ready()
    assert await search.matching("answer") == frozenset()
    assert data.rows.find(RunFilter(text="multiply")).total == 1


async def test_a_run_whose_trace_is_gone_or_damaged_hides_no_other(data: DataFolder, search: Search):
    for run_id in ("r1", "r2", "r3"):
        await store_saying(data, run_id, "The same words")
    await data.traces.delete("r1")
    path = data.path / "runs" / "r2.tdb"
    path.write_bytes(path.read_bytes()[:200])
    await search.ready()
    assert await search.matching("same words") == {"r3"}
    assert await search.matching("assistant") == {"r1", "r2", "r3"}


def test_threads_that_begin_a_new_cache_together_get_along(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    for attempt in range(10):
        index = SearchIndex(tmp_path / f"{attempt}" / "runs.db")
        (tmp_path / f"{attempt}").mkdir()
        with ThreadPoolExecutor(4) as threads:
            assert all(found == {} for found in threads.map(lambda one: one.stamps(), [index] * 4))
    assert not caplog.records
