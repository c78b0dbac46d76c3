"""Our TinyDB against TinyDB's own, with the same random operations."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tinydb import TinyDB, operations, where
from tinydb.table import Document

from app.store.journal.database import JournalDB
from app.store.journal.writer import Writer

TABLES = ("_default", "agents", "läufe")


def document(chance: random.Random) -> dict[str, object]:
    values = (chance.randrange(5), chance.random(), True, None, "ä\n“x”", [1, {"deep": [chance.randrange(3)]}], (1, 2))
    return {"k": chance.randrange(4), "v": chance.choice(values), "n": {"a": chance.randrange(3)}}


def deepen(stored: dict[str, dict[str, int]]) -> None:
    stored["n"]["a"] = stored["n"].get("a", 0) + 1


def same_numbers_other_types(stored: dict[str, object]) -> None:
    stored["v"] = 1.0 if stored["v"] == 1 else 1


def random_operation(chance: random.Random) -> Callable[[TinyDB], object]:
    """An operation that does the same to every database it is given."""
    name, key, doc_id = chance.choice(TABLES), chance.randrange(4), chance.randrange(1, 12)
    new, several = document(chance), [document(chance) for _ in range(3)]
    given_id = chance.randrange(1, 60)
    choices: list[Callable[[TinyDB], object]] = [
        lambda db: db.table(name).insert(new),
        lambda db: db.table(name).insert(Document(new, given_id)),
        lambda db: db.table(name).insert_multiple(several),
        lambda db: db.table(name).insert_multiple([Document(new, given_id), *several]),
        lambda db: db.table(name).update({"v": new["v"]}, where("k") == key),
        lambda db: db.table(name).update({"v": new["v"]}, doc_ids=[doc_id, 99]),
        lambda db: db.table(name).update({"k": key}),
        lambda db: db.table(name).update(deepen, where("k") == key),
        lambda db: db.table(name).update(same_numbers_other_types, where("k") == key),
        lambda db: db.table(name).update(operations.delete("v"), (where("k") == key) & where("v").exists()),
        lambda db: db.table(name).update(operations.increment("k"), where("k") == key),
        lambda db: db.table(name).update_multiple([({"v": 1}, where("k") == 1), (deepen, where("k") == 2)]),
        lambda db: db.table(name).upsert(new, where("k") == key),
        lambda db: db.table(name).upsert(Document(new, doc_id)),
        lambda db: db.table(name).remove(where("k") == key),
        lambda db: db.table(name).remove(doc_ids=[doc_id, 77]),
        lambda db: db.table(name).truncate(),
        lambda db: db.table(name).get(where("k") == key),
        lambda db: db.table(name).get(doc_id=doc_id),
        lambda db: db.table(name).get(doc_ids=[doc_id, 1, 2]),
        lambda db: db.table(name).search(where("n")["a"] == 1),
        lambda db: db.table(name).contains(doc_id=doc_id),
        lambda db: db.table(name).count(where("k") == key),
        lambda db: len(db.table(name)),
        lambda db: db.drop_table(name),
        lambda db: db.drop_tables(),
    ]
    return chance.choices(choices, weights=[4] * (len(choices) - 3) + [2, 1, 1])[0]


def outcome(operation: Callable[[TinyDB], object], database: TinyDB) -> object:
    try:
        return operation(database)
    except (ValueError, KeyError) as error:
        return type(error), str(error)


def contents(database: TinyDB) -> dict[str, list[tuple[int, str]]]:
    """All documents with their types, as their JSON would show them: 1, 1.0 and True differ."""
    return {
        name: [(doc.doc_id, repr(dict(sorted(doc.items())))) for doc in database.table(name)]
        for name in sorted(database.tables())
    }


def close(database: TinyDB, writer: Writer | None) -> None:
    if writer is not None:
        writer.close()
    database.close()


@pytest.mark.parametrize("with_writer", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_random_operations_do_what_they_do_in_plain_tinydb(tmp_path: Path, seed: int, with_writer: bool):
    chance = random.Random(seed)
    writer = Writer() if with_writer else None
    ours, plain = JournalDB(tmp_path / "ours.tdb", writer=writer), TinyDB(tmp_path / "plain.json")
    for step in range(150):
        operation = random_operation(chance)
        assert outcome(operation, ours) == outcome(operation, plain), f"operation {step}"
        if chance.random() < 0.05:
            ours.journal.compact()
        if chance.random() < 0.1:
            close(ours, writer)
            plain.close()
            writer = Writer() if with_writer else None
            ours, plain = JournalDB(tmp_path / "ours.tdb", writer=writer), TinyDB(tmp_path / "plain.json")
        assert contents(ours) == contents(plain), f"operation {step}"
    close(ours, writer)
    assert JournalDB(tmp_path / "ours.tdb").journal.damaged == ()


def test_documents_that_are_read_are_the_readers_own(tmp_path: Path):
    database = JournalDB(tmp_path / "x.tdb")
    database.insert({"tags": ["a"]})
    for found in (database.get(doc_id=1), database.search(where("tags").exists())[0], database.all()[0]):
        found["tags"].append("b")
    assert database.get(doc_id=1) == {"tags": ["a"]}


def test_what_was_inserted_is_stored_as_it_was_then(tmp_path: Path):
    database = JournalDB(tmp_path / "x.tdb")
    tags = ["a"]
    database.insert({"tags": tags})
    tags.append("b")
    assert database.get(doc_id=1) == {"tags": ["a"]}


def test_an_operation_over_many_documents_is_one_line(tmp_path: Path):
    database = JournalDB(tmp_path / "x.tdb")
    database.insert_multiple([{"n": number} for number in range(50)])
    database.update({"n": 0})
    assert (tmp_path / "x.tdb").read_bytes().count(b"\n") == 2
