"""So many runs a minute and so many at once, and never fewer pages for it."""

import asyncio
from collections import Counter

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from app.api.door.caller import ANYONE, CALLER, OWNER, Caller, with_key
from app.api.door.guests import WorkbenchGuests
from app.api.door.rate import AT_ONCE, OF_A_KEY, OF_ANYONE, RunLimits
from app.api.door.security import Door
from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from app.domain.keys import ApiKey
from app.domain.provenance import Trigger
from app.domain.values import now
from app.workbench import Workbench
from tests.api.over import api_over
from tests.waiting import until

RUN = "/api/v1/agents/a/run"
KEY = with_key(ApiKey(id="1", name="n8n", secret_digest="", last_four="", created_at=now()))
OTHER = with_key(ApiKey(id="2", name="other", secret_digest="", last_four="", created_at=now()))


class House:
    """Answers when it is let to, behind the limits, at a time that is set."""

    def __init__(self) -> None:
        self.time = 0.0
        self.going_on: list[Trigger] = []
        self.waiting: list[Trigger] = []
        self.open = asyncio.Event()
        self.open.set()
        self.inside = 0
        self.full = asyncio.Event()
        self.limits = RunLimits(self.answer, lambda: self.going_on, lambda: self.waiting, lambda: self.time)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.inside += 1
        if self.inside == OF_A_KEY.at_once:
            self.full.set()
        await self.open.wait()
        await PlainTextResponse("done")(scope, receive, send)

    async def ask(self, caller: Caller, path: str = RUN) -> httpx.Response:
        async def let_in(scope: Scope, receive: Receive, send: Send) -> None:
            await self.limits({**scope, CALLER: caller}, receive, send)

        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=let_in), base_url="http://here") as client:
            return await client.post(path)

    async def many(self, number: int, caller: Caller, path: str = RUN) -> Counter[int]:
        answers = await asyncio.gather(*(self.ask(caller, path) for _ in range(number)))
        return Counter(answer.status_code for answer in answers)


@pytest.fixture
async def house() -> House:
    return House()


@pytest.mark.parametrize(("caller", "a_minute"), [(KEY, OF_A_KEY.a_minute), (ANYONE, OF_ANYONE.a_minute)])
async def test_a_caller_starts_so_many_runs_a_minute(house: House, caller: Caller, a_minute: int):
    for _ in range(a_minute):
        assert (await house.ask(caller)).status_code == 200
    refused = await house.ask(caller)
    assert (refused.status_code, refused.json()["code"]) == (429, "limit")
    assert f"{a_minute} runs a minute is the most" in refused.json()["error"]
    assert int(refused.headers["retry-after"]) >= 1
    house.time += int(refused.headers["retry-after"])
    assert (await house.ask(caller)).status_code == 200
    assert (await house.ask(OTHER)).status_code == 200
    assert (await house.ask(OWNER)).status_code == 200


async def test_so_many_runs_go_on_at_once_for_a_key(house: House):
    house.open.clear()
    asking = asyncio.create_task(house.many(OF_A_KEY.at_once, KEY))
    await house.full.wait()
    refused = await asyncio.wait_for(house.ask(KEY), 30)
    assert refused.status_code == 429 and f"{OF_A_KEY.at_once} runs are going on" in refused.json()["error"]
    house.open.set()
    assert await asking == {200: OF_A_KEY.at_once}
    assert (await house.ask(KEY)).status_code == 200


async def test_runs_that_outlived_their_requests_count(house: House):
    house.going_on = [KEY.by(f"curl/{number}").trigger for number in range(OF_A_KEY.at_once)]
    assert (await house.ask(KEY)).status_code == 429
    assert (await house.ask(OTHER)).status_code == 200
    house.going_on += [OTHER.trigger] * (AT_ONCE - OF_A_KEY.at_once)
    assert (await house.ask(ANYONE)).status_code == 429
    assert (await house.ask(OWNER)).status_code == 429


async def test_runs_that_wait_for_a_person_take_no_place_until_they_are_very_many(house: House):
    house.waiting = [ANYONE.trigger] * OF_ANYONE.at_once + [KEY.trigger] * OF_A_KEY.waiting
    assert (await house.ask(ANYONE)).status_code == 200
    assert (await house.ask(OTHER)).status_code == 200
    assert (await house.ask(OWNER)).status_code == 200
    refused = await house.ask(KEY)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
    assert f"{OF_A_KEY.waiting:,} runs wait for a person already" in refused.json()["error"]


async def test_guests_are_answered_while_runs_of_guests_wait_for_the_owner(workbench: Workbench):
    behaviour = PromptBehaviour(tools=(ToolChoice(name="calculator", policy="ask"),))
    asks = new_agent("Asks", behaviour, taken_slugs=workbench.agents.slugs())
    await workbench.agents.create(asks.model_copy(update={"is_public": True}))
    door = Door(api_over(workbench), port=8765, token="t" * 43, guests=WorkbenchGuests(workbench))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=door), base_url="http://127.0.0.1:8765") as client:
        for _ in range(OF_ANYONE.at_once + 1):
            answer = await client.post(f"/api/v1/agents/{asks.slug}/run", json={"input": "What is 5 + 10?"}, timeout=30)
            assert (answer.status_code, answer.json()["data"]["status"]) == (200, "paused")


async def test_a_stream_that_tells_of_a_run_takes_no_second_place(house: House):
    telling, release = [], asyncio.Event()

    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        telling.append(True)
        await release.wait()
        await send({"type": "http.response.body", "body": b""})

    house.limits = RunLimits(stream, lambda: house.going_on, lambda: house.waiting, lambda: house.time)
    streams = asyncio.create_task(house.many(OF_ANYONE.at_once, ANYONE))
    await until(lambda: len(telling) == OF_ANYONE.at_once)
    house.waiting = [ANYONE.trigger] * OF_ANYONE.at_once
    one_more = asyncio.create_task(house.ask(ANYONE))
    await until(lambda: len(telling) > OF_ANYONE.at_once or one_more.done())
    release.set()
    assert (await one_more).status_code == 200
    assert await streams == {200: OF_ANYONE.at_once}


async def test_runs_of_pages_take_nobodys_place(house: House):
    house.going_on = [Trigger(kind="page"), Trigger(kind="terminal"), Trigger(kind="job")] * AT_ONCE
    assert (await house.ask(ANYONE)).status_code == 200


async def test_what_starts_no_run_is_not_counted(house: House):
    house.going_on = [KEY.trigger] * AT_ONCE
    for path in ("/api/v1/runs/x/stop", "/api/v1/runs", "/v1/models", "/uploads/x", "/api/v1/uploads"):
        assert (await house.ask(KEY, path)).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        RUN,
        "/api/v1/workflows/a/run",
        "/api/v1/chat",
        "/api/v1/runs/x/retry",
        "/api/v1/runs/x/nodes",
        "/api/v1/sessions/x/queue",
        "/v1/chat/completions",
        "/v1/responses",
    ],
)
async def test_every_way_to_start_a_run_is_counted(house: House, path: str):
    house.going_on = [KEY.trigger] * OF_A_KEY.at_once
    refused = await house.ask(KEY, path)
    assert refused.status_code == 429
    if path.startswith("/v1/"):
        assert refused.json()["error"]["type"] == "rate_limit_error"
