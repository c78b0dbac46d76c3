"""A workbench with a server that asks to sign in, behind the app's own door: runs that call it, and a person."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
from fastapi import FastAPI

from app.api.door.guests import WorkbenchGuests
from app.api.door.security import Door
from app.api.routes.sign_in import sign_in_routes
from app.domain.events import PauseRequested, ToolReturned
from app.domain.trace import open_pauses
from app.engine.run.run import Run
from app.store.keys.sign_ins import SignIns
from app.workbench import Workbench
from tests.api.over import served
from tests.app_process import free_port
from tests.e2e.guarded_app import obeying, prepare
from tests.oauth_servers import Servers
from tests.tools.mcp.hubs import reached
from tests.tools.mcp.oauth.signing_in import NAME, server_of
from tests.waiting import until

TOKEN = "a-token-of-a-test-0123"
WHOAMI, CHANGE = f"{NAME}__whoami", f"{NAME}__change"


@dataclass
class Guarded:
    workbench: Workbench
    port: int
    cookie: str
    tab: str = ""
    """What the person saw last."""

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def call(self, name: str, **arguments: object) -> Run:
        """A run that makes this call."""
        agent = self.workbench.agents.by_slug("obedient")
        session = await self.workbench.chat.new_session(agent.id)
        return await self.workbench.chat.send(session.id, json.dumps({"name": name, "arguments": arguments}))

    async def asked(self, run: Run) -> PauseRequested:
        """What the run waits with, once it does."""
        [pause] = await until(lambda: [one for one in open_pauses(run.entries) if one.reason == "oauth"])
        return pause

    async def result(self, run: Run) -> tuple[str, str]:
        """How its call ended: status and text."""
        await run.ended()
        [returned] = [entry.event for entry in run.entries if isinstance(entry.event, ToolReturned)]
        return returned.result.status, returned.result.text

    async def signs_in(self, host: str | None = None, scopes: str = "") -> list[httpx2.URL]:
        """Follow the link that is shown, as a browser does: its cookie is not sent when another site sends it back."""
        if host is None:
            link = await self.workbench.mcp.sign_in(NAME, scopes.split())
            host = link.request.host if link.request else ""
        went = [httpx2.URL(f"{self.origin}/sign-in/{NAME}", params={"host": host, "scopes": scopes})]
        cookie = {"Cookie": f"agent_playground_{self.port}={self.cookie}"}
        elsewhere = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        async with httpx2.AsyncClient(verify=False) as browser:
            answer = await browser.get(went[0], headers=cookie)
            while "location" in answer.headers:
                went.append(httpx2.URL(answer.headers["location"]))
                answer = await browser.get(went[-1], headers=elsewhere)
        self.tab = answer.text
        return went

    async def comes_back(self, url: httpx2.URL | str) -> httpx2.Response:
        """A browser opens that address once more."""
        async with httpx2.AsyncClient(verify=False) as browser:
            return await browser.get(url)


@asynccontextmanager
async def guarded(
    folder: Path, servers: Servers, *, port: int = 0, signed_in: bool = False, tool_timeout: float = 10
) -> AsyncIterator[Guarded]:
    """Over that folder, where the server is added the first time."""
    workbench = obeying(Workbench.open(folder))
    await prepare(workbench, tool_timeout)
    port, sign_ins = port or free_port(), SignIns()
    workbench.origin = f"http://127.0.0.1:{port}"
    site = FastAPI()
    site.include_router(sign_in_routes(workbench))
    door = Door(site, port=port, token=TOKEN, guests=WorkbenchGuests(workbench), sign_ins=sign_ins)
    try:
        await workbench.mcp.start()
        if not workbench.mcp.states():
            await workbench.mcp.add(server_of(servers))
            await workbench.mcp.consent(NAME)
        async with served(door, port=port):
            world = Guarded(workbench, port, await sign_ins.sign_in())
            if signed_in:
                await reached(workbench.mcp, "sign-in", name=NAME)
                await world.signs_in()
                await reached(workbench.mcp, "ready", name=NAME)
            yield world
    finally:
        await workbench.close()
