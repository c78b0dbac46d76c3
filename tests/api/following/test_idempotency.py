"""A POST that is sent again is answered as the first time, also by an app that was started again."""

from pathlib import Path

import httpx

from app.domain.trace import RunFilter
from app.workbench import Workbench
from tests.api.over import api_over, opened
from tests.rights_world import APPROVING, LIMITED, NOBODY, Who, opened_world

BODY = {"input": "What is 2 + 2?"}
KEY = {"Idempotency-Key": "8e03978e-40d5-43dd-bc93-6894a57f9324"}


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
