"""What a journal survives: cuts, flipped bits, a disk that refuses, and its own compaction."""

import asyncio
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from app.domain.errors import StorageError
from app.store.journal.database import JournalDB
from app.store.journal.disk import Disk
from app.store.journal.frames import framed
from app.store.journal.journal import SPARE_BYTES, SPARE_CHANGES
from app.store.journal.writer import Writer
from tests.store.disks import CALLS, ShortDisk, TroubledDisk, broken, full

Contents = dict[str, dict[int, dict[str, object]]]


def contents(database: JournalDB) -> Contents:
    names = sorted(database.journal.names())
    return {name: {doc_id: dict(doc) for doc_id, doc in database.journal.table(name).items()} for name in names}


def history(path: Path, changes: int) -> list[tuple[int, Contents]]:
    """A journal of that many lines; for each, where it ends and what the tables held then."""
    database = JournalDB(path)
    chance = random.Random(5)
    states: list[tuple[int, Contents]] = [(0, {})]
    while len(states) <= changes:
        table = database.table(chance.choice(("agents", "runs")))
        known = [doc.doc_id for doc in table]
        if known and chance.random() < 0.15:
            table.remove(doc_ids=[chance.choice(known)])
        elif known and chance.random() < 0.4:
            table.update({"n": len(states), "text": "é" * chance.randrange(9)}, doc_ids=[chance.choice(known)])
        else:
            table.insert_multiple([{"n": len(states)}] * chance.randrange(1, 3))
        states.append((path.stat().st_size, contents(database)))
    database.close()
    return states


def test_every_truncation_gives_the_state_after_its_last_whole_line(tmp_path: Path):
    path = tmp_path / "whole.tdb"
    states = history(path, 40)
    whole, cut = path.read_bytes(), tmp_path / "cut.tdb"
    at = 0
    for length in range(len(whole) + 1):
        # A line that lacks nothing but its line end is there.
        while at + 1 < len(states) and states[at + 1][0] - 1 <= length:
            at += 1
        cut.write_bytes(whole[:length])
        database = JournalDB(cut)
        assert contents(database) == states[at][1], f"cut at byte {length}"
        assert database.journal.damaged == ()
        database.close()


@pytest.mark.parametrize("step", [1, 7, 40])
def test_a_journal_that_was_cut_is_written_on(tmp_path: Path, step: int):
    path = tmp_path / "whole.tdb"
    history(path, 20)
    whole = path.read_bytes()
    for length in range(0, len(whole), step * 13):
        path.write_bytes(whole[:length])
        database = JournalDB(path)
        before = contents(database)
        database.table("new").insert({"after": "the cut"})
        database.close()
        reopened = JournalDB(path)
        assert contents(reopened) == {**before, "new": {1: {"after": "the cut"}}}
        assert reopened.journal.damaged == ()


