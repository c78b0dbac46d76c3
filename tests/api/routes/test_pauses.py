"""REST for runs that wait for a person, over a real workbench."""

import asyncio
import json

import httpx
import pytest
from pydantic import JsonValue
from websockets.asyncio.client import connect

from app.api.following.live_text import BELOW_SECONDS
from app.domain.agents import Agent, PromptBehaviour, ToolChoice, new_agent
from app.domain.trace import open_pauses
from app.engine.run.run import Run
from app.engine.run.stopwatch import SystemClock
from app.engine.runs.runs import Runs
from app.engine.sessions.chat import Chat
from app.engine.sessions.pauses import Pauses
from app.workbench import Workbench
from tests.api.over import api_over, asking, served
from tests.parts import having
from tests.waiting import until

SUM = "What is 5 + 10, then multiply by 3?"
FIRST = {"operation": "add", "x": 5, "y": 10}


def client_of(workbench: Workbench, base: str = "http://here/api/v1") -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=api_over(workbench)), base_url=base)


async def asker(workbench: Workbench) -> Agent:
    """One that calculates with leave alone."""
    behaviour = PromptBehaviour(tools=(ToolChoice(name="calculator", policy="ask"),))
    return await workbench.agents.create(new_agent("Asks", behaviour, taken_slugs=workbench.agents.slugs()))


async def waiting(workbench: Workbench) -> Run:
    """A run that waits for leave to calculate."""
    session = await workbench.chat.new_session((await asker(workbench)).id)
    live = await workbench.chat.send(session.id, SUM)
    await until(lambda: live.control.waits, seconds=10, pause=0.01)
    return live


async def decide(workbench: Workbench, live: Run, **body: object) -> httpx.Response:
    [pause] = open_pauses(live.entries)
    async with client_of(workbench) as client:
        return await client.post(f"/runs/{live.run_id}/pauses/{pause.call_id}", json=body)


async def test_a_call_is_approved_for_exactly_its_arguments(workbench: Workbench):
    live = await waiting(workbench)
    refused = await decide(workbench, live, decision="approve", arguments=FIRST | {"x": 6})
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert "other arguments" in refused.json()["error"] and live.control.waits
    reply = await decide(workbench, live, decision="approve", arguments=FIRST)
    assert reply.status_code == 200 and reply.json()["data"]["run_id"] == live.run_id
    result = await until(lambda: next((e.event for e in live.entries if e.event.type == "tool_returned"), None))
    assert result.result.text == "5 + 10 = 15"


async def test_a_tool_is_always_allowed_in_its_session(workbench: Workbench):
    live = await waiting(workbench)
    assert (await decide(workbench, live, decision="always")).is_success
    await asyncio.wait_for(live.ended(), 30)
    again = await workbench.chat.send(live.started.session_id, SUM)
    await asyncio.wait_for(again.ended(), 30)
    assert [sum(e.event.type == "pause_requested" for e in run.entries) for run in (live, again)] == [1, 0]
    assert workbench.sessions.get(live.started.session_id).tools_allowed == ("calculator",)


async def test_a_run_that_was_left_is_resumed_and_decided_on(workbench: Workbench):
    live = await waiting(workbench)
    await workbench.runs.close()
    data = workbench.data
    runs = Runs(data.traces, data.rows, workbench.models, workbench.tools, data.artifacts, SystemClock())
    chat = Chat(data.agents, data.sessions, runs, workbench.tools)
    after = having(workbench, runs=runs, chat=chat, pauses=Pauses(chat))
    async with client_of(after) as client:
        reply = await client.post(f"/runs/{live.run_id}/resume")
        assert reply.status_code == 200 and reply.json()["data"]["status"] in ("running", "paused")
        assert (await client.post(f"/runs/{live.run_id}/resume")).status_code == 409
    resumed = runs.live(live.run_id)
    await until(lambda: resumed.control.waits)
    assert (await decide(after, resumed, decision="deny", note="no sums")).is_success
    denied = await until(lambda: next((e.event for e in resumed.entries if e.event.type == "tool_returned"), None))
    assert denied.result.text == "The user denied this call: no sums"
    await runs.close()


async def test_what_is_no_decision_is_told_and_changes_nothing(workbench: Workbench):
    live = await waiting(workbench)
    bodies = ({"decision": "edit"}, {"decision": "answer"}, {"decision": "maybe"}, {"decision": "deny", "why": "x"}, {})
    for body in bodies:
        reply = await decide(workbench, live, **body)
        assert reply.status_code == 422 and reply.json()["success"] is False, body
        assert live.control.waits


