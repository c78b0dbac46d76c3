"""The API over a real workbench with the demo model: in process, and at a port for sockets."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.types import ASGIApp

from app.workbench import Workbench
from tests.api.over import UNHURRIED, api_over, opened, served


@pytest.fixture
async def workbench(tmp_path: Path) -> AsyncIterator[Workbench]:
    workbench = opened(tmp_path)
    await workbench.start()
    yield workbench
    await workbench.close()


@pytest.fixture
async def unhurried(tmp_path: Path) -> AsyncIterator[Workbench]:
    """One whose long stories are not over before a test has done something."""
    workbench = opened(tmp_path, UNHURRIED)
    await workbench.start()
    yield workbench
    await workbench.close()


@pytest.fixture
def app(workbench: Workbench) -> ASGIApp:
    return api_over(workbench)


@pytest.fixture
async def client(app: ASGIApp) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://here/api/v1", timeout=30) as client:
        yield client


@pytest.fixture
async def port(app: ASGIApp) -> AsyncIterator[int]:
    """Where the API answers, without a door."""
    async with served(app) as port:
        yield port
