"""Workbenches for tests of the API: the demo model answers them fast, and making routes is paid for once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.application import api_without_workbench, attach_workbench
from app.api.door.connections import Connections
from app.domain.agents import WorkflowBehaviour, new_agent
from app.domain.evals.results import Results
from app.domain.workflows.document import AgentNode, Edge, InputNode, OutputNode, Template, Workflow
from app.workbench import Workbench
from tests.app_process import free_port

QUICK = 0.001
"""Seconds for a token: an answer is there at once, and a long story still goes on while a test does something."""


UNHURRIED = 0.03
"""A long story goes on for half a minute, whatever else the machine does."""


def opened(folder: Path, pace: float = QUICK) -> Workbench:
    return Workbench.open(folder / "data", demo_pace=pace)


def api_over(workbench: Workbench) -> FastAPI:
    """The API over that workbench, and no more over the one before."""
    made = _made()
    attach_workbench(made, workbench)
    return made


@cache
def _made() -> FastAPI:
    return api_without_workbench()


@asynccontextmanager
async def served(app: ASGIApp, *, port: int = 0, connections: Connections | None = None) -> AsyncIterator[int]:
    """The port where the app answers meanwhile, a free one by default, through the same kind of server as ours."""
    port = port or free_port()
    http = connections.protocol() if connections else "auto"
    config = uvicorn.Config(app, port=port, http=http, ws="wsproto", log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110  nothing tells when it has started
        await asyncio.sleep(0.01)
    yield port
    server.should_exit = True
    server.force_exit = True
    await serving


class Counted:
    """An app, and how many requests and sockets it works on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.inside += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self.inside -= 1


async def asking(workbench: Workbench, agent: str = "assistant") -> str:
    """The slug of a workflow that asks an agent, and calls no model itself."""
    nodes = (
        InputNode(id="input"),
        AgentNode(id="ask", agent=agent, message=Template(text="{{input.text}}")),
        OutputNode(id="output", value=Template(text="{{ask}}")),
    )
    edges = (Edge(source="input", target="ask"), Edge(source="ask", target="output"))
    flow = WorkflowBehaviour(workflow=Workflow(nodes=nodes, edges=edges))
    return (await workbench.agents.create(new_agent("Asking", flow, taken_slugs=workbench.agents.slugs()))).slug


def ending_as_it_is_read(workbench: Workbench) -> Callable[[str], Awaitable[Results]]:
    """An experiment's `results`, after which it comes to its end before anything else is read of it."""
    read = workbench.experimenting.results

    async def ended_meanwhile(experiment_id: str) -> Results:
        found = await read(experiment_id)
        await workbench.experimenting.over(experiment_id)
        return found

    return ended_meanwhile
