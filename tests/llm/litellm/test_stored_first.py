"""Nothing leaves for a provider before what was said is on disk."""

import asyncio
from dataclasses import replace

import pytest

from app.domain.errors import StorageError
from app.domain.messages import user_message
from app.domain.streaming import ModelRequest, Reply
from app.llm.litellm.direct import SWITCH
from tests.fakes.openai import FakeOpenAI
from tests.llm.calling import model

ROUTES = pytest.mark.parametrize("route", ["direct", "litellm"])
ASKED = ModelRequest("openai/ok", (user_message("hi"),))


async def asked(url: str, request: ModelRequest) -> str:
    items = [item async for item in model("openai/ok", url).stream(request)]
    assert isinstance(items[-1], Reply)
    return items[-1].message.text


@ROUTES
async def test_a_request_waits_ready_until_what_came_before_is_stored(route: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(SWITCH, route)
    ready, stored = asyncio.Event(), asyncio.Event()

    async def is_stored() -> None:
        ready.set()
        await stored.wait()

    async with FakeOpenAI() as fake:
        answer = asyncio.create_task(asked(fake.url, replace(ASKED, stored=is_stored)))
        await asyncio.wait_for(ready.wait(), 30)
        assert not fake.seen.bodies
        stored.set()
        assert await answer == "Hello world"
        assert len(fake.seen.bodies) == 1


@ROUTES
async def test_what_cannot_be_stored_is_not_asked(route: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(SWITCH, route)

    async def full() -> None:
        raise StorageError("The disk is full.")

    async with FakeOpenAI() as fake:
        with pytest.raises(StorageError, match="full"):
            await asked(fake.url, replace(ASKED, stored=full))
        assert not fake.seen.bodies
