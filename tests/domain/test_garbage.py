import gc
import sys
import threading
from pathlib import Path

import pytest

from app.domain.garbage import collect_all, no_collection, walked
from app.store.journal.database import JournalDB
from app.store.journal.frames import frame


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
    JournalDB(tmp_path / "x.tdb").close()
    with (tmp_path / "x.tdb").open("ab") as file:  # all at once, else each waits for the disk
        file.writelines(frame([("_default", {number + 1: {"n": [number]}})]) for number in range(10_050))
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


@pytest.fixture
def hasty_threads():
    """That take turns at each line."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_what_is_walked_is_counted_while_others_fill_tuples(hasty_threads):
    collect_all(is_open=False)
    lists, ended, problems = [[] for _ in range(1000)], threading.Event(), list[SystemError]()

    def fill() -> None:
        while not ended.is_set():
            try:
                assert len(tuple(number for number in range(200))) == 200
            except SystemError as problem:
                problems.append(problem)

    threads = [threading.Thread(target=fill) for _ in range(2)]
    for thread in threads:
        thread.start()
    counts = []
    for _ in range(600):
        gc.collect()
        counts.append(walked())
    ended.set()
    for thread in threads:
        thread.join()
    assert min(counts) >= len(lists)
    assert not problems
