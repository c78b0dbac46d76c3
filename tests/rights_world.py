"""An app with an owner, keys of all kinds and what each has started, asked for everything by everybody."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from app.api.door.guests import WorkbenchGuests
from app.api.door.security import Door, own_authorities
from app.api.mcp.endpoint import McpEndpoint
from app.domain.agents import PromptBehaviour, ToolChoice, new_agent, promoted, with_variant
from app.domain.evals.cases import CaseContent, new_cases
from app.domain.evals.drafts import ExperimentDraft
from app.domain.evals.scores import TAG, given
from app.domain.provenance import Trigger
from app.domain.tool_settings import HttpTool
from app.workbench import Workbench
from tests.api.over import api_over, opened, served
from tests.app_process import free_port
from tests.rights_table import HELLO, MCP_VERSION, REQUEST, Row, State
from tests.waiting import until

TOKEN = "A-token-of-tests-with-43-characters-_0123456"
SUM = "What is 5 + 10?"
PICTURE = b"a picture of nobody"

Whose = Literal["own", "the owner's", "another key's", "of another agent"]
WHOSE: tuple[Whose, ...] = ("own", "the owner's", "another key's", "of another agent")


@dataclass(frozen=True)
class Who:
    """Somebody who asks."""

    name: str
    kind: Literal["owner", "whole", "limited", "guest"]
    rights: tuple[Literal["approve", "variants", "evals"], ...] = ()
    agent: str = "mine"
    """The agent that is theirs to run."""


OWNER, NEIGHBOUR = Who("owner", "owner"), Who("neighbour", "limited")
WHOLE, LIMITED = Who("key for all agents", "whole"), Who("key for certain agents", "limited")
APPROVING, VARYING = Who("approving key", "limited", ("approve",)), Who("varying key", "limited", ("variants",))
EVALUATING = Who("evaluating key", "limited", ("evals",))
NOBODY = Who("nobody", "guest", agent="open")
CALLERS = (OWNER, WHOLE, LIMITED, APPROVING, VARYING, EVALUATING, NOBODY)


@dataclass(frozen=True)
class Thing:
    """A run with its session."""

    agent: str
    run: str
    session: str
    pause: str
    word: str
    """Said in the run and in no other one."""


@dataclass
class World:
    """`opened_world` makes one."""

    workbench: Workbench
    client: httpx.AsyncClient
    port: int
    secrets: dict[str, str]
    """The key of each."""
    things: dict[tuple[str, Whose, State], Thing] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    """Who said each word, and whose the ids are."""
    spare: int = 0

    async def thing(self, who: Who, whose: Whose, state: State) -> Thing:
        """A run of that kind for them to ask for."""
        place = (who.name, whose, state)
        if place not in self.things:
            starter = {"own": who, "another key's": NEIGHBOUR}.get(whose, OWNER)
            agent = "other" if whose == "of another agent" else who.agent
            self.things[place] = await self._started(starter, agent, state)
        return self.things[place]

    async def ask(self, who: Who, row: Row, thing: Thing) -> tuple[int, str]:
        """The status of the answer, and all that it says; of a socket, what its words stand for."""
        values = await self._values(row, thing)
        method, path = _filled(row.route, values).split(" ", 1)
        sent = None if row.sent is None else _filled(json.dumps(row.sent), values)
        headers = self.shown(who) | {name: _filled(value, values) for name, value in row.headers.items()}
        if method == "SOCKET":
            return await _over_a_socket(f"ws://127.0.0.1:{self.port}{path}", headers, sent)
        if path == "/mcp" and sent is not None:
            headers |= _mcp_headers(json.loads(sent))
        answer = await self.client.request(method, path, headers=headers, content=sent)
        return _meant(answer.text) if path == "/mcp" and answer.is_success else answer.status_code, answer.text

    async def state(self, thing: Thing) -> object:
        """All that somebody else could have changed."""
        agent = self.workbench.agents.by_slug(thing.agent)
        entries = (await self.workbench.runs.trace(thing.run)).entries
        return agent, self.workbench.rows.get(thing.run), self.workbench.sessions.get(thing.session), len(entries)

    async def _values(self, row: Row, thing: Thing) -> dict[str, str]:
        """What stands in the row's places, by name."""
        self.spare += 1
        new = f"New {self.spare}"
        values = {"agent": thing.agent, "run": thing.run, "session": thing.session, "pause": thing.pause, "new": new}
        if "{key}" in row.route:
            values["key"] = (await self.workbench.keys.create(new)).key.id
        if "{doomed}" in row.route:
            values["doomed"] = (
                await self.workbench.agents.create(new_agent(new, PromptBehaviour(), taken_slugs=()))
            ).slug
        values |= await self._tools(row, f"tool{self.spare}")
        if "{dataset}" in (asked := f"{row.route} {row.sent}") or "{experiment}" in asked:
            dataset = await self.workbench.collecting.new_dataset(new)
            (case,) = new_cases(dataset.id, [CaseContent(input=HELLO)])
            values |= {"dataset": dataset.slug, "case": (await self.workbench.collecting.add(dataset.id, case)).id}
        if "{experiment}" in asked:
            draft = ExperimentDraft(dataset=values["dataset"], agent="mine")
            planned = await self.workbench.experimenting.plan(draft, Trigger(kind="page"))
            values["experiment"] = planned.id
        if "{score}" in row.route:
            starter = self.workbench.runs.row(thing.run).trigger
            values["score"] = (await self.workbench.scores.give(given(thing.run, TAG, starter, label=new))).id
        return values | {"tool": "calculator", "artifact": sha256(PICTURE).hexdigest(), "anything": "embeddings"}

    async def _tools(self, row: Row, name: str) -> dict[str, str]:
        """A tool file or an HTTP tool of that name, for rows that ask for one."""
        files, requests = self.workbench.user_tools, self.workbench.http_tools
        if "_file}" in row.route:
            await files.receive(name, "x = 1")
        if "{allowed_file}" in row.route:
            await files.trust(f"{name}.py")
        if "_request}" in row.route:
            form = HttpTool.model_validate(REQUEST | {"name": name})
            await (requests.receive(form) if "{waiting" in row.route else requests.create(form))
        files_named = {"file": name, "waiting_file": f"{name}.py", "allowed_file": f"{name}.py"}
        return files_named | {"waiting_request": name, "allowed_request": name}

    def shown(self, who: Who) -> dict[str, str]:
        """The headers of their requests."""
        key = {"Authorization": f"Bearer {self.secrets[who.name]}"} if who.kind != "guest" else {}
        return {"Content-Type": "application/json", **key}

    async def _started(self, who: Who, agent: str, state: State) -> Thing:
        self.spare += 1
        word = f"word{self.spare:04d}"
        body = {"input": f"{SUM if state == 'paused' else HELLO} {word}", "background": state == "job"}
        answer = await self.client.post(f"/api/v1/agents/{agent}/run", json=body, headers=self.shown(who))
        told = answer.raise_for_status().json()["data"]
        pause = told["pauses"][0]["pause_id"] if state == "paused" else "none"
        await until(lambda: state == "paused" or self.workbench.runs.live(told["run_id"]) is None)
        thing = Thing(agent, told["run_id"], told["session_id"], pause, word)
        self.words |= dict.fromkeys((thing.run, thing.session, thing.word), who.name)
        return thing


