"""REST: the same runs and traces as the pages show."""

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from app.api.envelopes import Envelope, refused
from app.api.pauses import pause_routes
from app.api.replies import RunReply, run_reply
from app.api.runs import run_routes
from app.api.tools import tool_routes
from app.domain.errors import WorkbenchError
from app.domain.events import Trigger
from app.workbench import Workbench


class RunRequest(BaseModel):
    input: str


def routes(workbench: Workbench) -> APIRouter:
    router = APIRouter(prefix="/api/v1")
    router.include_router(tool_routes(workbench))
    router.include_router(run_routes(workbench))
    router.include_router(pause_routes(workbench))

    @router.post("/agents/{slug}/run", response_model=Envelope[RunReply])
    async def run_agent(slug: str, request: RunRequest) -> Envelope[RunReply] | JSONResponse:
        """Run an agent in a session of its own; answers when the run has ended."""
        try:
            agent = workbench.agents.by_slug(slug)
            session = await workbench.chat.new_session(agent.id)
            live = await workbench.chat.send(session.id, request.input, trigger=Trigger(kind="terminal"), purpose="api")
        except WorkbenchError as error:
            return refused(error)
        await live.ended()
        return Envelope(data=run_reply(live.entries, alive=False))

    return router
