"""REST for running an agent, over a real workbench with the demo model."""

import asyncio
import json

from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from tests.waiting import until

SUM = "What is 5 + 10, then multiply by 3?"
SHORT = "What is 5 + 10?"


def events_of(text: str) -> list[tuple[str, dict]]:
    """Name and data of each server-sent event but `[DONE]`, which has to be the last."""
    blocks = [block.split("\n") for block in text.strip().split("\n\n") if not block.startswith(":")]
    assert blocks.pop() == ["data: [DONE]"]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


async def test_a_run_is_answered_with_its_steps_and_metrics(client):
    reply = await client.post("/agents/assistant/run", json={"input": SUM})
    assert reply.status_code == 200
    run = reply.json()["data"]
    assert run["status"] == "completed" and "45" in run["output_text"]
    assert run["output"] == {"result": run["output_text"]}
    shown = [(s["step"], s["tool"], s["action"], s["input"], s["output"], s["error"]) for s in run["steps"]]
    assert shown == [
        (1, "calculator", "invoke", {"operation": "add", "x": 5, "y": 10}, "5 + 10 = 15", None),
        (2, "calculator", "invoke", {"operation": "multiply", "x": 15, "y": 3}, "15 * 3 = 45", None),
    ]
    assert run["metrics"]["total_steps"] == 2 and run["metrics"]["tokens_input"] > 0
    assert run["metrics"]["cost_usd"] == 0 and run["metrics"]["duration_ms"] > 0


async def test_data_and_variables_reach_the_agent(client, workbench):
    await client.put("/agents/assistant", json={"system_prompt": "You help {{customer}}, aged {{age}}."})
    body = {"input": "Sum up", "data": [{"x": 1.5, "ö": None}], "variables": {"customer": "Ada", "age": 36}}
    run = (await client.post("/agents/assistant/run", json=body)).json()["data"]
    trace = await workbench.runs.trace(run["run_id"])
    assert trace.entries[0].event.system.text == "You help Ada, aged 36."
    assert trace.entries[1].event.message.text == 'Sum up\n\nData:\n[{"x":1.5,"ö":null}]'
    assert trace.entries[0].event.purpose == "api" and trace.entries[0].event.trigger.kind == "api_key"
    unknown = await client.post("/agents/assistant/run", json={"input": "hi", "variables": {"colour": "red"}})
    assert unknown.status_code == 422 and "customer" in unknown.json()["error"]


async def test_a_variant_and_a_session_are_chosen(client, workbench):
    await client.post("/agents/assistant/variants", json={"system_prompt": "Be brief."})
    first = (await client.post("/agents/assistant/run", json={"input": SHORT, "variant": 2})).json()["data"]
    body = {"input": SHORT, "session": first["session_id"]}
    second = (await client.post("/agents/assistant/run", json=body)).json()["data"]
    assert second["session_id"] == first["session_id"]
    session = workbench.sessions.get(first["session_id"])
    assert session.runs == (first["run_id"], second["run_id"]) and session.variant == 2
    other = await client.post("/agents", json={"name": "Other"})
    assert other.status_code == 201
    for path, wanted, status in (
        ("assistant", {"session": "nowhere"}, 404),
        ("assistant", {"variant": 9}, 404),
        ("other", {"session": first["session_id"]}, 422),
        ("assistant", {"session": first["session_id"], "variant": 9}, 404),
    ):
        reply = await client.post(f"/agents/{path}/run", json={"input": "hi"} | wanted)
        assert reply.status_code == status, reply.text
    await workbench.sessions.delete(first["session_id"])
    assert (await client.post("/agents/assistant/run", json=body)).status_code == 404


async def test_two_runs_of_one_session_do_not_go_on_at_once(client, workbench):
    session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
    live = await workbench.chat.send(session.id, "Tell me a long story")
    reply = await client.post("/agents/assistant/run", json={"input": "hi", "session": session.id})
    assert (reply.status_code, reply.json()["code"]) == (409, "conflict")
    live.stop()


