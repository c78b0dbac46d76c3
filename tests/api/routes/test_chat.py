"""REST and the socket for just talking, over a real workbench with the demo model."""

import asyncio
import json

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from app.api.door.rate import AT_ONCE, RunLimits
from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from app.domain.provenance import Trigger
from tests.api.over import Counted, served
from tests.waiting import until

SUM = "What is 5 + 10, then multiply by 3?"
SHORT = "What is 5 + 10?"


async def test_a_message_is_answered_and_its_session_goes_on(client, workbench):
    first = (await client.post("/chat", json={"message": SHORT})).json()["data"]
    assert "15" in first["response"] and (first["status"], first["error"]) == ("completed", None)
    body = {"message": SHORT, "session": first["session_id"]}
    second = (await client.post("/chat", json=body)).json()["data"]
    assert workbench.sessions.get(first["session_id"]).runs == (first["run_id"], second["run_id"])


async def test_a_message_goes_on_behind_a_run_elsewhere_in_its_session(client, workbench):
    async def said(**body):
        return (await client.post("/chat", json={"message": SHORT, **body})).json()["data"]

    first = await said()
    second = await said(session=first["session_id"])
    beside = await said(session=first["session_id"], after=first["run_id"])
    behind_second = await said(after=second["run_id"])
    path = workbench.sessions.get(first["session_id"]).runs
    assert path == (first["run_id"], second["run_id"], behind_second["run_id"])
    row = (await client.get(f"/runs/{beside['run_id']}")).json()["data"]
    assert (row["follows"], beside["session_id"]) == (first["run_id"], first["session_id"])
    elsewhere = await said()
    for body, status in (
        ({"after": "nowhere"}, 404),
        ({"session": first["session_id"], "after": "nowhere"}, 404),
        ({"session": first["session_id"], "after": elsewhere["run_id"]}, 422),
    ):
        answer = await client.post("/chat", json={"message": SHORT, **body})
        assert answer.status_code == status, answer.text


async def test_agent_and_model_are_chosen(client, workbench):
    await client.post("/agents", json={"name": "Other"})
    reply = (await client.post("/chat", json={"message": "hi", "agent": "other", "model": "demo/agent"})).json()["data"]
    session = workbench.sessions.get(reply["session_id"])
    assert (session.agent_slug, session.model) == ("other", "demo/agent")
    for body, status in (
        ({"message": "hi", "agent": "nobody"}, 404),
        ({"message": "hi", "model": "nobody/nothing"}, 422),
        ({"message": "hi", "session": "nowhere"}, 404),
        ({"message": " "}, 422),
        ({"message": 5}, 422),
        ({}, 422),
        ({"message": "x" * 200_001}, 413),
    ):
        assert (await client.post("/chat", json=body)).status_code == status, body


async def test_each_step_comes_over_the_socket_as_it_happens(workbench, port):
    async with connect(f"ws://127.0.0.1:{port}/api/v1/ws/chat") as socket:
        await socket.send(json.dumps({"message": SUM}))
        steps = [json.loads(await asyncio.wait_for(socket.recv(), 30)) for _ in range(8)]
        kinds = ["agent-thought", "tool-call", "tool-result"]
        assert [step["type"] for step in steps] == ["user-request", *kinds, *kinds, "agent-response"]
        params = {"operation": "add", "x": 5, "y": 10}
        assert steps[2] == {"type": "tool-call", "toolName": "calculator", "params": params}
        assert steps[3] == {"type": "tool-result", "toolName": "calculator", "result": "5 + 10 = 15"}
        assert "45" in steps[-1]["content"]
        await socket.send(json.dumps({"message": SHORT}))
        assert json.loads(await socket.recv()) == {"type": "user-request", "content": SHORT}
    (session,) = workbench.sessions.recent()
    assert len(session.runs) == 2


async def test_what_goes_wrong_is_told_and_the_socket_stays_open(workbench, port):
    async with connect(f"ws://127.0.0.1:{port}/api/v1/ws/chat") as socket:
        wrong = (
            "hello",
            "[]",
            "{}",
            '{"message": ""}',
            '{"message": "\\ud800"}',
            '{"message": "x", "agent": "nobody"}',
        )
        for text in wrong:
            await socket.send(text)
            told = json.loads(await asyncio.wait_for(socket.recv(), 30))
            assert told["type"] == "error" and told["message"], text
        await socket.send(json.dumps({"message": "Fail with invalid key"}))
        kinds = [json.loads(await asyncio.wait_for(socket.recv(), 30)) for _ in range(2)]
        assert [one["type"] for one in kinds] == ["user-request", "error"] and "key" in kinds[1]["message"]
        await socket.send(b"bytes")
        with pytest.raises(ConnectionClosed):
            await asyncio.wait_for(socket.recv(), 30)


async def test_a_message_that_is_sent_again_is_answered_as_before(client, workbench):
    key = {"Idempotency-Key": "8e03978e"}
    first, again = [(await client.post("/chat", json={"message": SHORT}, headers=key)).json() for _ in range(2)]
    assert first == again and first["data"]["status"] == "completed"
    assert (await client.post("/chat", json={"message": SUM}, headers=key)).status_code == 409
    assert len(workbench.sessions.get(first["data"]["session_id"]).runs) == workbench.sessions.count() == 1


async def test_messages_over_a_socket_are_held_to_the_limits_of_runs(app, workbench):
    going_on = [Trigger(kind="api_key")] * AT_ONCE
    async with (
        served(RunLimits(app, lambda: going_on, list)) as port,
        connect(f"ws://127.0.0.1:{port}/api/v1/ws/chat") as socket,
    ):
        await socket.send(json.dumps({"message": SHORT}))
        told = json.loads(await asyncio.wait_for(socket.recv(), 30))
        assert told["type"] == "error" and f"{AT_ONCE} runs are going on" in told["message"]
        assert workbench.sessions.count() == 0
        going_on.clear()
        await socket.send(json.dumps({"message": SHORT}))
        assert json.loads(await asyncio.wait_for(socket.recv(), 30))["type"] == "user-request"


async def test_a_run_goes_on_when_its_socket_is_closed(workbench, port):
    async with connect(f"ws://127.0.0.1:{port}/api/v1/ws/chat") as socket:
        await socket.send(json.dumps({"message": SUM}))
        await socket.recv()
        (live,) = workbench.runs.live_runs()
    await live.ended()
    assert live.status == "completed"


async def test_who_hangs_up_while_the_agent_waits_is_noticed(app, workbench):
    counted = Counted(app)
    agent = new_agent("Asks", PromptBehaviour(tools=(ToolChoice(name="calculator", policy="ask"),)), taken_slugs=())
    await workbench.agents.create(agent)
    async with served(counted) as port:
        async with connect(f"ws://127.0.0.1:{port}/api/v1/ws/chat") as socket:
            await socket.send(json.dumps({"message": SUM, "agent": "asks"}))
            while json.loads(await asyncio.wait_for(socket.recv(), 30))["type"] != "pause-requested":
                assert counted.inside == 1
        await until(lambda: not counted.inside, seconds=3)
    assert [live.status for live in workbench.runs.live_runs()] == ["paused"]
