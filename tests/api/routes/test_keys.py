"""REST for keys, over a real workbench, as its owner and as others."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from app.api.door.guests import WorkbenchGuests
from app.api.door.security import Door
from app.domain.agents import PromptBehaviour, new_agent
from app.workbench import Workbench
from tests.api.over import api_over, opened

PORT = 8765
TOKEN = "A-token-of-tests-with-43-characters-_0123456"


@pytest.fixture
async def workbench(tmp_path: Path) -> AsyncIterator[Workbench]:
    workbench = opened(tmp_path)
    await workbench.agents.create(new_agent("Mine", PromptBehaviour(), taken_slugs=()))
    yield workbench
    await workbench.close()


def client_of(workbench: Workbench, key: str) -> httpx.AsyncClient:
    door = Door(api_over(workbench), port=PORT, token=TOKEN, guests=WorkbenchGuests(workbench))
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app=door),
        base_url=f"http://127.0.0.1:{PORT}/api/v1",
        headers={"X-API-Key": key},
    )


@pytest.fixture
async def owner(workbench: Workbench) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(workbench, TOKEN) as client:
        yield client


async def test_a_key_is_shown_once(owner: httpx.AsyncClient, workbench: Workbench):
    made = await owner.post("/keys", json={"name": "n8n", "agents": ["mine"], "expires_days": 1.5})
    told = made.json()["data"]
    assert made.status_code == 201 and told["agents"] == ["mine"] and told["last_four"] == told["key"][-4:]
    listed = await owner.get("/keys")
    assert listed.json()["count"] == 1
    assert told["key"] not in listed.text and workbench.keys.all()[0].secret_digest not in listed.text
    async with client_of(workbench, told["key"]) as program:
        assert [agent["slug"] for agent in (await program.get("/agents")).json()["data"]] == ["mine"]
        for method, path in (("GET", "/keys"), ("POST", "/keys"), ("DELETE", f"/keys/{told['id']}")):
            refused = await program.request(method, path, json={"name": "more"})
            assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert [key.name for key in workbench.keys.all()] == ["n8n"]


async def test_a_key_is_renamed_and_revoked(owner: httpx.AsyncClient, workbench: Workbench):
    made = (await owner.post("/keys", json={"name": "n8n"})).json()["data"]
    assert made["agents"] is None and made["expires_at"] is None
    renamed = await owner.put(f"/keys/{made['id']}", json={"name": "Zapier"})
    assert renamed.json()["data"]["name"] == "Zapier"
    revoked = await owner.delete(f"/keys/{made['id']}")
    assert revoked.json()["data"]["standing"] == "revoked"
    async with client_of(workbench, made["key"]) as program:
        answer = await program.get("/agents")
    assert answer.status_code == 401 and "'Zapier' was revoked" in answer.json()["error"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"name": "taken"}, 409, "There is a key 'taken' already"),
        ({"name": " "}, 422, "name of 1 to 60"),
        ({"name": "x", "agents": ["nobody"]}, 404, "no agent 'nobody'. Agents: mine."),
        ({"name": "x", "agents": ["mine", ""]}, 404, "no agent ''. Agents: mine."),
        ({"name": "x", "agents": []}, 422, "for no agent"),
        ({"name": "x", "expires_days": -1}, 422, "days"),
        ({"name": "x", "expires_days": "soon"}, 422, "expires_days"),
        ({"name": "x", "role": "admin"}, 422, "role"),
        ({}, 422, "name"),
    ],
)
async def test_a_key_that_cannot_be_made_is_told_why(
    owner: httpx.AsyncClient, workbench: Workbench, body: dict[str, object], status: int, words: str
):
    await workbench.keys.create("taken")
    refused = await owner.post("/keys", json=body)
    assert refused.status_code == status and words in refused.json()["error"]
    assert refused.json()["success"] is False


async def test_an_unknown_key_is_not_found(owner: httpx.AsyncClient):
    assert (await owner.delete("/keys/x")).status_code == 404
    assert (await owner.put("/keys/x", json={"name": "y"})).status_code == 404