@asynccontextmanager
async def opened_world(folder: Path) -> AsyncIterator[World]:
    """The API behind its door at a port, with three agents, of which keys for certain agents open two."""
    workbench, door = opened(folder), _Doorway()
    port = free_port()
    mcp = McpEndpoint(workbench, own_authorities(port))
    try:
        for name in ("Mine", "Other", "Open"):
            await _agent(workbench, name)
        await workbench.artifacts.put(PICTURE)
        secrets = {OWNER.name: TOKEN}
        for who in (*CALLERS, NEIGHBOUR):
            if who.kind in ("whole", "limited"):
                agents = None if who.kind == "whole" else ["mine", "open"]
                secrets[who.name] = (await workbench.keys.create(who.name, agents=agents, may=who.rights)).secret
        async with (
            served(door, port=port),
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60, verify=False) as client,
        ):
            door.app = Door(api_over(workbench), port=port, token=TOKEN, guests=WorkbenchGuests(workbench), mcp=mcp)
            yield World(workbench, client, port, secrets)
    finally:
        await mcp.close()
        await workbench.close()


class _Doorway:
    """Where the door will stand once its port is known."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)


async def _agent(workbench: Workbench, name: str) -> None:
    """One with a retired variant; it asks before it calculates."""
    behaviour = PromptBehaviour(tools=(ToolChoice(name="calculator", policy="ask"),))
    agent = new_agent(name, behaviour, taken_slugs=workbench.agents.slugs())
    newer = behaviour.model_copy(update={"system_prompt": "Be kind."})
    agent = promoted(with_variant(agent, newer, origin=1, note="kinder"), 2)
    await workbench.agents.create(agent.model_copy(update={"is_public": name == "Open"}))


def _filled(written: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        written = written.replace(f"{{{name}}}", value)
    return written


async def _over_a_socket(address: str, headers: dict[str, str], sent: str | None) -> tuple[int, str]:
    said: list[str] = []
    try:
        async with asyncio.timeout(30), connect(address, additional_headers=headers) as socket:
            if sent is not None:
                await socket.send(sent)
            async for message in socket:
                said.append(str(message))
                if '"agent-response"' in said[-1] or '"type": "error"' in said[-1]:
                    break
    except InvalidStatus as refused:
        return refused.response.status_code, (refused.response.body or b"").decode()
    told = "\n".join(said)
    return _meant(told), told


def _meant(told: str) -> int:
    """The status that words stand for where every answer has the same."""
    refused = '"error"' in told or '"isError":true' in told
    refusals = {"There is no": 404, "may not": 403}
    return next((status for words, status in refusals.items() if refused and words in told), 200)


def _mcp_headers(message: dict[str, Any]) -> dict[str, str]:
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": MCP_VERSION}
    name = message["params"].get("name")
    return headers | {"Mcp-Method": message["method"]} | ({"Mcp-Name": name} if name else {})
