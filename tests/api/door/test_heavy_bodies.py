"""Bodies that are small to send and slow to read: nobody stops the event loop with one for long."""

import asyncio
import contextlib
import gc
import json
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import TypeVar

import httpx
import pytest
from websockets.asyncio.client import connect

from app.api.door.strict_json import MOST_GROUPS, MOST_VALUES, check_shape
from app.domain.errors import TooLarge
from tests.processor import at_work
from tests.rights_world import LIMITED, NOBODY, OWNER, WHOLE, Who, World, opened_world

T = TypeVar("T")
MEGABYTE = 1024 * 1024
LISTS = b"[" + b",".join([b"[]"] * 3_000_000) + b"]"
"""Nine megabytes."""
LONGEST = 0.1
"""Seconds of work for which the loop may stop."""


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with opened_world(tmp_path) as world:
        await post(world, OWNER, b"{}", agent="nobody")  # what the first request of all imports is not measured
        gc.freeze()  # as the app does once it is up: what is loaded is not looked through with what is read
        yield world


async def longest_stop(work: Awaitable[T]) -> tuple[T, float]:
    """What came of it, and the most processor time, in seconds, that the loop's thread took in one go meanwhile."""
    longest = 0.0

    async def look() -> None:
        nonlocal longest
        while True:
            with at_work() as turn:
                await asyncio.sleep(0)
            longest = max(longest, turn.seconds)

    looking = asyncio.create_task(look())
    try:
        return await work, longest
    finally:
        looking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await looking


async def post(world: World, who: Who, content: bytes, *, agent: str = "") -> httpx.Response:
    path = f"/api/v1/agents/{agent or who.agent}/run"
    return await world.client.post(path, content=content, headers=world.shown(who))


def with_data(data: bytes) -> bytes:
    return b'{"input": "Hello", "data": %b}' % data


def lists(number: int) -> bytes:
    return b"[" + b",".join([b"[]"] * (number - 1)) + b"]"


@pytest.mark.parametrize("who", [NOBODY, LIMITED, WHOLE, OWNER], ids=lambda who: who.name)
async def test_many_lists_are_refused_before_they_are_read(world: World, who: Who):
    answer, longest = await longest_stop(post(world, who, with_data(LISTS)))
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert ("values" if who is OWNER else "1 MiB") in answer.json()["error"]
    assert longest < LONGEST


@pytest.mark.parametrize(
    "data",
    [
        lists(MOST_GROUPS - 1),
        b"[" + b",".join([b"[" * 100 + b"]" * 100] * (MOST_GROUPS // 100 - 1)) + b"]",
        b"[" + b",".join(b'{"%d":1}' % number for number in range(MOST_GROUPS - 2)) + b"]",
        b"[" + b"0," * (MOST_VALUES - 2) + b"0]",
        b"{" + b",".join(b'"%d":0' % number for number in range(MOST_VALUES - 2)) + b"}",
    ],
    ids=["lists", "deep lists", "objects", "numbers", "one object"],
)
async def test_the_most_that_is_read_takes_the_loop_no_longer(world: World, data: bytes):
    answer, longest = await longest_stop(post(world, OWNER, with_data(data), agent="nobody"))
    assert answer.status_code == 404  # it was read, and no run began
    assert longest < LONGEST


@pytest.mark.parametrize("data", [lists(MOST_GROUPS + 1), b"[" + b"0," * (MOST_VALUES + 1) + b"0]", b'["",' * 50_000])
def test_one_more_is_refused(data: bytes):
    with pytest.raises(TooLarge, match="100,000 values, or 40,000 lists"):
        check_shape(with_data(data))


def test_the_commas_and_brackets_of_texts_do_not_count():
    table = json.dumps("a,b,[c],{d}\n" * 20_000 + '"quoted", \\ and \\"' * 20_000).encode()
    assert table.count(b",") > MOST_VALUES or table.count(b"[") + table.count(b"{") > MOST_GROUPS / 2
    check_shape(with_data(table))
    check_shape(with_data(table) * 3)
    with pytest.raises(TooLarge):
        check_shape(with_data(b"[%b, %b]" % (table, LISTS)))


async def test_a_long_text_of_commas_is_a_message_as_any_other(world: World):
    answer = await post(world, LIMITED, json.dumps({"input": "1," * 99_000}).encode())
    assert answer.status_code == 200 and answer.json()["data"]["status"] == "completed"


async def test_only_the_owner_sends_more_than_a_megabyte_but_for_pictures_to_a_model(world: World):
    more = json.dumps({"input": "x" * MEGABYTE}).encode()
    for who, words in (
        (NOBODY, "At most 1 MiB"),
        (LIMITED, "At most 1 MiB"),
        (WHOLE, "At most 1 MiB"),
        (OWNER, "200,000"),
    ):
        answer = await post(world, who, more)
        assert answer.status_code == 413 and words in answer.json()["error"]
    said = {"model": "mine", "messages": [{"role": "user", "content": "x" * MEGABYTE}]}
    as_model = await world.client.post("/v1/chat/completions", json=said, headers=world.shown(LIMITED))
    assert as_model.status_code == 413 and "200,000" in as_model.json()["error"]["message"]


async def test_a_client_of_openai_and_a_socket_are_told_so_too(world: World):
    body = b'{"model": "mine", "messages": [{"role": "user", "content": "x"}], "more": %b}' % LISTS
    asked = world.client.post("/v1/chat/completions", content=body, headers=world.shown(LIMITED))
    answer, longest = await longest_stop(asked)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
    assert longest < LONGEST
    address = f"ws://127.0.0.1:{world.port}/api/v1/ws/chat"
    async with asyncio.timeout(30), connect(address, additional_headers=world.shown(LIMITED)) as socket:
        await socket.send((b'{"message": "x", "more": %b}' % LISTS).decode())
        assert "100,000 values" in json.loads(await socket.recv())["message"]
