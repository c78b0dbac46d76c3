"""No address of the running app is open to others: the walk that `make faults` takes, as a test."""

import asyncio
from collections.abc import Iterator

import pytest
from fastapi import APIRouter, FastAPI
from starlette.applications import Starlette

from tests.app_process import AppProcess
from tests.door import SOCKET, Owner, Target, ask, let_in, targets
from tests.faults.door_walk import listed, listing_app, others_get_in, owner_gets_in, owner_of


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    app = listing_app(tmp_path_factory.mktemp("door"))
    app.start()
    yield app
    app.stop()


async def test_every_address_of_the_app_refuses_others_and_lets_its_owner_in(app_process: AppProcess) -> None:
    owner = owner_of(app_process)
    doors = [*listed(app_process), Target("POST", f"/api/v1/agents/{owner.public}/run")]

    asked, entered = await let_in(doors, owner)

    assert entered == []
    assert asked > 1000
    assert {"/favicon.ico", "/_nicegui_ws/x", "/api/v1/agents/x/run"} <= {target.path for target in doors}
    assert {"/v1/chat/completions", "/api/v1/keys", "/api/v1/ws/chat"} <= {target.path for target in doors}
    assert await owner_gets_in(owner) and await others_get_in(owner)


async def test_tabs_that_close_while_they_load_leave_no_traceback_in_the_log(app_process: AppProcess) -> None:
    owner = Owner(app_process.port, app_process.token)
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
