"""For how long a page waits for its browser, by what that said at the end of its socket."""

import pytest
from nicegui import Client
from nicegui.page import page
from starlette.types import Message, Receive, Scope, Send

from app.ui.shell.left_pages import MOMENT, LeftPages

LOST = 1006


async def listen(_scope: Scope, receive: Receive, _send: Send) -> None:
    """What serves a socket until it is disconnected."""
    while (await receive())["type"] != "websocket.disconnect":
        pass


async def nothing_is_said(_message: Message) -> None:
    raise AssertionError


async def wait_after(client: Client, *said: Message) -> float | None:
    """Seconds that the page waits once its socket has said that; `None`: as long as all."""
    told = iter(said)

    async def receive() -> Message:
        return next(told)

    scope = {"type": "websocket", "query_string": f"EIO=4&client_id={client.id}&transport=websocket".encode()}
    await LeftPages(listen)(scope, receive, nothing_is_said)
    return client.page.reconnect_timeout


CONNECT: Message = {"type": "websocket.connect"}


@pytest.fixture
def client():
    made = Client(page(""))
    yield made
    Client.instances.pop(made.id)


def end(code: int) -> Message:
    return {"type": "websocket.disconnect", "code": code}


async def test_a_page_that_its_browser_left_is_dropped_after_a_moment(client):
    assert await wait_after(client, CONNECT, {"type": "websocket.receive", "text": "2"}, end(1001)) == MOMENT


async def test_a_page_whose_connection_is_lost_waits_as_long_as_ever(client):
    assert await wait_after(client, CONNECT, end(LOST)) is None


async def test_a_page_that_is_back_waits_as_long_as_ever(client):
    assert await wait_after(client, CONNECT, end(1001)) == MOMENT
    assert await wait_after(client, CONNECT, end(LOST)) is None


async def test_the_end_of_a_socket_of_no_page_is_nobodys(client):
    scope = {"type": "websocket", "query_string": b"client_id=nobody"}
    told = iter((CONNECT, end(1001)))

    async def receive() -> Message:
        return next(told)

    await LeftPages(listen)(scope, receive, nothing_is_said)
    assert client.page.reconnect_timeout is None
