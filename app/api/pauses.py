"""REST for runs that wait: decided on, gone on with."""

from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from app.api.envelopes import Envelope, read_body, refused
from app.domain.errors import WorkbenchError
from app.domain.events import Decision
from app.domain.trace import RunStatus
from app.domain.values import Text, Value
from app.engine.runs import LiveRun
from app.workbench import Workbench

BY = "api"


class DecisionRequest(BaseModel):
    """`approve`, `always`, `deny` or `edit` for a tool's call, `answer` or `deny` for a question."""

    model_config = ConfigDict(extra="forbid", strict=True)

    decision: Decision
    arguments: dict[str, JsonValue] | None = None
    """With `edit` those to call the tool with, with `answer` the values of its form; with `approve` those that the
    call has, so that it is refused where it has others."""
    note: Annotated[Text, Field(max_length=10_000)] = ""
    """Why, for the model to read."""


class GoingOn(Value):
    """A run that goes on."""

    run_id: str
    session_id: str
    status: RunStatus


def pause_routes(workbench: Workbench) -> APIRouter:
    router = APIRouter(prefix="/runs")

    @router.post("/{run_id}/pauses/{asked}", response_model=Envelope[GoingOn])
    async def decide(run_id: str, asked: str, request: Request) -> Envelope[GoingOn] | JSONResponse:
        """Decide on the pause of that id, or of the call of that id: `{"decision", "arguments"?, "note"?}`."""
        try:
            wanted = await read_body(request, DecisionRequest)
            live = await workbench.pauses.decide(
                run_id, asked, wanted.decision, arguments=wanted.arguments, note=wanted.note, by=BY
            )
        except WorkbenchError as error:
            return refused(error)
        return Envelope(data=_going_on(live))

    @router.post("/{run_id}/resume", response_model=Envelope[GoingOn])
    async def resume(run_id: str) -> Envelope[GoingOn] | JSONResponse:
        """Go on with a run that was left when the app was closed."""
        try:
            live = await workbench.chat.resume(run_id, by=BY)
        except WorkbenchError as error:
            return refused(error)
        return Envelope(data=_going_on(live))

    return router


def _going_on(live: LiveRun) -> GoingOn:
    return GoingOn(run_id=live.run_id, session_id=live.started.session_id, status=live.status)
