"""What keys open at the door and what they do not, and what is open to anyone."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from app.api.door.caller import caller_of, with_key
from app.api.door.guests import PUBLIC_ROUTES, WorkbenchGuests
from app.api.door.security import Door
from app.domain.agents import Agent, PromptBehaviour, new_agent
from app.domain.provenance import Trigger
from app.domain.values import now
from app.engine.sessions.chat import FROM_PAGE
from app.workbench import Workbench

PORT = 8765
TOKEN = "A-token-of-tests-with-43-characters-_0123456"
HERE = f"http://127.0.0.1:{PORT}"
METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]
JSON = {"Content-Type": "application/json"}


async def whoever(request: Request) -> JSONResponse:
    """Tell the caller as routes see them."""
    caller = caller_of(request)
    return JSONResponse({"id": caller.id, "kind": caller.trigger.kind, "name": caller.trigger.name})


@pytest.fixture
async def workbench(tmp_path: Path) -> AsyncIterator[Workbench]:
    workbench = Workbench.open(tmp_path / "data")
    for name in ("Public", "Mine", "Other"):
        agent = new_agent(name, PromptBehaviour(), taken_slugs=workbench.agents.slugs())
        await workbench.agents.create(agent.model_copy(update={"is_public": name == "Public"}))
    yield workbench
    await workbench.close()


@pytest.fixture
async def visitor(workbench: Workbench) -> AsyncIterator[httpx.AsyncClient]:
    house = Starlette(routes=[Route("/{path:path}", whoever, methods=METHODS)])
    door = Door(house, port=PORT, token=TOKEN, guests=WorkbenchGuests(workbench))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=door), base_url=HERE) as client:
        yield client


def sent(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def agent(workbench: Workbench, slug: str) -> Agent:
    return workbench.agents.by_slug(slug)


async def test_runs_will_say_which_key_started_them(visitor: httpx.AsyncClient, workbench: Workbench):
    made = await workbench.keys.create("n8n")
    answer = await visitor.post("/api/v1/agents/mine/run", headers=sent(made.secret))
    assert answer.json() == {"id": made.key.id, "kind": "api_key", "name": "n8n"}
    await workbench.keys.close()
    assert workbench.keys.all()[0].last_used_at is not None
    assert (await visitor.post("/api/v1/chat", headers=sent(TOKEN))).json() == {
        "id": "owner",
        "kind": "api_key",
        "name": "",
    }
    terminal = {**sent(TOKEN), "X-Started-From": "terminal"}
    assert (await visitor.post("/api/v1/chat", headers=terminal)).json()["kind"] == "terminal"
    forged = {**sent(made.secret), "X-Started-From": "terminal"}
    assert (await visitor.post("/api/v1/chat", headers=forged)).json()["kind"] == "api_key"


async def test_an_expired_and_a_revoked_key_are_told_so(visitor: httpx.AsyncClient, workbench: Workbench):
    expiring = await workbench.keys.create("old", days=1)
    early = now() - timedelta(days=2)
    await workbench.data.api_keys.change(
        expiring.key.id, lambda key: key.model_copy(update={"expires_at": early + timedelta(days=1)})
    )
    revoked = await workbench.keys.create("gone")
    await workbench.keys.revoke(revoked.key.id)
    workbench.keys = type(workbench.keys)(workbench.data.api_keys, workbench.agents, workbench.runs.clock)

    for secret, words in ((expiring.secret, "'old' expired on "), (revoked.secret, "'gone' was revoked on ")):
        answer = await visitor.get("/api/v1/agents", headers=sent(secret))
        assert answer.status_code == 401 and words in answer.json()["error"]
        assert answer.json()["code"] == "unauthorized"
    unknown = await visitor.get("/api/v1/agents", headers=sent("ap_nothing"))
    assert unknown.status_code == 401 and "no such key" in unknown.json()["error"]


@pytest.mark.parametrize("path", ["/", "/runs", "/uploads/x", "/_nicegui_ws/socket.io/", "/artifacts/x", "/api"])
async def test_a_key_opens_no_page_and_no_upload(visitor: httpx.AsyncClient, workbench: Workbench, path: str):
    secret = (await workbench.keys.create("n8n")).secret
    assert (await visitor.get(path, headers=sent(secret))).status_code == 401
    assert (await visitor.post(path, headers={**sent(secret), "Origin": HERE})).status_code == 401


async def test_keys_are_managed_by_the_owner_alone(visitor: httpx.AsyncClient, workbench: Workbench):
    secret = (await workbench.keys.create("n8n")).secret
    for method in ("GET", "POST", "DELETE", "PUT"):
        for path in ("/api/v1/keys", "/api/v1/keys/x"):
            assert (await visitor.request(method, path, headers=sent(secret))).status_code == 403
            assert (await visitor.request(method, path, headers=sent(TOKEN))).status_code == 200


REACHED = [
    ("GET", "/api/v1/agents", 200),
    ("GET", "/api/v1/agents/mine", 200),
    ("POST", "/api/v1/agents/mine/run", 200),
    ("POST", "/api/v1/agents/other/run", 404),
    ("POST", "/api/v1/agents/public/run", 404),
    ("GET", "/api/v1/agents/other/variants", 404),
    ("POST", "/api/v1/chat", 200),
    ("POST", "/v1/chat/completions", 200),
    ("POST", "/v1/responses", 200),
    ("POST", "/api/v1/uploads", 200),
    ("GET", "/v1/models", 200),
    ("GET", "/api/v1/openapi.json", 200),
    ("GET", "/api/v1/runs", 200),
    ("GET", "/api/v1/runs/mine", 200),
    ("POST", "/api/v1/runs/mine/stop", 200),
    ("GET", "/api/v1/runs/other", 404),
    ("DELETE", "/api/v1/runs/other", 404),
    ("POST", "/api/v1/runs/other/pauses/x", 404),
    ("GET", "/api/v1/runs/none", 404),
    ("GET", "/api/v1/sessions/other", 404),
    ("POST", "/api/v1/sessions/other/queue", 404),
    ("POST", "/api/v1/sessions/mine/queue", 200),
    ("GET", "/api/v1/runs/owners", 404),
    ("POST", "/api/v1/runs/owners/pauses/x", 404),
    ("DELETE", "/api/v1/sessions/owners", 404),
    ("GET", "/api/v1/jobs", 200),
    ("GET", "/api/v1/artifacts/" + "0" * 64, 403),
    ("POST", "/api/v1/agents", 403),
    ("PUT", "/api/v1/agents/mine", 403),
    ("DELETE", "/api/v1/agents/mine", 403),
    ("POST", "/api/v1/agents/mine/variants", 403),
    ("GET", "/api/v1/tools", 403),
    ("POST", "/api/v1/tools/calculator/call", 403),
    ("GET", "/api/v1/anything/new", 403),
    ("GET", "/api/v1/keys", 403),
]
"""What a key for the agent `mine` is answered; in a path, a run or session that it started is called like its agent."""


async def test_a_key_for_certain_agents_reaches_what_is_theirs(visitor: httpx.AsyncClient, workbench: Workbench):
    made = await workbench.keys.create("scoped", agents=["mine"])
    secret, whole = made.secret, (await workbench.keys.create("whole")).secret
    by_key = with_key(made.key).trigger
    ids = await begun(workbench, ("mine", "mine", by_key), ("other", "other", by_key), ("owners", "mine", FROM_PAGE))
    for method, path, status in REACHED:
        for name, real in ids.items():
            path = path.replace(name, real)  # noqa: PLW2901
        answer = await visitor.request(method, path, headers=sent(secret))
        assert (method, path, answer.status_code) == (method, path, status)
        everything = await visitor.request(method, path, headers=sent(whole))
        assert everything.status_code == (403 if path.startswith("/api/v1/keys") else 200)


async def begun(workbench: Workbench, *wanted: tuple[str, str, Trigger]) -> dict[str, str]:
    """Paths of a run and a session of each agent, by what they are called in the table above."""
    ids = {}
    for name, slug, trigger in wanted:
        session = await workbench.chat.new_session(agent(workbench, slug).id)
        live = await workbench.chat.send(session.id, "hi", trigger=trigger)
        live.stop()
        await live.ended()
        ids |= {f"/runs/{name}": f"/runs/{live.run_id}", f"/sessions/{name}": f"/sessions/{session.id}"}
    return ids


async def test_without_a_key_public_agents_are_listed_and_run(visitor: httpx.AsyncClient, workbench: Workbench):
    assert PUBLIC_ROUTES == ("GET /api/v1/agents", "GET /api/v1/agents/{slug}", "POST /api/v1/agents/{slug}/run")
    anyone = {"id": "anyone", "kind": "api_key", "name": "no key"}
    assert (await visitor.get("/api/v1/agents")).json() == anyone
    for name in ("public", agent(workbench, "public").id):
        assert (await visitor.get(f"/api/v1/agents/{name}")).json() == anyone
        assert (await visitor.post(f"/api/v1/agents/{name}/run", headers=JSON)).json() == anyone


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/agents/mine/run"),
        ("POST", "/api/v1/agents/nobody/run"),
        ("GET", "/api/v1/agents/public/run"),
        ("POST", "/api/v1/agents/public/run/"),
        ("POST", "/api/v1/agents/public/../mine/run"),
        ("POST", "/api/v1/agents/public/run/x"),
        ("PUT", "/api/v1/agents/public"),
        ("GET", "/api/v1/agents/mine"),
        ("GET", "/api/v1/agents/public/runs"),
        ("GET", "/api/v1/agents/public/variants"),
        ("GET", "/api/v1/agents/"),
        ("HEAD", "/api/v1/agents"),
        ("POST", "/api/v1/agents"),
        ("GET", "/api/v1/runs"),
        ("POST", "/api/v1/chat"),
        ("GET", "/v1/models"),
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/responses"),
        ("POST", "/api/v1/uploads"),
        ("POST", "/agents/public/run"),
    ],
)
async def test_without_a_key_nothing_else_opens(visitor: httpx.AsyncClient, method: str, path: str):
    assert (await visitor.request(method, path, headers=JSON | {"Origin": HERE})).status_code == 401


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        ({"Content-Type": "application/json; charset=utf-8"}, 200),
        ({"Content-Type": "application/json", "Origin": HERE}, 200),
        ({}, 422),
        ({"Content-Type": "text/plain"}, 422),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 422),
        ({"Content-Type": "application/jsonp"}, 422),
        ({"Content-Type": "application/json", "Origin": "null"}, 403),
        ({"Content-Type": "application/json", "Origin": "http://evil.example"}, 403),
        ({"Content-Type": "application/json", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Content-Type": "application/json", "Sec-Fetch-Site": "none"}, 403),
        ({"Content-Type": "application/json", "Host": "evil.example"}, 421),
        ({"Content-Type": "application/json", "Authorization": "Bearer wrong"}, 401),
        ({"Content-Type": "application/json", "X-API-Key": "wrong"}, 401),
    ],
)
async def test_a_public_agent_is_run_with_json_and_by_no_foreign_page(
    visitor: httpx.AsyncClient, shown: dict[str, str], status: int
):
    assert (await visitor.post("/api/v1/agents/public/run", headers=shown, content=b"{}")).status_code == status


async def test_clients_of_openai_read_refusals_in_their_shape(visitor: httpx.AsyncClient):
    answer = await visitor.get("/v1/models")
    assert answer.status_code == 401 and answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["error"]["type"] == "authentication_error"
    assert answer.json()["error"]["code"] == "unauthorized" and answer.json()["error"]["param"] is None
    assert "X-API-Key" in answer.json()["error"]["message"]
