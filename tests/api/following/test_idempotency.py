"""A POST that is sent again is answered as the first time, also by an app that was started again."""

import json
from pathlib import Path

import httpx
import pytest

from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from app.domain.trace import RunFilter, open_pauses
from app.workbench import Workbench
from tests.api.over import api_over, opened
from tests.rights_world import APPROVING, LIMITED, NOBODY, Who, opened_world
from tests.waiting import until

BODY = {"input": "What is 2 + 2?"}
KEY = {"Idempotency-Key": "8e03978e-40d5-43dd-bc93-6894a57f9324"}
SUM = "What is 5 + 10?"
MESSAGES = [{"role": "user", "content": SUM}]


async def post(workbench: Workbench, body: dict[str, object], **headers: str) -> httpx.Response:
    transport = httpx.ASGITransport(app=api_over(workbench))
    async with httpx.AsyncClient(transport=transport, base_url="http://here/api/v1", timeout=30) as client:
        return await client.post("/agents/assistant/run", json=body, headers=KEY | headers)


async def started(folder: Path) -> Workbench:
    workbench = opened(folder)
    await workbench.start()
    return workbench


async def test_a_run_is_answered_again_after_a_restart(tmp_path: Path):
    workbench = await started(tmp_path)
    try:
        first = await post(workbench, BODY)
        assert first.json()["data"]["status"] == "completed"
        assert (await post(workbench, BODY)).json() == first.json()
        conflict = await post(workbench, {"input": "something else"})
        assert (conflict.status_code, conflict.json()["code"]) == (409, "conflict")
    finally:
        await workbench.close()
    workbench = await started(tmp_path)
    try:
        assert (await post(workbench, BODY)).json() == first.json()
        assert (await workbench.runs.lists.page(RunFilter())).total == 1
    finally:
        await workbench.close()


async def test_a_stream_is_told_again(tmp_path: Path):
    workbench = await started(tmp_path)
    try:
        first = await post(workbench, BODY | {"stream": True})
        again = await post(workbench, BODY | {"stream": True})
        finish = "event: finish"
        assert first.text.count(finish) == again.text.count(finish) == 1
        assert first.text[first.text.index(finish) :] == again.text[again.text.index(finish) :]
    finally:
        await workbench.close()


async def test_without_a_key_there_is_none_and_each_key_has_its_own(tmp_path: Path):
    async with opened_world(tmp_path) as world:

        async def ask(who: Who, said: str) -> httpx.Response:
            path, headers = f"/api/v1/agents/{who.agent}/run", world.shown(who) | KEY
            return await world.client.post(path, json={"input": said}, headers=headers)

        refused = await ask(NOBODY, "For my eyes only")
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        assert "Leave it out" in refused.json()["error"]
        assert world.workbench.rows.find(RunFilter()).total == 0
        mine, others = await ask(LIMITED, "Hello"), await ask(APPROVING, "Hello")
        assert mine.json()["data"]["run_id"] != others.json()["data"]["run_id"]
        assert (await ask(LIMITED, "Hello")).json() == mine.json()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/v1/agents/asks/run", {"input": SUM}),
        ("/api/v1/chat", {"agent": "asks", "message": SUM}),
        ("/v1/chat/completions", {"model": "asks", "messages": MESSAGES}),
        ("/v1/chat/completions", {"model": "asks", "messages": MESSAGES, "stream": True}),
        ("/v1/responses", {"model": "asks", "input": SUM}),
        ("/v1/responses", {"model": "asks", "input": SUM, "stream": True}),
    ],
)
async def test_what_was_decided_meanwhile_stops_no_answer(unhurried: Workbench, path: str, body: dict[str, object]):
    behaviour = PromptBehaviour(tools=(ToolChoice(name="calculator", policy="ask"),))
    await unhurried.agents.create(new_agent("Asks", behaviour, taken_slugs=unhurried.agents.slugs()))
    transport = httpx.ASGITransport(app=api_over(unhurried))
    async with httpx.AsyncClient(transport=transport, base_url="http://here", timeout=30, headers=KEY) as client:
        assert "**15**" not in answer_of(await client.post(path, json=body))
        [live] = unhurried.runs.live_runs()
        await until(lambda: live.control.waits)
        [pause] = open_pauses(live.entries)
        await client.post(f"/api/v1/runs/{live.run_id}/pauses/{pause.pause_id}", json={"decision": "approve"})
        await until(lambda: not open_pauses(live.entries))
        while_it_goes_on = answer_of(await client.post(path, json=body))
        assert "**15**" in while_it_goes_on
        assert answer_of(await client.post(path, json=body)) == while_it_goes_on


def answer_of(reply: httpx.Response) -> str:
    """What a client shows of it."""
    if "event-stream" not in reply.headers["content-type"]:
        told = reply.json()
        return str(told.get("choices") or told.get("output") or told.get("data"))
    lines = (line.removeprefix("data: ") for line in reply.text.splitlines() if line.startswith("data: {"))
    events = [json.loads(line) for line in lines]
    if "response" in events[-1]:
        return str(events[-1]["response"]["output"])
    return "".join(event["choices"][0]["delta"].get("content", "") for event in events if event.get("choices"))
