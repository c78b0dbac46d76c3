"""A run over a socket, through a real server; and who reads it too slowly."""

import asyncio
import json

import httpx
import pytest
from fastapi import WebSocket
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from app.api.following.live_text import LiveText
from app.api.following.sockets import TOO_SLOW, Gone, SocketWriter
from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from app.domain.streaming import Draft
from app.engine.run.run import Run
from tests.api.over import Counted, api_over, opened, served
from tests.waiting import until

SUM = "What is 5 + 10, then multiply by 3?"
STORY = "Tell me a long story"


async def begun(workbench, text: str) -> Run:
    session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
    return await workbench.chat.send(session.id, text)


def address(port: int, run_id: str, since: int = 0) -> str:
    return f"ws://127.0.0.1:{port}/api/v1/runs/{run_id}/stream?since={since}"


async def read(port: int, run_id: str, since: int = 0) -> list[dict]:
    async with connect(address(port, run_id, since)) as socket:
        return [json.loads(message) async for message in socket]


def entries_in(messages: list[dict]) -> list[dict]:
    return [
        {name: value for name, value in one.items() if name != "type"} for one in messages if one["type"] == "entry"
    ]


async def test_a_run_is_followed_to_its_end(workbench, port):
    live = await begun(workbench, SUM)
    messages = await asyncio.wait_for(read(port, live.run_id), 30)
    assert entries_in(messages) == [entry.model_dump(mode="json") for entry in live.entries]
    ids = {"runId": live.run_id, "sessionId": live.started.session_id}
    assert messages[-1] == {"type": "finish", **ids, "status": "completed"}
    deltas = [one for one in messages if one["type"] == "text-delta"]
    last = [one for one in deltas if one["id"] == deltas[-1]["id"]]
    text = ""
    for delta in last:
        assert delta["offset"] == len(text)
        text += delta["delta"]
    assert text == live.entries[-3].event.message.text


@pytest.mark.parametrize("text", [SUM, STORY])
async def test_who_connects_again_misses_nothing_and_gets_nothing_twice(workbench, port, text):
    live = await begun(workbench, text)
    seen: list[int] = []
    words = ""
    while live.alive:
        async with connect(address(port, live.run_id, len(seen))) as socket:
            fresh = True
            for _ in range(6):
                try:
                    message = json.loads(await asyncio.wait_for(socket.recv(), 30))
                except ConnectionClosed:
                    break
                if message["type"] == "entry":
                    seen.append(message["seq"])
                    words, fresh = "", False
                elif message["type"] == "text-delta":
                    words = message["delta"] if fresh else words + message["delta"]
                    assert message["offset"] + len(message["delta"]) == len(words)
                    fresh = False
        if text == STORY and len(words) > 100:
            live.stop()
            await live.ended()
    seen += [one["seq"] for one in await read(port, live.run_id, len(seen)) if one["type"] == "entry"]
    assert seen == list(range(len(live.entries)))


async def test_what_is_over_or_not_there_is_told(workbench, port, client):
    live = await begun(workbench, "What is 5 + 10?")
    await live.ended()
    count = len(live.entries)
    assert [one["seq"] for one in entries_in(await read(port, live.run_id, count - 2))] == [count - 2, count - 1]
    assert [one["type"] for one in await read(port, live.run_id, 10**9)] == ["finish"]
    for run_id, since, status in (("nowhere", 0, 404), (live.run_id, -1, 422)):
        with pytest.raises(InvalidStatus) as refused:
            await read(port, run_id, since)
        assert refused.value.response.status_code == status
        assert json.loads(refused.value.response.body)["success"] is False


async def test_who_hangs_up_is_noticed_and_the_run_goes_on(app, workbench):
    counted = Counted(app)
    agent = new_agent("Asks", PromptBehaviour(tools=(ToolChoice(name="calculator", policy="ask"),)), taken_slugs=())
    session = await workbench.chat.new_session((await workbench.agents.create(agent)).id)
    live = await workbench.chat.send(session.id, SUM)
    await until(lambda: live.control.waits)
    async with served(counted) as port:
        async with connect(address(port, live.run_id)) as socket:
            await socket.recv()
            await socket.send("whatever")
            await socket.recv()
            assert counted.inside == 1
        await until(lambda: not counted.inside, seconds=3)
    assert live.status == "paused"


async def test_a_run_of_an_earlier_start_is_followed_from_any_number_on(workbench, tmp_path):
    live = await begun(workbench, SUM)
    await live.ended()
    await workbench.close()
    again = opened(tmp_path)
    try:
        async with served(api_over(again)) as port:
            for since in (0, 3, len(live.entries) - 1):
                messages = await read(port, live.run_id, since)
                assert [one["seq"] for one in entries_in(messages)] == list(range(since, len(live.entries)))
                assert (messages[-1]["type"], messages[-1]["status"]) == ("finish", "completed")
    finally:
        await again.close()


async def test_who_never_reads_is_sent_away_in_words():
    sent: list[dict] = []

    async def never_leaves(message: dict) -> None:
        if message["type"] == "websocket.send":
            await asyncio.Event().wait()
        sent.append(message)

    async def connected() -> dict:
        return {"type": "websocket.connect"}

    socket = WebSocket({"type": "websocket", "path": "/", "headers": []}, connected, never_leaves)
    await socket.accept()
    writer = SocketWriter(socket, patience=0.02)
    with pytest.raises(Gone):
        await writer.send({"type": "entry"})
    await writer.send_away()
    assert (sent[-1]["code"], "too slowly" in sent[-1]["reason"]) == (TOO_SLOW, True)
    assert len(sent[-1]["reason"].encode()) <= 123


async def test_a_reader_who_stalls_holds_up_nobody(workbench, port, client):
    """The server makes the stream wait: what is not read is not made, and everybody else is served."""
    _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
    live = await begun(workbench, STORY)
    key = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    path = f"/api/v1/runs/{live.run_id}/stream"
    writer.write(f"GET {path} HTTP/1.1\r\nHost: here\r\n{key}Sec-WebSocket-Version: 13\r\n\r\n".encode())
    assert (await client.get("/agents")).status_code == 200
    assert (await client.post(f"/runs/{live.run_id}/stop")).json()["data"]["status"] == "cancelled"
    writer.close()


def test_text_that_was_told_is_not_told_again():
    text = LiveText()
    assert [piece.text for piece in text.news(Draft("Hel"))] == ["Hel"]
    assert [(piece.offset, piece.text) for piece in text.news(Draft("Hello"))] == [(3, "lo")]
    assert text.news(Draft("Hello")) == []


async def test_an_unknown_socket_is_not_there(port):
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"http://127.0.0.1:{port}/api/v1/nothing")).status_code == 404
    with pytest.raises(InvalidStatus):
        await connect(f"ws://127.0.0.1:{port}/api/v1/nothing")