def test_flipped_bits_are_told_or_change_nothing(tmp_path: Path):
    path = tmp_path / "x.tdb"
    database = JournalDB(path)
    for number in range(200):
        database.insert({"number": number, "text": f"document {number}"})
    database.close()
    whole, expected = path.read_bytes(), contents(JournalDB(path))["_default"]
    chance = random.Random(11)
    for _ in range(500):
        bit = chance.randrange(len(whole) * 8)
        spoiled = bytearray(whole)
        spoiled[bit // 8] ^= 1 << bit % 8
        path.write_bytes(spoiled)
        journal = JournalDB(path).journal
        found = journal.table("_default")
        lost = {doc_id for doc_id in expected if doc_id not in found}
        assert all(found[doc_id] == expected[doc_id] for doc_id in found), f"bit {bit} changed a document"
        assert not lost or journal.damaged, f"bit {bit} lost {lost} without a word"
        assert len(lost) <= 2, f"bit {bit} took {lost} with it"


def test_several_flipped_bits_are_told_too(tmp_path: Path):
    path = tmp_path / "x.tdb"
    states = history(path, 60)
    whole, chance = path.read_bytes(), random.Random(3)
    for _ in range(100):
        spoiled = bytearray(whole)
        for _ in range(chance.randrange(2, 40)):
            spoiled[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        path.write_bytes(spoiled)
        database = JournalDB(path)
        assert contents(database) == states[-1][1] or database.journal.damaged


def test_a_short_write_is_gone_on_with(tmp_path: Path):
    database = JournalDB(tmp_path / "x.tdb", disk=ShortDisk())
    database.insert({"text": "longer than seven bytes"})
    assert contents(JournalDB(tmp_path / "x.tdb")) == contents(database)


Change = Callable[[JournalDB], object]


def many_documents(database: JournalDB) -> object:
    return database.insert_multiple([{"n": number} for number in range(20)])


def together(database: JournalDB) -> None:
    with database.journal.together():
        database.insert({"n": 8})
        database.table("other").insert({"n": 9})
        database.update({"n": 7}, doc_ids=[1])


CHANGES: dict[str, Change] = {
    "insert": lambda database: database.insert({"n": 3}),
    "insert many": many_documents,
    "update": lambda database: database.update({"n": 4}),
    "remove": lambda database: database.remove(doc_ids=[1]),
    "drop": lambda database: database.drop_tables(),
    "together": together,
    "compact": lambda database: database.journal.compact(),
}


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("error", [broken, full])
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_that_fails_at_any_call_leaves_what_was(
    tmp_path: Path, name: str, error: Callable[[], OSError], half: bool, fresh: bool
):
    for first in range(1, 40):
        path = tmp_path / f"{first}.tdb"
        disk = TroubledDisk(*CALLS, first=10**9, error=error, half=half)
        database = JournalDB(path, disk=disk)
        database.insert_multiple([{"n": 1}, {"n": 2}])
        if fresh:
            database.close()
            database = JournalDB(path, disk=disk)
        before = contents(database)
        disk.calls, disk.first = 0, first
        failed = _fails(lambda database=database: CHANGES[name](database))
        if disk.got_through:
            assert not failed
            return
        if failed:
            assert contents(database) == before
        after = contents(database)
        assert contents(JournalDB(path)) in (before, after)
        database.table("later").insert({"n": 5})
        assert contents(database) == {**after, "later": {1: {"n": 5}}}
        reopened = JournalDB(path)
        assert contents(reopened) == contents(database)
        assert reopened.journal.damaged == ()
        assert not list(tmp_path.glob("*.tmp"))
    pytest.fail("The change never got through")


def _fails(change: Callable[[], object]) -> bool:
    try:
        change()
    except StorageError as error:
        assert "disk" in str(error)
        return True
    return False


def test_the_disk_may_fail_again_while_the_journal_is_cut_back(tmp_path: Path):
    disk = TroubledDisk("write", "truncate", first=2, times=3, half=True)
    database = JournalDB(tmp_path / "x.tdb", disk=disk)
    database.insert({"n": 1})
    for _ in range(3):
        with pytest.raises(StorageError):
            database.insert({"n": 2})
        if disk.calls >= 4:
            break
    database.insert({"n": 3})
    assert [dict(doc) for doc in JournalDB(tmp_path / "x.tdb")] == [{"n": 1}, {"n": 3}]


def test_a_file_that_somebody_cut_is_not_filled_with_zeros(tmp_path: Path):
    path = tmp_path / "x.tdb"
    database = JournalDB(path)
    database.insert({"n": 1})
    database.close()
    path.write_bytes(b"")
    with pytest.raises(StorageError, match="cut short or removed"):
        database.insert({"n": 2})
    assert path.read_bytes() == b""


def test_compaction_keeps_all_that_is_so_and_what_was_damaged(tmp_path: Path):
    path = tmp_path / "x.tdb"
    states = history(path, 40)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:40], b"00000000 not what was written\n", *lines[40:]]))
    database = JournalDB(path)
    assert contents(database) == states[-1][1]
    assert len(database.journal.damaged) == 1
    database.journal.compact()
    database.insert({"n": "after"})
    reopened = JournalDB(path)
    assert contents(reopened) == contents(database)
    assert reopened.journal.damaged == ()
    assert b"not what was written" in (tmp_path / "x.tdb.damaged").read_bytes()


