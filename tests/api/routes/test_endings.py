"""What a program can tell apart when a run ends: results as JSON, failures, limits, who called."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect

from app.api.following.live_text import QUIET_SECONDS, Quiet, pieces
from app.domain.agents import Limits, PromptBehaviour, ToolChoice, new_agent
from app.domain.provenance import Trigger
from app.workbench import Workbench
from tests.waiting import until

FAIL = "Fail with {}"
CSV = "name,amount\nAda,3\nBob,4"


async def asked(client: httpx.AsyncClient, text: str, **more: object) -> httpx.Response:
    return await client.post("/agents/assistant/run", json={"input": text, **more})


@pytest.fixture
async def impatient(workbench: Workbench) -> str:
    """The slug of an agent that does nothing twice, and stops after two steps."""
    limits = Limits(retries=0, max_steps=2, total_time=600, repeats=0)
    behaviour = PromptBehaviour(tools=(ToolChoice(name="calculator"), ToolChoice(name="data-transform")), limits=limits)
    return (await workbench.agents.create(new_agent("Impatient", behaviour, taken_slugs=()))).slug


async def test_results_that_are_json_are_parsed(client, impatient):
    text = f"Call data_transform__csv_to_json with {json.dumps({'csv': CSV})}"
    run = (await client.post(f"/agents/{impatient}/run", json={"input": text})).json()["data"]

    assert run["steps"][0]["output"]["rows"] == [{"name": "Ada", "amount": 3}, {"name": "Bob", "amount": 4}]
    kept = (await client.get(f"/runs/{run['run_id']}")).json()["data"]
    assert kept["calls"] == run["steps"]
    assert kept["calls"][0]["error"] is None


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        ("quota", 429),
        ("context overflow", 400),
        ("invalid key", 502),
        ("model unavailable", 503),
        ("safety filter", 400),
        ("timeout", 504),
        ("network", 502),
        ("provider error", 502),
        ("bad response", 502),
        ("bad request", 400),
        ("internal", 500),
    ],
)
async def test_a_run_that_fails_answers_with_the_status_of_its_class(client, impatient, failure: str, status: int):
    reply = await client.post(f"/agents/{impatient}/run", json={"input": FAIL.format(failure)})
    spoken = await client.post("/chat", json={"message": FAIL.format(failure), "agent": impatient})

    code = failure.replace(" ", "_")
    for answer in (reply, spoken):
        body = answer.json()
        assert (answer.status_code, body["success"], body["code"]) == (status, False, code)
        assert answer.headers["x-should-retry"] == "false"
        assert (body["data"]["status"], body["data"]["failure"], body["data"]["limit"]) == ("failed", code, None)
        assert body["error"] == body["data"]["error"]
    read = await client.get(f"/runs/{reply.json()['data']['run_id']}")
    assert (read.status_code, read.json()["success"], read.json()["data"]["failure"]) == (200, True, code)


async def test_the_other_api_gives_the_same_status(client, impatient):
    body = {"model": impatient, "messages": [{"role": "user", "content": FAIL.format("invalid key")}]}
    reply = await client.post("http://here/v1/chat/completions", json=body)

    assert (reply.status_code, reply.headers["x-should-retry"]) == (502, "false")


async def test_sent_again_it_has_the_same_status(client, impatient):
    sent = {"json": {"input": FAIL.format("invalid key")}, "headers": {"Idempotency-Key": "once"}}
    first, again = [await client.post(f"/agents/{impatient}/run", **sent) for _ in range(2)]

    assert (first.status_code, again.status_code) == (502, 502)
    assert first.json() == again.json()


async def test_limits_are_told_apart_and_are_no_failure_of_the_request(client, impatient, workbench):
    steps = await client.post(f"/agents/{impatient}/run", json={"input": "Loop"})
    await client.put("/agents/assistant", json={"config": {"timeout_ms": 50}})
    late = await asked(client, "Be slow")

    for reply, name, allowed in ((steps, "steps", 2), (late, "time", 0.05)):
        run = reply.json()["data"]
        assert (reply.status_code, reply.json()["success"], run["status"]) == (200, True, "limited")
        assert (run["failure"], run["limit"]["name"], run["limit"]["allowed"]) == ("limit", name, allowed)
        read = (await client.get(f"/runs/{run['run_id']}")).json()["data"]
        assert read["limit"] == run["limit"]


async def test_a_run_that_ends_well_names_neither_failure_nor_limit(client):
    run = (await asked(client, "What is 5 + 10?", data=None)).json()["data"]

    assert (run["failure"], run["limit"], run["warnings"]) == (None, None, [])
    assert (await client.get(f"/runs/{run['run_id']}")).json()["data"]["user_query"] == "What is 5 + 10?"


async def test_a_background_run_and_a_stream_keep_their_status(client):
    text = FAIL.format("invalid key")
    job = await asked(client, text, background=True)
    streamed = await asked(client, text, stream=True)

    assert (job.status_code, streamed.status_code) == (201, 200)
    [error] = [event for event in events_of(streamed.text) if event["type"] == "error"]
    assert error["code"] == "invalid_key"


def events_of(text: str) -> list[dict[str, Any]]:
    lines = (line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {"))
    return [json.loads(line) for line in lines]


async def test_a_waiting_retry_is_told_with_its_time(client, port, workbench):
    told: dict[str, Any] = {}
    api = f"ws://127.0.0.1:{port}/api/v1"
    async with one_run(workbench) as (run_id, live), connect(f"{api}/runs/{run_id}/stream") as it:
        while told.get("type") != "retry":
            told = json.loads(await it.recv())
        [waits] = [entry.event for entry in live.entries if entry.event.type == "model_failed"]
        assert (told["at"], told["code"]) == (waits.retry_at.isoformat(), "rate_limit")

    async with connect(f"{api}/ws/chat") as talk:
        await talk.send(json.dumps({"message": FAIL.format("rate limit")}))
        while told.get("type") != "error":
            told = json.loads(await talk.recv())
            if told["type"] == "retry":
                assert told["code"] == "rate_limit"
                [live] = workbench.runs.live_runs()
                live.control.retrying.decide(again=False)
        assert told["code"] == "rate_limit"


@asynccontextmanager
async def one_run(workbench: Workbench) -> AsyncIterator[tuple[str, Any]]:
    """A run that waits to be tried again, and is given up in the end."""
    session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
    live = await workbench.chat.send(session.id, FAIL.format("rate limit"), trigger=Trigger(kind="api_key"))
    try:
        await until(lambda: any(entry.event.type == "model_failed" for entry in live.entries))
        yield live.run_id, live
    finally:
        live.control.retrying.decide(again=False)
        await live.ended()


async def test_a_stream_that_is_silent_says_that_it_lives(workbench):
    assert QUIET_SECONDS == 10
    async with one_run(workbench) as (_, live), asyncio.timeout(30):
        async for piece in pieces(live, quiet=0.1):
            if isinstance(piece, Quiet):
                break


async def test_a_run_says_who_called_with_which_program(client, workbench):
    named = {"User-Agent": "n8n/1.2 \x07(workflow)"}
    run = (await client.post("/agents/assistant/run", json={"input": "hi"}, headers=named)).json()["data"]
    listed = (await client.get("/runs")).json()["data"][0]

    expected = {"kind": "api_key", "name": "", "program": "n8n/1.2 (workflow)"}
    assert run["trigger"] == listed["trigger"] == expected
    assert (await client.get(f"/runs/{run['run_id']}")).json()["data"]["trigger"] == expected
    trace = await workbench.runs.trace(run["run_id"])
    assert trace.entries[0].event.trigger.program == "n8n/1.2 (workflow)"


async def test_another_model_is_chosen_for_one_run(client):
    refused = await asked(client, "hi", model="nobody/model")
    run = (await asked(client, "What is 2 + 2?", model="demo")).json()["data"]
    job = (await asked(client, "What is 2 + 2?", model="demo", background=True)).json()["data"]

    assert (refused.status_code, "nobody" in refused.json()["error"]) == (422, True)
    for run_id in (run["run_id"], job["run_id"]):
        assert (await client.get(f"/runs/{run_id}")).json()["data"]["model"] in ("demo", "demo/agent")