async def test_a_streamed_run_is_told_in_events(client, workbench):
    reply = await client.post("/agents/assistant/run", json={"input": SUM, "stream": True})
    assert reply.headers["content-type"].startswith("text/event-stream")
    events = events_of(reply.text)
    assert all(data["type"] == name for name, data in events)
    tools = [(name, data) for name, data in events if name.startswith("tool")]
    assert [name for name, _ in tools] == ["tool-input-available", "tool-output-available"] * 2
    asked, told = tools[0][1], tools[1][1]
    assert (asked["toolName"], asked["input"]["x"], told["output"], told["error"]) == (
        "calculator",
        5,
        "5 + 10 = 15",
        None,
    )
    assert asked["toolCallId"] == told["toolCallId"]
    finish = events[-1][1]
    run = (await client.get(f"/runs/{finish['runId']}")).json()["data"]
    assert finish == {"type": "finish", "runId": run["id"], "sessionId": run["session_id"], "status": "completed"}
    ids = dict.fromkeys(data["id"] for name, data in events if name == "text-delta")
    texts = ["".join(d["delta"] for n, d in events if n == "text-delta" and d["id"] == one) for one in ids]
    assert texts[-1] == run["output_text"] and len(texts) == len(set(ids))
    assert any(name == "reasoning-delta" for name, _ in events)


async def test_a_streamed_run_that_fails_says_why(client):
    reply = await client.post("/agents/assistant/run", json={"input": "Fail with invalid key", "stream": True})
    (_, error), (_, finish) = events_of(reply.text)[-2:]
    assert error["type"] == "error" and "key" in error["errorText"]
    assert finish["status"] == "failed"
    whole = (await client.post("/agents/assistant/run", json={"input": "Fail with invalid key"})).json()["data"]
    assert whole["status"] == "failed" and whole["error"] == error["errorText"]


async def test_a_run_in_the_background_is_answered_at_once(client, workbench):
    reply = await client.post("/agents/assistant/run", json={"input": SUM, "background": True})
    assert reply.status_code == 201
    run = reply.json()["data"]
    assert run["status"] == "running"
    live = workbench.runs.live(run["run_id"])
    assert live.started.background
    await live.ended()
    assert (await client.get(f"/runs/{run['run_id']}")).json()["data"]["status"] == "completed"
    for more in ({"stream": True}, {"session": run["session_id"]}):
        assert (
            await client.post("/agents/assistant/run", json={"input": SUM, "background": True} | more)
        ).status_code == 422


async def test_a_run_that_waits_for_a_person_is_answered_as_paused(client, workbench):
    behaviour = PromptBehaviour(tools=(ToolChoice(name="calculator", policy="ask"),))
    await workbench.agents.create(new_agent("Asks", behaviour, taken_slugs=()))
    run = (await asyncio.wait_for(client.post("/agents/asks/run", json={"input": SHORT}), 30)).json()["data"]
    assert run["status"] == "paused"
    (pause,) = run["pauses"]
    assert (pause["reason"], pause["tool"], pause["arguments"]["x"]) == ("approval", "calculator", 5)
    live = workbench.runs.live(run["run_id"])
    await until(lambda: live.control.waits)
    decided = await client.post(f"/runs/{run['run_id']}/pauses/{pause['pause_id']}", json={"decision": "approve"})
    assert decided.status_code == 200
    await live.ended()
    assert (await client.get(f"/runs/{run['run_id']}")).json()["data"]["status"] == "completed"


async def test_a_run_goes_on_when_who_asked_hangs_up(client, workbench, port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps({"input": SUM, "stream": True}).encode()
    head = "POST /api/v1/agents/assistant/run HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
    writer.write(head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
    await reader.readuntil(b"reasoning-delta")
    (live,) = workbench.runs.live_runs()
    writer.close()
    await live.ended()
    assert live.status == "completed"
