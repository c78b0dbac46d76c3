import asyncio
import sys
from pathlib import Path

import pytest

from app.domain.errors import Conflict, NotFound, StorageError
from app.domain.values import Value
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents
from app.store.journal.frames import Document
from app.store.journal.writer import Writer
from tests.store.disks import TroubledDisk, full


class Note(Value):
    id: str
    text: str = ""
    size: int = 0


def notes(database: JournalDB) -> Documents[Note]:
    return Documents(database, "notes", Note, noun="note", marks=lambda note: {"length": len(note.text)})


async def test_a_value_is_there_after_a_restart_with_its_revision_and_marks(tmp_path: Path):
    kept = notes(JournalDB(tmp_path / "x.tdb"))
    await kept.create("a", Note(id="a", text="one"))
    await kept.change("a", lambda note: note.model_copy(update={"text": "three"}))
    again = notes(JournalDB(tmp_path / "x.tdb"))
    assert (again.get("a"), again.revision("a"), again.revision("b")) == (Note(id="a", text="three"), 2, 0)
    assert [document["length"] for document in again.documents()] == [5]


async def test_what_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(NotFound, match="There is no note 'z'"):
        notes(JournalDB(tmp_path / "x.tdb")).get("z")


async def test_a_key_is_given_once(tmp_path: Path):
    kept = notes(JournalDB(tmp_path / "x.tdb"))
    await kept.create("a", Note(id="a"))
    with pytest.raises(Conflict, match="There is a note 'a' already"):
        await kept.create("a", Note(id="a"))


async def test_a_change_from_an_old_revision_is_refused(tmp_path: Path):
    kept = notes(JournalDB(tmp_path / "x.tdb"))
    await kept.create("a", Note(id="a"))
    await kept.replace("a", Note(id="a", text="first"), expected_revision=1)
    with pytest.raises(Conflict, match=r"was changed meanwhile \(it is at revision 2, this change was made from 1"):
        await kept.replace("a", Note(id="a", text="second"), expected_revision=1)
    assert kept.get("a").text == "first"


async def test_changes_at_the_same_time_are_all_made(tmp_path: Path):
    writer = Writer()
    kept = notes(JournalDB(tmp_path / "x.tdb", writer=writer))
    await kept.create("a", Note(id="a"))
    add = [kept.change("a", lambda note: note.model_copy(update={"size": note.size + 1})) for _ in range(50)]
    await asyncio.gather(*add)
    writer.close()
    again = notes(JournalDB(tmp_path / "x.tdb"))
    assert (again.get("a").size, again.revision("a")) == (50, 51)


async def test_a_change_that_changes_nothing_is_not_stored(tmp_path: Path):
    kept = notes(JournalDB(tmp_path / "x.tdb"))
    await kept.create("a", Note(id="a"))
    await kept.change("a", lambda note: note)
    assert kept.revision("a") == 1


async def test_a_value_that_was_read_is_not_parsed_again(tmp_path: Path):
    kept = notes(JournalDB(tmp_path / "x.tdb"))
    await kept.create("a", Note(id="a"))
    again = notes(JournalDB(tmp_path / "x.tdb"))
    assert again.get("a") is again.get("a")


async def test_of_a_table_that_grows_only_those_stored_or_parsed_last_stay_parsed(tmp_path: Path):
    kept = notes(JournalDB(tmp_path / "x.tdb"))
    kept.most_parsed = 2
    first, second, third = [await kept.create(name, Note(id=name)) for name in "abc"]
    assert kept.get("b") is second and kept.get("c") is third
    again = kept.get("a")
    assert again == first and again is not first
    assert kept.get("c") is third and kept.get("b") is not second
    changed = await kept.save("a", Note(id="a", text="changed"))
    await kept.create("d", Note(id="d"))
    assert kept.get("a") is changed


async def test_what_could_not_be_stored_is_as_it_was(tmp_path: Path):
    disk, writer = TroubledDisk("sync", first=2, error=full), Writer()
    kept = notes(JournalDB(tmp_path / "x.tdb", disk=disk, writer=writer))
    await kept.create("a", Note(id="a", text="old"))
    outcomes = await asyncio.gather(
        kept.change("a", lambda note: note.model_copy(update={"text": "new"})),
        kept.create("b", Note(id="b")),
        return_exceptions=True,
    )
    assert all(isinstance(outcome, StorageError) for outcome in outcomes)
    assert (kept.get("a").text, kept.revision("a"), kept.stored("b")) == ("old", 1, None)
    await kept.create("b", Note(id="b", text="later"))
    writer.close()
    assert {note.id: note.text for note in notes(JournalDB(tmp_path / "x.tdb")).values()} == {"a": "old", "b": "later"}


