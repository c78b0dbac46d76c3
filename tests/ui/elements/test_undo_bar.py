"""The bar that offers to take back what was done."""

import asyncio

import pytest
from nicegui import Client, core, ui
from nicegui.page import page

from app.ui.elements.undo_bar import UndoBar


@pytest.fixture(autouse=True)
async def _loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "loop", asyncio.get_running_loop())


async def test_what_is_taken_back_slowly_is_taken_back_once_and_hides_no_newer_offer():
    let_go, taken_back, ended = asyncio.Event(), list[str](), asyncio.Event()

    async def undo() -> None:
        taken_back.append("first")
        await let_go.wait()
        ended.set()

    with Client(page("")) as client:
        bar = UndoBar()
        bar.show("Deleted the first", undo)
        for _ in range(2):
            press(client)
            await asyncio.sleep(0)
        assert taken_back == ["first"]
        bar.show("Deleted the second", lambda: taken_back.append("second"))
        let_go.set()
        await ended.wait()
        await asyncio.sleep(0)
        press(client)
        await asyncio.sleep(0)
        assert taken_back == ["first", "second"] and not offered(client)
    client.delete()


def offered(client: Client) -> list[ui.button]:
    return [one for one in client.elements.values() if one.props.get("data-testid") == "undo-button"]


def press(client: Client) -> None:
    [undo] = offered(client)
    [clicked] = [one for one in undo._event_listeners.values() if one.type == "click"]
    undo._handle_event({"listener_id": clicked.id, "args": None})
