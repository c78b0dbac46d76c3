"""What is freed goes back to the system, where the C library has to be told."""

import asyncio
import gc
import sys
import weakref

import pytest
from nicegui import core

from app.domain.garbage import collect_all, in_doubt, no_collection
from app.start import spare_memory
from app.start.spare_memory import SpareMemory, glibc
from tests.waiting import until

MANY = 10_001
"""Records that are set aside."""
ON_GLIBC = pytest.mark.skipif(glibc() is None, reason="only glibc keeps what is freed")


class Page:
    """It and its element refer to each other, as those of NiceGUI do."""

    def __init__(self) -> None:
        self.element = self


def never() -> bool:
    return False


@pytest.fixture
async def loop():
    before, core.loop = core.loop, asyncio.get_running_loop()
    collect_all(is_open=False)
    gc.disable()
    yield core.loop
    gc.enable()
    collect_all(is_open=False)
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


async def given_back(memory: SpareMemory) -> None:
    memory.page_gone()
    [giving] = [task for task in asyncio.all_tasks() if task.get_name() == "give memory back"]
    await giving


@pytest.mark.parametrize("somebody", ["a run", "a page"])
async def test_a_page_that_was_there_while_much_was_read_is_freed_once_nobody_is_there(loop, somebody: str):
    there = {somebody}
    memory = SpareMemory(None, busy=lambda: "a run" in there, is_open=lambda: "a page" in there, rest=0.001)
    page = weakref.ref(Page())
    with no_collection(MANY):
        read = [[] for _ in range(MANY)]
    await given_back(memory)
    assert page() is not None
    there.clear()
    await given_back(memory)
    assert page() is None
    assert len(read) == MANY


@pytest.mark.parametrize("somebody", ["a run", "a page"])
async def test_it_is_freed_where_somebody_is_there_too_once_very_much_was_read(loop, somebody: str):
    memory = SpareMemory(None, busy=lambda: somebody == "a run", is_open=lambda: somebody == "a page", rest=0.001)
    page = weakref.ref(Page())
    for _ in range(spare_memory._MUCH // MANY + 1):
        with no_collection(MANY):
            pass
    await given_back(memory)
    assert page() is None


async def test_pages_that_were_open_when_all_was_looked_through_are_freed_once_nobody_is_there(loop):
    there = {"a page"}
    memory = SpareMemory(None, busy=never, is_open=lambda: bool(there), rest=0.001)
    page = Page()
    collect_all(is_open=True)
    seen = weakref.ref(page)
    del page
    await given_back(memory)
    assert seen() is not None
    there.clear()
    await given_back(memory)
    assert seen() is None
    assert in_doubt() == 0


@pytest.mark.parametrize(("most", "freed"), [(10**9, True), (0, False)])
async def test_what_takes_long_to_look_through_is_not_looked_through_again(loop, monkeypatch, most: int, freed: bool):
    monkeypatch.setattr(spare_memory, "_LONG", 0.0)
    monkeypatch.setattr(spare_memory, "_MOST", most)
    memory = SpareMemory(None, busy=never, is_open=lambda: True, rest=0.001)
    stays = [[] for _ in range(10_000)]
    before = gc.get_freeze_count()
    await given_back(memory)
    page = weakref.ref(Page())
    await given_back(memory)
    assert gc.get_freeze_count() >= before + len(stays)
    assert (page() is None) is freed


def test_other_systems_have_another_library(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert glibc() is None