async def test_what_could_not_be_removed_is_there_to_be_changed_and_removed(tmp_path: Path):
    disk, writer = TroubledDisk("sync", first=2, error=full), Writer()
    kept = notes(JournalDB(tmp_path / "x.tdb", disk=disk, writer=writer))
    await kept.create("a", Note(id="a", text="old"))
    with pytest.raises(StorageError):
        await kept.remove("a")
    assert kept.get("a").text == "old"
    await kept.save("a", Note(id="a", text="new"))
    assert [note.text for note in kept.values()] == ["new"]
    await kept.remove("a")
    writer.close()
    assert (list(kept.values()), list(notes(JournalDB(tmp_path / "x.tdb")).values())) == ([], [])


async def test_one_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path):
    database = JournalDB(tmp_path / "x.tdb")
    kept = notes(database)
    await kept.create("a", Note(id="a"))
    database.table("notes").insert({"id": "bad", "revision": 1, "value": {"size": "large"}})
    await kept.create("c", Note(id="c"))
    again = notes(JournalDB(tmp_path / "x.tdb"))
    assert [note.id for note in again.values()] == ["a", "c"]
    assert list(again.damaged) == ["bad"]
    with pytest.raises(StorageError, match="note 'bad' is stored in a form that cannot be read"):
        again.get("bad")


async def test_marks_of_several_are_set_as_one_change(tmp_path: Path):
    kept = notes(JournalDB(tmp_path / "x.tdb"))
    for key in ("a", "b", "c"):
        await kept.create(key, Note(id=key))
    lines = (tmp_path / "x.tdb").read_bytes().count(b"\n")
    await kept.mark(["a", "c", "none"], {"hidden": True})
    assert (tmp_path / "x.tdb").read_bytes().count(b"\n") == lines + 1
    await kept.save("a", Note(id="a", text="new"))
    assert [bool(document.get("hidden")) for document in kept.documents()] == [True, False, True]


class Places:
    """The document id of each key."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def put(self, position: int, document: Document) -> None:
        self.known[str(document["id"])] = position + 1

    def drop(self, position: int) -> None:
        del self.known[next(key for key, place in self.known.items() if place == position + 1)]


async def test_of_a_packed_table_each_is_removed_where_it_is_found(tmp_path: Path):
    database, places = JournalDB(tmp_path / "x.tdb"), Places()
    database.journal.pack("notes", lambda: places)
    kept = notes(database)
    kept.find_place = places.known.get
    for key in ("a", "b"):
        await kept.create(key, Note(id=key))
        await kept.remove(key)
        await kept.remove(key)
    assert not kept.documents() and not places.known


async def test_what_is_removed_is_gone_for_good_and_its_key_is_free(tmp_path: Path):
    kept = notes(JournalDB(tmp_path / "x.tdb"))
    await kept.create("a", Note(id="a", text="one"))
    await kept.create("b", Note(id="b", text="two"))
    await kept.remove("a")
    await kept.remove("nothere")
    assert [note.text for note in kept.values()] == ["two"]
    with pytest.raises(NotFound):
        kept.get("a")
    assert [note.text for note in notes(JournalDB(tmp_path / "x.tdb")).values()] == ["two"]
    await kept.create("a", Note(id="a", text="three"))
    assert (kept.get("a").text, kept.revision("a")) == ("three", 1)
    assert notes(JournalDB(tmp_path / "x.tdb")).get("a").text == "three"


async def test_values_are_parsed_in_threads_beside_each_other(tmp_path: Path):
    kept = notes(JournalDB(tmp_path / "x.tdb"))
    kept.most_parsed = 2
    for number in range(8):
        await kept.create(str(number), Note(id=str(number), text=str(number)))

    def read() -> int:
        return sum(int(kept.get(str(turn % 8)).text) for turn in range(4_000))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        read_there = await asyncio.gather(*(asyncio.to_thread(read) for _ in range(4)))
    finally:
        sys.setswitchinterval(interval)
    assert read_there == [14_000] * 4
