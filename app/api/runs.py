"""REST for runs that go on: stopped, steered, followed by a queued message; and for those that are tried again."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from app.api.envelopes import Envelope, read_body, refused
from app.domain.errors import Conflict, NotFound, WorkbenchError
from app.domain.events import Trigger
from app.domain.trace import RunRow, RunStatus
from app.domain.values import Text, Value
from app.workbench import Workbench

FROM_API = Trigger(kind="api_key")
STOP_SECONDS = 2.0
"""A run that is stopped has ended by then, unless the disk takes nothing."""


class MessageRequest(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    message: Annotated[Text, Field(min_length=1)]


class RunStands(Value):
    """Where a run stands."""

    run_id: str
    session_id: str
    status: RunStatus


class Queued(Value):
    message_id: str
    session_id: str
    state: Literal["queued", "sent"]
    """`sent`: no run went on, so it has begun one."""
    position: int
    """Its place among those that wait, from 1; 0 once it is sent."""


def run_routes(workbench: Workbench) -> APIRouter:
    router = APIRouter()

    @router.post("/runs/{run_id}/stop", response_model=Envelope[RunStands])
    async def stop(run_id: str) -> Envelope[RunStands] | JSONResponse:
        """End it and keep what it has said; a run that is over stays as it is."""
        try:
            if (live := workbench.runs.live(run_id)) is not None:
                live.stop()
                await asyncio.wait([asyncio.ensure_future(live.ended())], timeout=STOP_SECONDS)
            return Envelope(data=await stands(workbench, run_id))
        except WorkbenchError as error:
            return refused(error)

    @router.post("/runs/{run_id}/steer", response_model=Envelope[RunStands])
    async def steer(run_id: str, request: Request) -> Envelope[RunStands] | JSONResponse:
        """Break into its answer with `{"message"}`, which becomes its next turn."""
        try:
            wanted = await read_body(request, MessageRequest)
            session_id = row_of(workbench, run_id).session_id
            if workbench.runs.live(run_id) is None:
                raise Conflict(
                    "The run has ended, so nothing can break into it. "
                    f"POST /api/v1/sessions/{session_id}/queue sends the message as the next one."
                )
            await workbench.queue.steer(session_id, wanted.message, trigger=FROM_API)
            return Envelope(data=await stands(workbench, run_id))
        except WorkbenchError as error:
            return refused(error)

    @router.post("/runs/{run_id}/retry", response_model=Envelope[RunStands])
    async def retry(run_id: str) -> Envelope[RunStands] | JSONResponse:
        """Answer its message once more, in a new run that takes its place in the session."""
        try:
            live = await workbench.chat.regenerate(row_of(workbench, run_id).session_id, run_id)
            return Envelope(data=await stands(workbench, live.run_id))
        except WorkbenchError as error:
            return refused(error)

    @router.post("/sessions/{session_id}/queue", response_model=Envelope[Queued])
    async def queue(session_id: str, request: Request) -> Envelope[Queued] | JSONResponse:
        """Send `{"message"}` once the run that goes on has come to its end; at once where none does."""
        try:
            wanted = await read_body(request, MessageRequest)
            message = await workbench.queue.add(session_id, wanted.message, trigger=FROM_API)
            waiting = [one.id for one in workbench.sessions.get(session_id).queue]
        except WorkbenchError as error:
            return refused(error)
        position = waiting.index(message.id) + 1 if message.id in waiting else 0
        state: Literal["queued", "sent"] = "queued" if position else "sent"
        return Envelope(data=Queued(message_id=message.id, session_id=session_id, state=state, position=position))

    return router


def row_of(workbench: Workbench, run_id: str) -> RunRow:
    """The row of that run; raises `NotFound`."""
    if (row := workbench.rows.get(run_id)) is None:
        raise NotFound(f"There is no run {run_id!r}.")
    return row


async def stands(workbench: Workbench, run_id: str) -> RunStands:
    """Where the run stands now; raises `NotFound`."""
    row = row_of(workbench, run_id)
    trace = await workbench.runs.trace(run_id)
    status = workbench.runs.status(run_id, trace.entries)
    return RunStands(run_id=run_id, session_id=row.session_id, status=status)
