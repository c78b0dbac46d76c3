"""What is freed goes back to the system, where the C library has to be told."""

import asyncio
import gc
import sys
import weakref

import pytest
from nicegui import core

from app.domain.garbage import no_collection
from app.start import spare_memory
from app.start.spare_memory import SpareMemory, glibc
from tests.waiting import until

ON_GLIBC = pytest.mark.skipif(glibc() is None, reason="only glibc keeps what is freed")


class Page:
    """It and its element refer to each other, as those of NiceGUI do."""

    def __init__(self, much: int = 0) -> None:
        self.element = self
        self.read = [[] for _ in range(much)]


def never() -> bool:
    return False


@pytest.fixture
async def loop():
    before, core.loop = core.loop, asyncio.get_running_loop()
    gc.disable()
    yield core.loop
    gc.enable()
    core.loop = before


@ON_GLIBC
async def test_what_a_page_held_is_freed_soon_after_it_is_gone(loop):
    memory = SpareMemory(glibc(), busy=never, is_open=never, rest=0.001)
    memory.keep_little()
    page = weakref.ref(Page())
    assert page() is not None
    memory.page_gone()
    await until(lambda: page() is None)


@ON_GLIBC
async def test_nothing_is_looked_through_while_runs_go_on(loop):
    going_on = ["a run"]
    memory = SpareMemory(glibc(), busy=lambda: bool(going_on), is_open=never, rest=0.001)
    page = weakref.ref(Page())
    memory.page_gone()
    [giving] = [task for task in asyncio.all_tasks() if task.get_name() == "give memory back"]
    await giving
    assert page() is not None
    going_on.clear()
    memory.page_gone()
    await until(lambda: page() is None)


async def test_without_that_library_it_is_freed_too(loop):
    memory = SpareMemory(None, busy=never, is_open=never, rest=0.001)
    memory.keep_little()
    page = weakref.ref(Page())
    memory.page_gone()
    await until(lambda: page() is None)


@pytest.mark.parametrize(("going_on", "much"), [(False, spare_memory._SOME), (True, spare_memory._MUCH)])
async def test_a_page_that_was_there_while_much_was_read_is_freed(loop, going_on: bool, much: int):
    memory = SpareMemory(None, busy=lambda: going_on, is_open=never, rest=0.001)
    page = weakref.ref(Page())
    with no_collection(much):
        read = [[] for _ in range(much)]
    gc.collect()
    assert page() is not None
    memory.page_gone()
    await until(lambda: page() is None)
    assert len(read) == much


async def given_back(memory: SpareMemory) -> None:
    memory.page_gone()
    [giving] = [task for task in asyncio.all_tasks() if task.get_name() == "give memory back"]
    await giving


@pytest.mark.parametrize("much", [spare_memory._SOME, 1])
async def test_pages_that_were_open_when_all_was_looked_through_are_freed_once_they_are_gone(loop, much: int):
    pages = {name: Page(spare_memory._SOME if name == "first" else much) for name in ("first", "second")}
    memory = SpareMemory(None, busy=never, is_open=lambda: bool(pages), rest=0.001)
    first, second = (weakref.ref(pages[name]) for name in ("first", "second"))
    gc.freeze()
    del pages["first"]
    await given_back(memory)
    assert first() is None and second() is not None
    del pages["second"]
    await given_back(memory)
    assert second() is None


def test_other_systems_have_another_library(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert glibc() is None
