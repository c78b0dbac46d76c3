"""Pages inside the frame whose code is read when they are first opened."""

import asyncio
import threading
from pathlib import Path

from nicegui import ui

from app import late as lateness
from app.ui.elements.sub_pages import Pages
from app.ui.shell.pages import read_first
from tests.test_late import written  # noqa: F401  a fixture
from tests.ui.runs.test_runs_pages import visitor
from tests.waiting import until


async def test_a_page_is_read_beside_the_event_loop_and_built_at_once_from_then_on(written, tmp_path: Path):  # noqa: F811
    module = written("import threading\nreader = threading.get_ident()")
    async with visitor(tmp_path) as (user, _):
        await user.open("/playground")
        build = read_first(module, lambda: ui.label(f"Read by {module.reader}"))
        with user.current_layout:
            await build()
            assert module.reader != threading.get_ident()
            await user.should_see(f"Read by {module.reader}")
            assert isinstance(build(), ui.label)


async def test_a_page_whose_code_cannot_be_read_says_so(written, tmp_path: Path):  # noqa: F811
    module = written("raise OSError('gone')")
    async with visitor(tmp_path) as (user, _):
        await user.open("/playground")
        with user.current_layout:
            await read_first(module, lambda: ui.label("built"))()
        await user.should_see("This page could not be shown")
        await user.should_not_see("built")


async def test_whoever_leaves_while_a_page_is_built_leaves_nothing_that_waits(tmp_path: Path):
    async def slow() -> None:
        await forever.wait()

    forever = asyncio.Event()
    async with visitor(tmp_path) as (user, _):
        await user.open("/playground")
        with user.current_layout:
            pages = Pages({"/playground": slow})
        building = asyncio.create_task(pages.built())
        await until(lambda: pages.worth_showing._waiters)
        building.cancel()
        await asyncio.wait({building})
        assert building.cancelled()
        await until(lambda: not pages.worth_showing._waiters)
        forever.set()


async def test_a_page_that_is_still_read_is_not_taken_for_an_unknown_one(written, tmp_path: Path):  # noqa: F811
    """It may have pages inside, as Tools has."""
    module = written("import time\ntime.sleep(0.5)\nword = 'read'")
    async with visitor(tmp_path) as (user, _):
        await user.open("/playground")
        with user.current_layout:
            pages = Pages({"/playground": read_first(module, lambda: ui.label(module.word))})
        pages._match.remaining_path = "/inside"
        await user.client.sub_pages_router._can_resolve_full_path(user.client)
        assert not lateness.is_read(module) and not pages.has_404
        await user.should_see("read", retries=50)
        await user.client.sub_pages_router._can_resolve_full_path(user.client)
        assert pages.has_404