async def test_unknown_runs_and_calls_are_not_found_and_decided_ones_conflict(workbench: Workbench):
    live = await waiting(workbench)
    [pause] = open_pauses(live.entries)
    async with client_of(workbench) as client:
        assert (await client.post("/runs/nowhere/resume")).status_code == 404
        assert (await client.post("/runs/nowhere/pauses/x", json={"decision": "deny"})).status_code == 404
        unknown = await client.post(f"/runs/{live.run_id}/pauses/x", json={"decision": "deny"})
        assert unknown.status_code == 404
        first, second = await asyncio.gather(
            *(client.post(f"/runs/{live.run_id}/pauses/{pause.pause_id}", json={"decision": "deny"}) for _ in range(2))
        )
        assert sorted((first.status_code, second.status_code)) == [200, 409]
        assert (await client.post(f"/runs/{live.run_id}/resume")).status_code == 409


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/v1/agents/asking/run", {"input": SUM}, 200),
        ("/api/v1/chat", {"agent": "asking", "message": SUM}, 200),
        ("/v1/chat/completions", {"model": "asking", "messages": [{"role": "user", "content": SUM}]}, 409),
        ("/v1/responses", {"model": "asking", "input": SUM}, 409),
    ],
)
async def test_a_run_is_answered_for_once_one_below_it_waits(
    workbench, path: str, body: dict[str, object], status: int
):
    await asker(workbench)
    await asking(workbench, "asks")
    async with client_of(workbench, base="http://here") as client, asyncio.timeout(30):
        answer = await client.post(path, json=body)
        [below] = [live for live in workbench.runs.live_runs() if live.control.waits]
        assert answer.status_code == status
        if status == 409:
            assert f"/runs/{below.run_id}" in answer.json()["error"]["message"]
        else:
            assert answer.json()["data"]["status"] == "paused"


async def test_what_a_run_below_waits_for_is_decided_by_what_is_told_of_it(workbench):
    await asker(workbench)
    await asking(workbench, "asks")
    async with client_of(workbench) as client, asyncio.timeout(30):
        told = (await client.post("/agents/asking/run", json={"input": SUM})).json()["data"]
        [pause] = told["pauses"]
        assert told["status"] == "paused" and pause["run_id"] != told["run_id"] and pause["tool"] == "calculator"
        where = f"/runs/{pause['run_id']}/pauses/{pause['pause_id']}"
        assert (await client.post(where, json={"decision": "always"})).status_code == 200
        await until(lambda: workbench.runs.live(told["run_id"]) is None)
        assert "45" in (await client.get(f"/runs/{told['run_id']}")).json()["data"]["output_text"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"model": "asking", "messages": [{"role": "user", "content": SUM}]}),
        ("/v1/responses", {"model": "asking", "input": SUM}),
    ],
)
async def test_a_stream_of_openai_ends_once_a_run_below_waits(workbench, path: str, body: dict[str, object]):
    await asker(workbench)
    await asking(workbench, "asks")
    async with client_of(workbench, base="http://here") as client, asyncio.timeout(30):
        streamed = (await client.post(path, json=body | {"stream": True})).text
        [below] = [live for live in workbench.runs.live_runs() if live.control.waits]
        assert f"decide about its call of 'calculator'. Decide on the page /runs/{below.run_id}." in streamed


async def test_who_follows_a_run_hears_once_of_what_a_run_below_waits_for(workbench):
    await asker(workbench)
    await asking(workbench, "asks")
    async with served(api_over(workbench)) as port, httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        body = {"input": SUM, "stream": True}
        said: list[dict[str, JsonValue]] = []
        async with asyncio.timeout(30), client.stream("POST", "/api/v1/agents/asking/run", json=body) as reply:
            run_id = reply.headers["X-Run-Id"]
            watched = asyncio.create_task(heard(f"ws://127.0.0.1:{port}/api/v1/runs/{run_id}/stream"))
            async for line in reply.aiter_lines():
                if not line.startswith("data: {"):
                    continue
                said.append(json.loads(line.removeprefix("data: ")))
                if said[-1]["type"] == "pause-requested":
                    told = (await client.get(f"/api/v1/runs/{run_id}")).json()["data"]
                    await asyncio.sleep(2 * BELOW_SECONDS)
                    [live] = [live for live in workbench.runs.live_runs() if live.control.waits]
                    [pause] = open_pauses(live.entries)
                    await workbench.pauses.decide(live.run_id, pause.pause_id, "always")
        pauses = [one for one in said if one["type"] == "pause-requested"]
        assert [one["run_id"] for one in pauses] == [live.run_id]
        assert (told["status"], [one["pause_id"] for one in told["pauses"]]) == ("paused", [pause.pause_id])
        assert [one for one in await watched if one["type"] == "pause-requested"] == pauses
        assert said[-1]["status"] == "completed"


async def heard(address: str) -> list[dict[str, JsonValue]]:
    """All that comes over the socket until it is closed."""
    async with connect(address) as socket:
        return [json.loads(message) async for message in socket]