def test_beside_a_rewritten_journal_stands_only_what_could_not_be_read(tmp_path: Path):
    path, aside = tmp_path / "x.tdb", tmp_path / "x.tdb.damaged"
    database = JournalDB(path)
    database.insert({"said": "in clear"})
    database.update({"said": "no more"})
    database.close()
    unread = b"00000000 not what was written\n" + framed(b"[7,8,9]")
    aside.write_bytes(path.read_bytes() + b"00000000 of an earlier time\n")
    path.write_bytes(path.read_bytes() + unread)
    database = JournalDB(path, disk=TroubledDisk("replace", first=2))
    with pytest.raises(StorageError):
        database.journal.compact()
    database.journal.compact()
    assert aside.read_bytes() == b"00000000 of an earlier time\n" + unread
    assert b"in clear" not in path.read_bytes()
    assert contents(JournalDB(path)) == {"_default": {1: {"said": "no more"}}}


PASTS: dict[str, Change] = {
    "update": lambda database: database.update({"n": 2}),
    "remove": lambda database: database.remove(doc_ids=[1]),
    "drop": lambda database: database.drop_tables(),
    "write": lambda database: database.journal.write({"_default": {"1": {"n": 2}}}),
}


@pytest.mark.parametrize("change", PASTS.values(), ids=PASTS)
def test_a_journal_knows_what_was_before_until_it_is_rewritten(tmp_path: Path, change: Change):
    database = JournalDB(tmp_path / "x.tdb")
    database.insert({"n": 1})
    assert not database.journal.has_past("_default")
    assert not JournalDB(tmp_path / "x.tdb").journal.has_past("_default")
    change(database)
    assert database.journal.has_past("_default")
    reopened = JournalDB(tmp_path / "x.tdb")
    assert reopened.journal.has_past("_default")
    reopened.journal.compact()
    assert not reopened.journal.has_past("_default")
    assert not JournalDB(tmp_path / "x.tdb").journal.has_past("_default")


def test_a_journal_compacts_itself_when_most_of_it_is_no_longer_so(tmp_path: Path):
    database = JournalDB(tmp_path / "x.tdb", disk=_NoSync())
    database.insert({"n": 0})
    for number in range(SPARE_CHANGES * 2):
        database.update({"n": number}, doc_ids=[1])
    assert len((tmp_path / "x.tdb").read_bytes().splitlines()) <= SPARE_CHANGES + 10
    assert [dict(doc) for doc in JournalDB(tmp_path / "x.tdb")] == [{"n": SPARE_CHANGES * 2 - 1}]


