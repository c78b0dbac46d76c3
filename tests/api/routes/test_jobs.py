"""REST for jobs, over a real workbench with the demo model."""

import httpx
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.door.caller import ANYONE, CALLER, Caller, with_key
from app.domain.keys import ApiKey
from app.domain.provenance import Trigger
from app.domain.values import now
from tests.api.over import api_over
from tests.waiting import until

SLOW = "Tell me a long story"


def called(app: ASGIApp, caller: Caller) -> ASGIApp:
    """The app behind a door that let them in."""

    async def opened(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, CALLER: caller}, receive, send)

    return opened


async def test_a_job_shows_how_far_it_is_until_it_has_ended(client, workbench):
    agent = workbench.agents.by_slug("assistant")
    live = await workbench.jobs.start(agent.id, SLOW, trigger=Trigger(kind="page"))
    await until(lambda: live.draft.text)
    reply = (await client.get("/jobs")).json()

    assert reply["success"] and reply["count"] == 1
    [job] = reply["data"]
    assert (job["id"], job["status"], job["agent"], job["parent_run_id"]) == (live.run_id, "running", "assistant", None)
    assert job["progress"] == {"steps": 1, "tools": [], "waits": False}
    assert (await client.post(f"/runs/{live.run_id}/stop")).json()["data"]["status"] == "cancelled"
    [ended] = (await client.get("/jobs", params={"state": "ended"})).json()["data"]
    assert (ended["status"], ended["progress"]) == ("cancelled", None)
    assert (await client.get("/jobs", params={"state": "live"})).json() == {"success": True, "data": [], "count": 0}


async def test_tasks_of_an_agent_are_jobs_with_their_parent(client):
    body = {"input": "Calculate 2 + 2 and calculate 3 + 3 in parallel with sub-tasks"}
    done = (await client.post("/agents/coordinator/run", json=body)).json()["data"]

    assert "2 + 2 = **4**" in done["output_text"] and "3 + 3 = **6**" in done["output_text"]
    jobs = (await client.get("/jobs", params={"limit": 1})).json()
    assert jobs["count"] == 2 and len(jobs["data"]) == 1
    assert jobs["data"][0]["parent_run_id"] == done["run_id"]
    assert jobs["data"][0]["triggered_by"] == "agent:Coordinator"


async def test_a_key_sees_the_jobs_that_it_started_only(workbench):
    tutor = workbench.agents.by_slug("math-tutor")
    key = ApiKey(id="1", name="n8n", agents=(tutor.id,), secret_digest="", last_four="", created_at=now())
    mine = await workbench.jobs.start(tutor.id, "hello", trigger=with_key(key).trigger)
    other = await workbench.jobs.start(tutor.id, "hello", trigger=Trigger(kind="page"))
    for live in (mine, other):
        live.stop()
        await live.ended()
    transport = httpx.ASGITransport(app=called(api_over(workbench), with_key(key)))
    async with httpx.AsyncClient(transport=transport, base_url="http://here/api/v1") as client:
        reply = (await client.get("/jobs")).json()

    assert (reply["count"], [job["id"] for job in reply["data"]]) == (1, [mine.run_id])


@pytest.mark.parametrize(("kind", "reached"), [("key", "math-tutor"), ("guest", "assistant")])
async def test_who_may_use_some_agents_reaches_no_others_through_their_tasks(workbench, kind, reached):
    coordinator, tutor = (workbench.agents.by_slug(slug) for slug in ("coordinator", "math-tutor"))
    for slug in ("coordinator", "assistant"):
        agent = workbench.agents.by_slug(slug)
        await workbench.agents.change(agent.id, lambda one: one.model_copy(update={"is_public": True}))
    made = await workbench.keys.create("n8n", agents=[coordinator.id, tutor.id])
    caller = with_key(made.key) if kind == "key" else ANYONE
    transport = httpx.ASGITransport(app=called(api_over(workbench), caller))
    async with httpx.AsyncClient(transport=transport, base_url="http://here/api/v1") as client:
        for slug in ("math-tutor", "assistant"):
            body = {"input": f"Spawn a task that calculates 3 * 4 by agent {slug}"}
            told = (await client.post("/agents/coordinator/run", json=body)).json()["data"]["output_text"]
            expected = "= **12**" if slug == reached else f"There is no agent '{slug}': it is not known"
            assert expected in told and "python-analyst" not in told


@pytest.mark.parametrize("query", ["limit=0", "limit=501", "offset=-1", "state=odd"])
async def test_a_list_that_cannot_be_is_refused(client, query):
    reply = await client.get(f"/jobs?{query}")

    assert reply.status_code == 422 and reply.json()["code"] == "invalid"
