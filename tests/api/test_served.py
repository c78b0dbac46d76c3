"""The API of the running app, behind its door."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.app_process import AppProcess
from tests.waiting import PATIENCE

SUM = "What is 5 + 10, then multiply by 3?"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    app = AppProcess(Path(tmp_path_factory.mktemp("served")) / "data")
    app.start()
    yield app
    app.stop()


def headers(app: AppProcess) -> dict[str, str]:
    return {"Authorization": f"Bearer {app.token}"}


def test_an_agent_is_run_and_streamed_as_it_writes(app: AppProcess):
    with httpx.Client(base_url=f"{app.url}/api/v1", headers=headers(app), timeout=PATIENCE) as client:
        body = {"input": SUM, "stream": True}
        with client.stream("POST", "/agents/assistant/run", json=body) as answer:
            pieces = list(answer.iter_text())
        assert len(pieces) > 5 and pieces[-1].endswith("data: [DONE]\n\n")
        run = client.get(f"/runs/{answer.headers['X-Run-Id']}").json()["data"]
        assert run["status"] == "completed" and len(run["steps"]) == 8


def test_more_than_can_be_taken_is_refused_in_words(app: AppProcess):
    with httpx.Client(base_url=f"{app.url}/api/v1", headers=headers(app), timeout=PATIENCE) as client:
        for size, status, code in ((9 * 1024**2, 413, "too_large"), (11 * 1024**2, 413, "too_large")):
            reply = client.post("/agents/assistant/run", json={"input": "x" * size})
            assert (reply.status_code, reply.json()["code"]) == (status, code)
        assert client.get("/agents").status_code == 200


def test_the_documentation_is_served_whole(app: AppProcess):
    with httpx.Client(base_url=f"{app.url}/api/v1", headers=headers(app), timeout=PATIENCE) as client:
        for _ in range(2):
            for path in ("/docs", "/docs/docs.js", "/docs/docs.css", "/docs/SKILL.md", "/openapi.json"):
                reply = client.get(path)
                assert reply.status_code == 200 and len(reply.content) > 500
    assert httpx.get(f"{app.url}/api/v1/docs").status_code == 401


async def test_a_socket_needs_a_key_and_follows_a_run(app: AppProcess):
    async with httpx.AsyncClient(base_url=f"{app.url}/api/v1", headers=headers(app)) as client:
        body = {"input": SUM, "background": True}
        run_id = (await client.post("/agents/assistant/run", json=body)).json()["data"]["run_id"]
    address = f"{app.url.replace('http', 'ws')}/api/v1/runs/{run_id}/stream"
    with pytest.raises(InvalidStatus) as refused:
        await connect(address)
    assert refused.value.response.status_code == 401
    async with connect(address, additional_headers=headers(app)) as socket, asyncio.timeout(30):
        messages = [json.loads(message) async for message in socket]
    assert [one["seq"] for one in messages if one["type"] == "entry"] == list(range(16))
    assert messages[-1]["status"] == "completed"
