"""No address of the running app is open to others: the walk that `make faults` takes, as a test."""

from collections.abc import Iterator

import pytest
from fastapi import APIRouter, FastAPI
from starlette.applications import Starlette

from tests.app_process import AppProcess
from tests.door import SOCKET, Owner, Target, let_in, targets
from tests.faults.door_walk import listed, listing_app, owner_gets_in


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    app = listing_app(tmp_path_factory.mktemp("door"))
    app.start()
    yield app
    app.stop()


async def test_every_address_of_the_app_refuses_others_and_lets_its_owner_in(app_process: AppProcess) -> None:
    owner = Owner(app_process.port, app_process.token)
    doors = listed(app_process)

    asked, entered = await let_in(doors, owner)

    assert entered == []
    assert asked > 1000
    assert {"/favicon.ico", "/_nicegui_ws/x", "/api/v1/agents/x/run"} <= {target.path for target in doors}
    assert await owner_gets_in(owner)


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
