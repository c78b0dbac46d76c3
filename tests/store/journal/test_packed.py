"""A packed table is the dictionary that it stands for, however it changed, and its columns tell of it."""

import asyncio
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from app.domain.errors import StorageError
from app.store.journal.database import JournalDB
from app.store.journal.frames import Document
from app.store.journal.packed import Packed
from app.store.journal.writer import Writer
from tests.store.disks import TroubledDisk, full


class Numbers:
    """The number in each document."""

    def __init__(self) -> None:
        self.known: dict[int, object] = {}

    def put(self, position: int, document: Document) -> None:
        self.known[position] = document["n"]

    def drop(self, position: int) -> None:
        del self.known[position]


changes = some.lists(some.tuples(some.integers(-3, 40) | some.just(2**70), some.integers(0, 9) | some.none()))


@settings(deadline=None)
@given(changes, some.integers(1, 4))
def test_it_is_a_dictionary_with_columns(changed: list[tuple[int, int | None]], block: int):
    columns, wanted = Numbers(), dict[int, Document]()
    packed = Packed(columns, block)
    for doc_id, number in changed:
        for table in (packed, wanted):
            if number is None:
                table.pop(doc_id, None)
            else:
                table[doc_id] = {"n": number, "text": "é\n"}
        assert dict(packed) == wanted and len(packed) == len(wanted)
        assert columns.known == {packed.position(doc_id): one["n"] for doc_id, one in wanted.items()}
    then = packed.frozen()
    packed.clear()
    assert dict(then) == wanted and not packed and not columns.known


def test_who_reads_in_a_thread_meanwhile_finds_every_document():
    packed, wrong, done = Packed(Numbers()), list[object](), threading.Event()
    for number in range(1, 300):
        packed[number] = {"n": number}

    def read() -> None:
        while not done.is_set():
            wrong.extend(position for position in range(299) if packed.at(position)["n"] != position + 1)

    reader, interval = threading.Thread(target=read), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    reader.start()
    for again in range(8):
        for number in range(1, 300):
            packed[number] = {"n": number, "again": again}
    done.set()
    reader.join()
    sys.setswitchinterval(interval)
    assert not wrong


def filled(path: Path, count: int) -> bytes:
    database = JournalDB(path)
    database.table("agents").insert({"n": 0})
    database.table("runs").insert_multiple({"n": number} for number in range(2))
    for number in range(2, count):
        database.table("runs").insert({"n": number})
    database.table("runs").remove(doc_ids=[3])
    database.table("agents").insert({"n": 1})
    database.close()
    return path.read_bytes()


def told(documents: Sequence[Document]) -> list[object]:
    return [document["n"] for document in documents]


def test_a_table_that_is_read_later_is_read_as_it_was_written(tmp_path: Path):
    path = tmp_path / "app.tdb"
    filled(path, 300)
    database = JournalDB(path, later=("runs",))
    database.journal.pack("runs", Numbers)
    assert database.table("runs").insert({"n": 300}) == 301
    assert told(list(database.journal.table("runs").values())) == [0, 1, *range(3, 301)]
    assert told(list(database.journal.table("agents").values())) == [0, 1]
    database.journal.compact()
    again = JournalDB(path, later=("runs",)).journal
    assert dict(again.table("runs")) == dict(database.journal.table("runs"))
    assert again.damaged == ()


def test_damage_in_a_table_that_is_read_later_is_told_then(tmp_path: Path):
    path = tmp_path / "app.tdb"
    path.write_bytes(filled(path, 300).replace(b'"n":150', b'"n":151'))
    journal = JournalDB(path, later=("runs",)).journal
    assert journal.damaged == ()
    assert told(list(journal.table("runs").values())) == [0, 1, *range(3, 150), *range(151, 300)]
    assert len(journal.damaged) == 1 and "damaged" in journal.damaged[0]
    assert JournalDB(path).journal.damaged == journal.damaged


async def test_damage_is_told_once_though_the_loop_reads_what_a_thread_is_reading(tmp_path: Path):
    path = tmp_path / "app.tdb"
    path.write_bytes(filled(path, 300).replace(b'"n":150', b'"n":151'))
    journal = JournalDB(path, later=("runs",)).journal

    async def read() -> int:
        return len(journal.table("runs"))

    assert (await asyncio.gather(journal.warm("runs"), read()))[1] == 298
    assert len(journal.damaged) == 1


def test_nobody_misses_a_table_that_a_thread_is_the_first_to_read(tmp_path: Path):
    """What is saved meanwhile would take the place of its first document, on disk too."""
    path, reading, looked = tmp_path / "app.tdb", threading.Event(), threading.Event()
    filled(path, 1000)
    database = JournalDB(path, later=("runs",))

    def columns() -> Numbers:
        reading.set()
        looked.wait()
        return Numbers()

    database.journal.pack("runs", columns)
    reader = threading.Thread(target=lambda: database.journal.table("runs"))
    reader.start()
    reading.wait()
    looked.set()
    assert database.table("runs").insert({"n": 1000}) == 1001
    reader.join()
    for one in (database, JournalDB(path)):
        assert told(list(one.journal.table("runs").values())) == [0, 1, *range(3, 1001)]


@pytest.mark.parametrize("known", [0, 1])
async def test_what_is_taken_back_is_taken_out_of_the_columns(tmp_path: Path, known: int):
    disk, writer = TroubledDisk("write", first=known + 1, times=1, error=full), Writer()
    database = JournalDB(tmp_path / "app.tdb", disk=disk, writer=writer)
    database.journal.pack("runs", Numbers)
    for number in range(known):
        database.table("runs").insert({"n": number})
        await database.journal.durable()
    database.table("runs").upsert({"n": 7}, lambda _: True) if known else database.table("runs").insert({"n": 7})
    with pytest.raises(StorageError):
        await database.journal.durable()
    packed = database.journal.packed("runs")
    columns = packed.columns
    assert isinstance(columns, Numbers)
    assert told(list(packed.values())) == list(columns.known.values()) == list(range(known))
    await asyncio.to_thread(writer.close)
