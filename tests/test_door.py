"""No address of the running app is open to others: the walk that `make faults` takes, as a test."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import ClientSession
from fastapi import APIRouter, FastAPI
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse

from app.domain.messages import TextPart
from app.tools.worker.file_worker import FileWorker
from app.ui.elements import addresses
from tests.api.over import served
from tests.app_process import AppProcess
from tests.door import SOCKET, Owner, Target, ask, let_in, targets
from tests.faults.door_walk import (
    MADE_UP,
    PAGES,
    listed,
    listing_app,
    others_get_in,
    owner_gets_in,
    owner_of,
    routes_of,
    walk_second,
    with_a_picture,
)
from tests.rights_table import AT_THE_DOOR, without_a_route, without_a_row
from tests.tools.context import Context

KNOCKING = '''
import os
import urllib.error
import urllib.request


def knock(address: str) -> list[int]:
    """Ask with nothing, and with each thing that this process was given."""
    return [status(address, sent) for sent in ("", *os.environ.values())]


def status(address, sent):
    asked = urllib.request.Request(address, headers={"X-API-Key": sent.strip()} if sent else {})
    try:
        with urllib.request.urlopen(asked, timeout=90) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code
'''
"""A tool file that goes around what tools are given to ask with."""


@pytest.fixture(scope="module")
def owner(app_process: AppProcess) -> Owner:
    return owner_of(app_process)


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    app = listing_app(tmp_path_factory.mktemp("door"))
    asyncio.run(with_a_picture(app))
    app.start()
    yield app
    app.stop()


async def test_every_address_of_the_app_refuses_others_and_lets_its_owner_in(
    app_process: AppProcess, owner: Owner
) -> None:
    doors = [*listed(app_process), Target("POST", f"/api/v1/agents/{owner.public}/run")]

    asked, entered = await let_in(doors, owner, share=4)

    assert entered == []
    assert asked > 1000
    assert {"/favicon.ico", "/_nicegui_ws/x", "/api/v1/agents/x/run"} <= {target.path for target in doors}
    assert {"/v1/chat/completions", "/api/v1/keys", "/api/v1/ws/chat"} <= {target.path for target in doors}
    assert await owner_gets_in(owner) and await others_get_in(owner)


async def test_every_further_port_of_the_app_refuses_what_is_not_signed(app_process: AppProcess, owner: Owner) -> None:
    ports, asked, entered = await walk_second(app_process, owner, [*PAGES[::4], *MADE_UP])

    assert (len(ports), entered) == (1, [])
    assert asked > 1000


async def test_a_tool_file_that_asks_the_app_by_itself_is_refused(app_process: AppProcess, tmp_path: Path) -> None:
    worker = FileWorker(tmp_path / "mine.py", KNOCKING)
    output = await worker.call("knock", {"address": f"{app_process.url}/api/v1/runs"}, Context())
    await worker.close()

    [told] = output.parts
    assert isinstance(told, TextPart)
    assert set(json.loads(told.text)) == {401}


def test_every_address_has_its_row_in_the_table_of_rights_and_every_row_an_address(app_process: AppProcess) -> None:
    asked = routes_of(app_process)

    assert without_a_row(asked) == without_a_route([*asked, *AT_THE_DOOR]) == set()


def test_every_page_is_walked() -> None:
    named = {address for name, address in vars(addresses).items() if name.isupper() and isinstance(address, str)}
    assert named and named <= set(PAGES)


async def test_a_route_outside_of_the_door_is_found() -> None:
    house = Starlette()
    house.add_route("/open", lambda _: PlainTextResponse("hello"), methods=["GET"])
    async with served(house) as port:
        asked, entered = await let_in(targets(house.routes), Owner(port, "a-token-of-a-test-0123"))

    assert asked == len(entered) > 50


async def test_no_page_pays_for_packing_what_goes_over_no_wire(app_process: AppProcess) -> None:
    """A browser offers to, and each open page would take a third of a megabyte for it."""
    headers = {"Origin": app_process.url, "Cookie": f"agent_playground_{app_process.port}={app_process.sign_in()}"}
    socket = f"{app_process.url}/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    async with ClientSession() as client, client.ws_connect(socket, headers=headers, compress=15) as opened:
        assert (await opened.receive_str()).startswith("0{") and opened.compress == 0


async def test_tabs_that_close_while_they_load_leave_no_traceback_in_the_log(app_process: AppProcess) -> None:
    owner = Owner(app_process.port, app_process.token, app_process.sign_in())
    headers = (*owner.host, *owner.cookie, ("Accept-Encoding", "gzip"))
    head = "".join(f"{name}: {value}\r\n" for name, value in headers)

    paths = ("/", "/playground", "/agents", "/_nicegui/3.18.0/static/nicegui.js")

    async def close_after(path: str, milliseconds: int) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", owner.port)
        writer.write(f"GET {path} HTTP/1.1\r\n{head}\r\n".encode())
        await writer.drain()
        await asyncio.sleep(milliseconds / 1000)
        writer.transport.abort()

    for milliseconds in (0, 1, 2, 3, 5, 10, 15, 20, 30, 50):
        await asyncio.gather(*(close_after(path, milliseconds) for path in paths * 2))

    assert await ask(owner.port, Target("GET", "/"), owner.all) == 200
    assert "Traceback" not in app_process.log


def test_the_walk_opens_routers_mounts_and_sockets() -> None:
    inner = Starlette()
    inner.add_route("/deep", lambda _: None)  # type: ignore[arg-type]
    router = APIRouter(prefix="/v1")
    router.add_api_route("/runs/{run_id}", lambda: None, methods=["DELETE"])
    router.add_api_websocket_route("/live", lambda: None)
    house = FastAPI(openapi_url=None)
    house.include_router(router, prefix="/api")
    house.mount("/inner", inner)

    found = set(targets(house.routes))

    assert {Target("DELETE", "/api/v1/runs/x"), Target(SOCKET, "/api/v1/live"), Target("GET", "/inner/deep")} <= found
    assert Target(SOCKET, "/inner/socket.io/?EIO=4&transport=websocket") in found
