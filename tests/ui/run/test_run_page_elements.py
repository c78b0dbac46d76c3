"""The page of a run holds few elements, however long the run is: each update walks through all of them."""

import asyncio
import gc
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from nicegui import Client, context

from app.domain.events import Entry
from app.domain.trace import Edits
from app.engine.forks.forks import Forks
from app.ui.run.run_tabs import VIEWS, View
from tests.living import living
from tests.seeds import seed_long_run
from tests.ui.runs.test_runs_pages import sees, visitor
from tests.waiting import until

MOST = 500
SHOWN: dict[View, str] = {
    "timeline": " cards",
    "trajectory": " steps",
    "waterfall": " spans in ",
    "messages": "model call",
    "review": "Final response",
    "raw": "events, as stored",
}


@pytest.mark.parametrize("events", [101, 1000])
async def test_no_view_of_a_run_has_many_elements(tmp_path: Path, events: int):
    """The shorter run is the longest one that has a card for each decision."""
    await seed_long_run(tmp_path, events)
    counted: dict[View, int] = {}
    async with visitor(tmp_path) as (user, _):
        for view in VIEWS:
            await user.open(f"/runs/long-run?view={view}")
            await sees(user, SHOWN[view])
            counted[view] = sum(1 for _ in user.current_layout.descendants())
    assert max(counted.values()) < MOST, counted


def held() -> int:
    """The entries of traces in memory, also of those that only refer to themselves."""
    return living(Entry)


def leave(client: Client) -> None:
    """As `LeftPages` and NiceGUI do where a browser goes to another page."""
    client.page.reconnect_timeout = 3.0
    for told in client.disconnect_handlers:
        client.safe_invoke(told)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("end", [leave, Client.delete])
async def test_a_page_that_is_left_holds_nothing_of_its_run_until_garbage_is_collected(
    tmp_path: Path, view: View, end: Callable[[Client], None]
):
    await seed_long_run(tmp_path, 1000)
    async with visitor(tmp_path) as (user, _):
        await user.open("/jobs")
        gc.collect()
        before = held()
        gc.disable()
        try:
            await user.open(f"/runs/long-run?view={view}")
            await sees(user, SHOWN[view])
            await until(lambda: held() >= before + 1000, pause=0.1)
            assert user.client is not None
            end(user.client)
            await until(lambda: held() < before + 10, pause=0.1)
        finally:
            gc.enable()


async def test_a_page_that_is_left_while_it_is_built_takes_nothing_of_its_run_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    edits, clients, let_go, found = Forks.edits, list[Client](), asyncio.Event(), asyncio.Event()

    async def slow(forks: Forks, entries: Sequence[Entry]) -> Edits:
        clients.append(context.client)
        await let_go.wait()
        found.set()
        return await edits(forks, entries)

    await seed_long_run(tmp_path, 1000)
    async with visitor(tmp_path) as (user, _):
        monkeypatch.setattr(Forks, "edits", slow)
        gc.collect()
        before = held()
        opening = asyncio.create_task(user.open("/runs/long-run?view=raw"))
        await until(lambda: clients)
        gc.disable()
        try:
            leave(clients[0])
            let_go.set()
            await asyncio.wait_for(found.wait(), 30)
            await opening
            await until(lambda: held() < before + 10, pause=0.1)
        finally:
            gc.enable()


async def test_a_page_that_let_go_of_its_run_is_loaded_anew_where_its_browser_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    await seed_long_run(tmp_path, 101)
    async with visitor(tmp_path) as (user, _):
        reloads: list[str] = []
        await user.open("/runs/long-run")
        await sees(user, SHOWN["timeline"])
        assert user.client is not None
        monkeypatch.setattr(user.navigate, "reload", lambda: reloads.append("reload"))
        come(user.client)
        assert not reloads
        leave(user.client)
        come(user.client)
        assert len(reloads) == 1


def come(client: Client) -> None:
    """As NiceGUI does where a browser connects to the page."""
    for told in client.connect_handlers:
        client.safe_invoke(told)
