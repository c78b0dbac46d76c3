"""Source that several threads read at once, which Python of some versions gets wrong."""

import gc
import sys
import threading
from collections.abc import Iterator

import pytest

from app.domain.reading.python_source import tree_of

SOURCE = "+".join(f"({number}+{number})*{number}" for number in range(40))


class Circle:
    """What the collector finds, and gives another thread its turn at."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        for _ in range(50):
            pass


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads that take turns all the time, and a collector that comes by often."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50, 2, 2)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)


@pytest.mark.usefixtures("restless")
def test_each_of_several_threads_gets_its_tree():
    faults: list[BaseException] = []

    def read() -> None:
        for _ in range(200):
            for _ in range(30):
                Circle()
            try:
                tree_of(SOURCE, mode="eval")
            except SystemError as fault:
                faults.append(fault)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert faults == []


def test_what_is_no_source_is_told_as_python_tells_it():
    with pytest.raises(SyntaxError):
        tree_of("1 +", mode="eval")
    assert tree_of("a = 1").body and tree_of("1 + 2", mode="eval").body
