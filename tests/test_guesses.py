"""Guests and keys that guess: neither a mark nor the way in which an answer comes tells them what is secret."""

import json
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from app.api.door.guests import WorkbenchGuests
from app.api.door.security import Door
from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from app.domain.tool_settings import HttpTool
from app.workbench import Workbench
from tests.api.over import api_over, opened, served
from tests.app_process import free_port
from tests.fakes.parrot import Parrot

WEAK = "hunter2!"
STRONG = "q3f9a71c0e4b82d65f1907ac3be84d2a6"
NAMED = "[redacted: DB_PASSWORD]"
GUESSES = f"Is it hunter1! or {WEAK} or letmein22?"
TOOLS = ("look", "execute_python", "write_file", "read_file", "read_result", "spawn_task", "join_task")


@dataclass
class House:
    """An app with a public agent that repeats what it is told."""

    workbench: Workbench
    parrot: Parrot
    port: int
    token: str
    key: str

    def client(self, secret: str = "") -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        return httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{self.port}/api/v1", headers=headers, timeout=120, verify=False
        )

    async def said(self, secret: str, text: str, **more: object) -> dict:
        """The reply to it, to whoever has that key, token or nothing."""
        async with self.client(secret) as client:
            answer = await client.post("/agents/parrot/run", json={"input": text, **more})
            assert answer.status_code == 200, answer.text
            return answer.json()["data"]


@pytest.fixture
async def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    port = free_port()
    async with Parrot(f"{WEAK} {STRONG}") as parrot:
        for name, value in {"DB_PASSWORD": WEAK, "SERVICE_KEY": STRONG, "OPENAI_API_KEY": "none"}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("OPENAI_BASE_URL", parrot.base)
        workbench = opened(tmp_path)
        form = HttpTool(name="look", description="Looks.", address=f"{parrot.url}/secret", allow_private=True)
        await workbench.http_tools.create(form)
        behaviour = PromptBehaviour(
            model="openai/parrot", tools=tuple(ToolChoice(name=name) for name in TOOLS), system_prompt="Say {{what}}."
        )
        agent = new_agent("Parrot", behaviour, taken_slugs=())
        await workbench.agents.create(agent.model_copy(update={"is_public": True}))
        made = await workbench.keys.create("n8n")
        token = workbench.access_token = secrets.token_urlsafe(32)
        door = Door(api_over(workbench), port=port, token=token, guests=WorkbenchGuests(workbench))
        async with served(door, port=port):
            yield House(workbench, parrot, port, token, made.secret)
        await workbench.close()


async def test_a_guess_is_told_to_the_owner_and_to_nobody_else(house: House):
    assert NAMED in (await house.said(house.token, GUESSES))["output_text"]
    for secret in ("", house.key):
        assert (await house.said(secret, GUESSES))["output_text"] == GUESSES
        assert (await house.said(secret, f"It is {STRONG}!"))["output_text"] == "It is [redacted]!"


async def test_what_a_tool_reads_outside_of_the_session_holds_no_secret(house: House):
    looked = {secret: (await house.said(secret, "call look {}"))["output_text"] for secret in ("", house.key)}
    assert all(text.endswith("It is [redacted] [redacted] here.") for text in looked.values()), looked
    assert (
        f"It is {NAMED} [redacted: SERVICE_KEY] here." in (await house.said(house.token, "call look {}"))["output_text"]
    )
    assert WEAK not in repr(house.parrot.seen.bodies)


async def in_session(house: House, *texts: str) -> str:
    """The last of the replies to a key."""
    reply = await house.said(house.key, texts[0])
    for text in texts[1:]:
        reply = await house.said(house.key, text, session=reply["session_id"])
    return reply["output_text"]


def called(name: str, **arguments: object) -> str:
    return f"call {name} {json.dumps(arguments)}"


async def test_what_tools_make_of_guesses_tells_nothing(house: House):
    assert WEAK in await in_session(house, called("execute_python", code="'hunter' + '2!'"))
    assert WEAK in await in_session(
        house, called("write_file", path="/a.txt", content=GUESSES), called("read_file", path="/a.txt")
    )
    much = await house.said(house.key, called("execute_python", code=f"print({GUESSES!r} * 1000)"))
    ref = much["output_text"].partition('read_result("')[2].partition('"')[0]
    again = await house.said(house.key, called("read_result", ref=ref, offset=8000), session=much["session_id"])
    assert WEAK in again["output_text"] and "redacted" not in again["output_text"]
    async with house.client(house.key) as client:
        by_hand = await client.post("/tools/execute_python/call", json={"arguments": {"code": "'hunter' + '2!'"}})
    assert by_hand.json()["data"]["output"] == WEAK


async def test_what_is_kept_of_a_guess_tells_nothing(house: House):
    reply = await house.said(house.key, GUESSES, variables={"what": WEAK})
    assert house.parrot.seen.last["messages"][0]["content"] == f"Say {WEAK}."
    async with house.client(house.key) as key, house.client(house.token) as owner:
        session = (await key.get(f"/sessions/{reply['session_id']}")).json()["data"]
        run = (await key.get(f"/runs/{reply['run_id']}")).json()["data"]
        address = f"/runs/{reply['run_id']}/export?format=jsonl"
        exported, owners = (await key.get(address)).text, (await owner.get(address)).text
    assert (session["title"], session["variables"], run["user_query"]) == (GUESSES, {"what": WEAK}, GUESSES)
    assert WEAK in exported and "redacted known" not in exported
    assert WEAK not in owners


async def test_a_task_is_as_the_run_that_handed_it_over(house: House):
    for secret, guess in (("", WEAK), (house.token, NAMED)):
        child_id = (await house.said(secret, called("spawn_task", task=GUESSES)))["output_text"]
        started, said, *_ = (await house.workbench.runs.trace(child_id)).entries
        assert started.event.parent is not None and guess in said.event.message.text


async def test_the_apps_own_tokens_are_stored_nowhere(house: House):
    reply = await house.said(house.key, f"I have {house.key} and {house.token}.")
    assert reply["output_text"] == "I have [redacted] and [redacted]."
    async with house.client(house.key) as client:
        assert house.key not in (await client.get(f"/runs/{reply['run_id']}/events")).text
    files = [path for path in house.workbench.data.path.rglob("*") if path.is_file()]
    assert not [path.name for path in files if house.key.encode() in path.read_bytes()]


async def streamed(house: House, text: str) -> tuple[str, str]:
    """The first piece of the answer to a guest, and all of them."""
    house.parrot.go_on.clear()
    pieces = []
    async with house.client() as client:
        body = {"input": text, "stream": True}
        async with client.stream("POST", "/agents/parrot/run", json=body) as answer:
            async for line in answer.aiter_lines():
                if line.startswith('data: {"type": "text-delta"'):
                    pieces.append(json.loads(line.removeprefix("data: "))["delta"])
                    house.parrot.go_on.set()
    return pieces[0], "".join(pieces)


@pytest.mark.parametrize("known", [1, 8, 20, 42])
async def test_an_answer_comes_the_same_way_whether_a_guess_is_right_or_not(house: House, known: int):
    for value in (house.token, house.key, STRONG):
        right = value[:known][: len(value) - 1]
        wrong = right[:-1] + ("b" if right[-1] == "a" else "a")
        for guess in (right, wrong):
            assert await streamed(house, f"It is {guess}|, right?") == ("It is ", f"It is {guess}, right?")
