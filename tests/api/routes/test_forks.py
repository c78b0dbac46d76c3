"""REST: runs gone on with from one of their steps, and replayed, over a real workbench and the demo model."""

import asyncio

import httpx
from starlette.types import Receive, Scope, Send

from app.api.door.caller import ANYONE, CALLER
from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from app.domain.events import ToolReturned
from app.engine.run.run import Run
from app.workbench import Workbench
from tests.api.over import api_over

SUM = "What is 5 + 10, then multiply by 3?"


def client_of(workbench: Workbench, *, stranger: bool = False) -> httpx.AsyncClient:
    served = api_over(workbench)

    async def as_stranger(scope: Scope, receive: Receive, send: Send) -> None:
        scope[CALLER] = ANYONE
        await served(scope, receive, send)

    transport = httpx.ASGITransport(app=as_stranger if stranger else served)
    return httpx.AsyncClient(transport=transport, base_url="http://here/api/v1")


async def a_run(workbench: Workbench, text: str) -> Run:
    behaviour = PromptBehaviour(tools=(ToolChoice(name="calculator"),))
    agent = await workbench.agents.create(new_agent("Adds", behaviour, taken_slugs=workbench.agents.slugs()))
    session = await workbench.chat.new_session(agent.id)
    live = await workbench.chat.send(session.id, text)
    await asyncio.wait_for(live.ended(), 30)
    return live


def first_result(live: Run) -> ToolReturned:
    return next(entry.event for entry in live.entries if isinstance(entry.event, ToolReturned))


async def test_a_run_is_replayed_and_gone_on_with_from_an_edited_result(workbench: Workbench) -> None:
    live = await a_run(workbench, SUM)
    result = first_result(live)
    seq = next(entry.seq for entry in live.entries if entry.event is result)
    edit = {"type": "result", "call_id": result.call_id, "text": "5 + 10 = 20"}
    async with client_of(workbench) as client:
        replayed = (await client.post(f"/runs/{live.run_id}/replay")).json()["data"]
        checked = (await client.post(f"/runs/{live.run_id}/fork/check", json={"seq": seq, "edits": [edit]})).json()
        answer = await client.post(f"/runs/{live.run_id}/fork", json={"seq": seq, "edits": [edit]})
    assert (replayed["identical"], replayed["steps"], replayed["words"], replayed["cost_usd"]) == (True, 3, "", 0.0)
    assert checked["data"]["live"] == ["calculator"]
    assert answer.status_code == 201
    told = answer.json()["data"]
    assert (told["reused_steps"], told["seq"], told["moved"], told["side_effects"]) == (1, seq, "", [])
    fork = workbench.runs.recent(told["run_id"])
    assert fork is not None
    await asyncio.wait_for(fork.ended(), 30)
    assert fork.status == "completed"
    assert fork.started.purpose == "api"
    assert workbench.sessions.get(told["session_id"]).runs == (fork.run_id,)
    assert first_result(fork).result.text == "5 + 10 = 20"


REFUSED = [
    ({}, 422, "seq"),
    ({"seq": -1}, 422, "no entry -1"),
    ({"seq": 4000}, 422, "no entry 4000"),
    ({"seq": "first"}, 422, "seq"),
    ({"seq": 1, "edits": [{"type": "colour"}]}, 422, "edits"),
    ({"seq": 1, "edits": [{"type": "message", "seq": 0, "text": "x"}]}, 422, "cannot be edited"),
    ({"seq": 1, "edits": [{"type": "result", "call_id": "none", "text": "x"}]}, 404, "no call 'none'"),
    ({"seq": 1, "variant": 7}, 404, "no variant 7"),
    ({"seq": 1, "model": "nowhere/model"}, 404, "nowhere"),
    ({"seq": 1, "tools": {"teleport": {}}}, 422, "no tool 'teleport'"),
    ({"seq": 1, "surprise": True}, 422, "surprise"),
]


async def test_what_does_not_fit_is_refused_in_words(workbench: Workbench) -> None:
    live = await a_run(workbench, "hi")
    async with client_of(workbench) as client:
        for body, status, words in REFUSED:
            answer = await client.post(f"/runs/{live.run_id}/fork", json=body)
            assert (answer.status_code, answer.json()["success"]) == (status, False), body
            assert words in answer.json()["error"]
        for action in ("fork", "replay"):
            answer = await client.post(f"/runs/nothing/{action}", json={"seq": 1})
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert workbench.sessions.count() == 1
    async with client_of(workbench, stranger=True) as client:
        for action in ("fork", "fork/check", "replay"):
            answer = await client.post(f"/runs/{live.run_id}/{action}", json={"seq": 1})
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert workbench.runs.live_runs() == []


async def test_a_fork_joins_its_session_when_asked_to(workbench: Workbench) -> None:
    live = await a_run(workbench, SUM)
    async with client_of(workbench) as client:
        joined = (await client.post(f"/runs/{live.run_id}/fork", json={"seq": 1, "join": True})).json()["data"]
        own = (await client.post(f"/runs/{live.run_id}/fork", json={"seq": 1})).json()["data"]
    assert joined["session_id"] == live.started.session_id != own["session_id"]
    for run_id in (joined["run_id"], own["run_id"]):
        fork = workbench.runs.recent(run_id)
        assert fork is not None
        await asyncio.wait_for(fork.ended(), 30)