def test_a_journal_of_large_documents_takes_about_their_size(tmp_path: Path):
    database = JournalDB(tmp_path / "x.tdb", disk=_NoSync())
    database.insert({"text": "x" * 10_000})
    for number in range(SPARE_CHANGES // 2):
        database.update({"n": number}, doc_ids=[1])
    assert (tmp_path / "x.tdb").stat().st_size <= SPARE_BYTES + 3 * 10_100
    reopened = JournalDB(tmp_path / "x.tdb", disk=_NoSync())
    assert contents(reopened) == contents(database)
    for number in range(SPARE_CHANGES // 2):  # what was in the file counts as well
        reopened.update({"n": -number}, doc_ids=[1])
        assert (tmp_path / "x.tdb").stat().st_size <= SPARE_BYTES + 3 * 10_100


def test_one_large_document_among_many_small_ones_takes_about_its_size(tmp_path: Path):
    database = JournalDB(tmp_path / "x.tdb", disk=_NoSync())
    database.insert_multiple({"n": number} for number in range(300))
    database.update({"text": "x" * 10_000}, doc_ids=[1])
    for _ in range(2):
        for number in range(100):
            database.update({"n": number}, doc_ids=[1])
            assert (tmp_path / "x.tdb").stat().st_size <= SPARE_BYTES + 5 * 10_100
        database = JournalDB(tmp_path / "x.tdb", disk=_NoSync())  # what is in the file counts as well


async def test_a_large_document_takes_about_its_size_while_nobody_asks_for_another_table(tmp_path: Path):
    database = JournalDB(tmp_path / "x.tdb", disk=_NoSync())
    database.table("other").insert({"said": "aside"})
    database.insert({"text": "x" * 10_000})
    writer = Writer()
    database = JournalDB(tmp_path / "x.tdb", disk=_NoSync(), writer=writer)
    for number in range(100):
        database.update({"n": number}, doc_ids=[1])
        await database.journal.durable()
    writer.close()
    assert (tmp_path / "x.tdb").stat().st_size <= SPARE_BYTES + 5 * 10_100
    assert contents(JournalDB(tmp_path / "x.tdb"))["other"] == {1: {"said": "aside"}}


def test_large_documents_are_not_rewritten_for_changes_of_small_ones(tmp_path: Path):
    """As long as those take less than what stays."""
    database = JournalDB(tmp_path / "x.tdb", disk=_NoSync())
    for number in range(100):
        database.table("large").insert({"text": "x" * 10_000, "n": number})
    before = (tmp_path / "x.tdb").read_bytes()
    database.table("small").insert({"text": "y" * 100})
    for number in range(SPARE_CHANGES // 2):
        database.table("small").update({"n": number}, doc_ids=[1])
    assert (tmp_path / "x.tdb").read_bytes().startswith(before)


async def test_an_owner_that_ends_leaves_what_is_so_alone(tmp_path: Path):
    writer = Writer()
    database = JournalDB(tmp_path / "x.tdb", writer=writer)
    database.insert({"text": "x" * 1_000})
    for number in range(50):
        database.update({"n": number}, doc_ids=[1])
    await database.journal.durable()
    await database.journal.tidy()
    writer.close()
    assert (tmp_path / "x.tdb").stat().st_size < 1_200
    assert contents(JournalDB(tmp_path / "x.tdb")) == contents(database)


async def test_who_only_looks_leaves_the_file_as_it_is(tmp_path: Path):
    database = JournalDB(tmp_path / "x.tdb")
    database.insert({"n": 0})
    for number in range(50):
        database.update({"n": number}, doc_ids=[1])
    before = (tmp_path / "x.tdb").read_bytes()
    writer = Writer()
    looking = JournalDB(tmp_path / "x.tdb", writer=writer)
    assert contents(looking) == contents(database)
    await looking.journal.tidy()
    writer.close()
    assert (tmp_path / "x.tdb").read_bytes() == before


class _NoSync(Disk):
    """For tests of many changes that are not about durability."""

    def sync(self, descriptor: int) -> None:
        pass


async def test_with_a_writer_a_change_is_there_at_once_and_durable_when_awaited(tmp_path: Path):
    writer = Writer()
    database = JournalDB(tmp_path / "x.tdb", writer=writer)
    for number in range(50):
        database.insert({"n": number})
    assert len(database) == 50
    await database.journal.durable()
    assert contents(JournalDB(tmp_path / "x.tdb")) == contents(database)
    writer.close()


@pytest.mark.parametrize("kind", ["open", "write", "sync", "sync_folder"])
async def test_with_a_writer_a_change_that_fails_is_taken_back(tmp_path: Path, kind: str):
    disk = TroubledDisk(kind, first=10**9, times=10**9, error=full)
    writer = Writer()
    database = JournalDB(tmp_path / "x.tdb", disk=disk, writer=writer)
    if kind in {"write", "sync"}:
        database.insert({"n": 1})
        await database.journal.durable()
    before = contents(database)
    disk.first, disk.calls = 1, 0
    database.insert({"n": 2})
    database.table("other").insert({"n": 3})
    if before:
        database.update({"n": 4}, doc_ids=[1])
    waiting = [asyncio.create_task(database.journal.durable()) for _ in range(3)]
    errors = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(error, StorageError) and "no room" in str(error) for error in errors)
    assert contents(database) == before
    disk.heal()
    database.insert({"n": 5})
    await database.journal.durable()
    assert {"n": 5} in [dict(doc) for doc in database]
    assert contents(JournalDB(tmp_path / "x.tdb")) == contents(database)
    writer.close()


async def test_a_change_of_all_tables_that_fails_is_taken_back_as_a_whole(tmp_path: Path):
    disk, writer = TroubledDisk("sync", first=2), Writer()
    database = JournalDB(tmp_path / "x.tdb", disk=disk, writer=writer)
    database.insert({"n": 1})
    await database.journal.durable()
    before = contents(database)
    database.journal.write({"_default": {"1": {"n": 2}, "5": {"n": 3}}, "new": {"1": {"n": 4}}})
    with pytest.raises(StorageError):
        await database.journal.durable()
    assert contents(database) == before
    writer.close()


async def test_what_is_changed_together_is_one_write_and_is_there_at_once(tmp_path: Path):
    disk, writer = TroubledDisk("write", first=10**9), Writer()
    database = JournalDB(tmp_path / "x.tdb", disk=disk, writer=writer)
    with database.journal.together():
        database.insert({"n": 1})
        assert writer.backlog == 0  # its thread could write the one without the other
        database.table("other").insert({"n": 2})
        database.update({"n": 3}, doc_ids=[1])
    made = {"_default": {1: {"n": 3}}, "other": {1: {"n": 2}}}
    assert contents(database) == made
    await database.journal.durable()
    assert (disk.calls, contents(JournalDB(tmp_path / "x.tdb"))) == (1, made)
    writer.close()


async def test_what_is_changed_together_and_fails_is_taken_back_as_a_whole(tmp_path: Path):
    disk, writer = TroubledDisk("write", first=2), Writer()
    database = JournalDB(tmp_path / "x.tdb", disk=disk, writer=writer)
    database.insert_multiple([{"n": 1}, {"n": 2}])
    await database.journal.durable()
    before = contents(database)
    together(database)
    with pytest.raises(StorageError):
        await database.journal.durable()
    assert contents(database) == before
    with pytest.raises(ZeroDivisionError), database.journal.together():
        database.update({"n": 5}, doc_ids=[1])
        database.insert({"n": 1 / 0})
    assert contents(database) == before
    together(database)
    await database.journal.durable()
    assert contents(JournalDB(tmp_path / "x.tdb")) == contents(database) != before
    writer.close()


async def test_a_change_on_top_of_one_that_failed_fails_with_it(tmp_path: Path):
    disk = TroubledDisk("sync", first=2, times=1)
    writer = Writer()
    database = JournalDB(tmp_path / "x.tdb", disk=disk, writer=writer)
    database.insert({"n": 1})
    await database.journal.durable()
    database.insert({"n": 2})
    with pytest.raises(StorageError):
        await database.journal.durable()
    database.insert({"n": 3})
    await database.journal.durable()
    assert [doc["n"] for doc in JournalDB(tmp_path / "x.tdb")] == [1, 3]
    writer.close()


async def test_compaction_by_the_writer_keeps_what_was_put_before_and_after(tmp_path: Path):
    writer = Writer()
    database = JournalDB(tmp_path / "x.tdb", writer=writer)
    for number in range(30):
        database.insert({"n": number})
        database.update({"n": -number}, doc_ids=[1])
        if number % 7 == 0:
            database.journal.compact()
    await database.journal.durable()
    assert contents(JournalDB(tmp_path / "x.tdb")) == contents(database)
    assert len((tmp_path / "x.tdb").read_bytes().splitlines()) < 50
    writer.close()


def test_a_table_that_was_dropped_is_gone_though_it_was_changed_with_another(tmp_path: Path):
    journal = JournalDB(tmp_path / "x.tdb").journal
    journal.commit([("runs", {1: {"n": 1}}), ("agents", {1: {"n": 1}})])
    journal.commit([("runs", None)])
    assert JournalDB(tmp_path / "x.tdb").journal.names() == journal.names() == ["agents"]


async def test_a_table_is_warmed_beside_the_event_loop(tmp_path: Path):
    writer = Writer()
    database = JournalDB(tmp_path / "x.tdb", writer=writer)
    database.table("runs").insert_multiple([{"n": number} for number in range(100)])
    await database.journal.durable()
    cold = JournalDB(tmp_path / "x.tdb", writer=writer)
    await asyncio.gather(cold.journal.warm("runs"), cold.journal.warm("runs"), cold.journal.warm("none"))
    assert contents(cold) == contents(database)
    writer.close()


async def test_whoever_warms_a_table_at_the_same_time_waits_for_one_parse(tmp_path: Path):
    """Two would take twice the memory: 400 MB more where 100,000 runs are stored."""
    writer = Writer()
    database = JournalDB(tmp_path / "x.tdb", writer=writer)
    database.table("runs").insert_multiple([{"n": number, "text": f"{number} " * 50} for number in range(3000)])
    await database.journal.durable()

    async def peak(askers: int) -> int:
        cold = JournalDB(tmp_path / "x.tdb", writer=writer)
        tracemalloc.start()
        await asyncio.gather(*(cold.journal.warm("runs") for _ in range(askers)))
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    assert await peak(2) < 1.3 * await peak(1)
    writer.close()
