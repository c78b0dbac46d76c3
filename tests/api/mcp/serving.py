"""A workbench's agents at `/mcp`, behind the door, for the library's own client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from mcp import Client
from mcp.client.client import ConnectMode
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

from app.api.door.guests import WorkbenchGuests
from app.api.door.security import Door, own_authorities
from app.api.mcp.sessions import McpSessions
from app.api.mcp.waiting import Patience
from app.domain.agents import Agent, PromptBehaviour, ToolChoice, new_agent
from app.workbench import Workbench
from tests.api.over import api_over, served
from tests.app_process import free_port
from tests.waiting import PATIENCE

TOKEN = "A-token-of-tests-with-43-characters-_0123456"
SUM = "What is 5 + 10?"
STORY = "Tell me a long story"
QUICK = Patience(wall=0.3, beat=0.1)
MODES: tuple[ConnectMode, ...] = ("legacy", "auto")


@asynccontextmanager
async def mcp_at_a_port(workbench: Workbench, patience: Patience | None = None) -> AsyncIterator[str]:
    """The app's address, where its API and its tools answer."""
    port = free_port()
    sessions = McpSessions(workbench, own_authorities(port), patience)
    await sessions.start()
    door = Door(api_over(workbench), port=port, token=TOKEN, guests=WorkbenchGuests(workbench), mcp=sessions.answer)
    async with served(door, port=port):
        yield f"http://127.0.0.1:{port}"
        await sessions.close()


@asynccontextmanager
async def client_of(
    base: str, key: str = TOKEN, mode: ConnectMode = "legacy", *, name: str = "tester", **callbacks: object
) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
        transport = streamable_http_client(f"{base}/mcp", http_client=http)
        info = Implementation(name=name, version="1")
        async with Client(transport, mode=mode, client_info=info, **callbacks) as client:
            yield client


async def agent_with(workbench: Workbench, name: str, **behaviour: object) -> Agent:
    """A new agent."""
    return await workbench.agents.create(
        new_agent(name, PromptBehaviour.model_validate(behaviour), taken_slugs=workbench.agents.slugs())
    )


ASKS = (ToolChoice(name="calculator", policy="ask"),)
