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


def nobody() -> int:
    return 0


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
    memory = SpareMemory(glibc(), busy=never, pages=nobody, rest=0.001)
    memory.keep_little()
    page = weakref.ref(Page())
    assert page() is not None
    memory.page_gone()
    await until(lambda: page() is None)


@ON_GLIBC
async def test_nothing_is_looked_through_while_runs_go_on(loop):
    going_on = ["a run"]
    memory = SpareMemory(glibc(), busy=lambda: bool(going_on), pages=nobody, rest=0.001)
    page = weakref.ref(Page())
    memory.page_gone()
    [giving] = [task for task in asyncio.all_tasks() if task.get_name() == "give memory back"]
    await giving
    assert page() is not None
    going_on.clear()
    memory.page_gone()
    await until(lambda: page() is None)


async def test_without_that_library_it_is_freed_too(loop):
    memory = SpareMemory(None, busy=never, pages=nobody, rest=0.001)
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
    memory = SpareMemory(None, busy=lambda: "a run" in there, pages=lambda: int("a page" in there), rest=0.001)
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
    memory = SpareMemory(None, busy=lambda: somebody == "a run", pages=lambda: int(somebody == "a page"), rest=0.001)
    page = weakref.ref(Page())
    for _ in range(spare_memory._MUCH // MANY + 1):
        with no_collection(MANY):
            pass
    await given_back(memory)
    assert page() is None


async def test_pages_that_were_open_when_all_was_looked_through_are_freed_once_nobody_is_there(loop):
    there = {"a page"}
    memory = SpareMemory(None, busy=never, pages=lambda: len(there), rest=0.001)
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


@pytest.mark.parametrize(("pages", "is_set_aside"), [(0, True), (1, True), (3, False)])
async def test_what_comes_and_stays_is_looked_through_once_where_few_pages_are_set_aside_with_it(
    loop, monkeypatch, pages: int, is_set_aside: bool
):
    stays = [[] for _ in range(10_000)]
    monkeypatch.setattr(spare_memory, "_MANY", len(stays))
    there = ["a page"] * pages
    memory = SpareMemory(None, busy=never, pages=lambda: len(there), rest=0.001)
    page, gone = Page(), weakref.ref(Page())
    seen, before = weakref.ref(page), gc.get_freeze_count()
    await given_back(memory)
    assert gone() is None
    assert (gc.get_freeze_count() >= before + len(stays)) is is_set_aside
    assert (in_doubt() > 0) is (is_set_aside and pages > 0)
    del page
    there.clear()
    await given_back(memory)
    assert (seen() is None) is (pages > 0)


async def test_many_pages_that_go_one_after_the_other_are_waited_for_no_longer(loop):
    memory = SpareMemory(None, busy=never, pages=lambda: 1, rest=3600)
    memory.page_gone()
    await asyncio.sleep(0)
    page = weakref.ref(Page())
    for _ in range(spare_memory._AT_ONCE - 1):
        memory.page_gone()
    await until(lambda: page() is None)


async def test_what_many_pages_held_is_freed_while_runs_go_on_too(loop):
    memory = SpareMemory(None, busy=lambda: True, pages=nobody, rest=0.001)
    for _ in range(2):
        page = weakref.ref(Page())
        for _ in range(spare_memory._AT_ONCE - 1):
            await given_back(memory)
        assert page() is not None
        memory._rest = 3600  # they are many now, and not waited for
        await given_back(memory)
        assert page() is None
        memory._rest = 0.001


def test_other_systems_have_another_library(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert glibc() is None
