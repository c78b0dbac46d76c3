import gc
from pathlib import Path

import pytest

from app.domain.garbage import no_collection
from app.store.journal.database import JournalDB


def test_the_collector_rests_until_the_last_of_many_readers_is_done():
    with no_collection(5000):
        with no_collection(5000):
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_collector_is_back_after_a_read_that_failed():
    with pytest.raises(ValueError, match="broken"), no_collection(5000):
        raise ValueError("broken")
    assert gc.isenabled()


def test_few_records_are_read_as_usual():
    with no_collection(10):
        assert gc.isenabled()


def test_what_was_read_of_a_large_table_is_not_walked_again(tmp_path: Path):
    written = JournalDB(tmp_path / "x.tdb")
    for number in range(10_050):
        written.journal.commit([("_default", {number + 1: {"n": [number]}})])
    written.close()
    database = JournalDB(tmp_path / "x.tdb")
    gc.collect()
    frozen = gc.get_freeze_count()
    assert len(database) == 10_050
    assert gc.get_freeze_count() >= frozen + 10_000


def test_what_is_read_between_is_walked_once_it_is_there():
    frozen = gc.get_freeze_count()
    with no_collection(5000):
        assert not gc.isenabled()
    assert gc.get_freeze_count() <= frozen
