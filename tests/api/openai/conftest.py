"""The app as its users start it, and the real `openai` client of a program with a key; one for all tests here."""

from collections.abc import Iterator

import httpx
import pytest
from openai import OpenAI

from tests.app_process import AppProcess
from tests.waiting import PATIENCE


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    app = AppProcess(tmp_path_factory.mktemp("openai") / "data")
    app.start()
    yield app
    app.stop()


@pytest.fixture(scope="session")
def owner(app: AppProcess) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {app.token}"}
    with httpx.Client(base_url=f"{app.url}/api/v1", headers=headers, timeout=PATIENCE) as client:
        yield client


@pytest.fixture(scope="session")
def client(app: AppProcess, owner: httpx.Client) -> Iterator[OpenAI]:
    """A program with a key of its own."""
    key = owner.post("/keys", json={"name": "a program"}).json()["data"]["key"]
    with OpenAI(base_url=f"{app.url}/v1", api_key=key, max_retries=0) as client:
        yield client
