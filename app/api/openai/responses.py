"""`POST /v1/responses`: an agent asked in OpenAI's newer way, which goes on by the id of an earlier response."""

import asyncio
import time
from functools import partial

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from app.api.door.caller import Caller, caller_of
from app.api.following.followed import FollowedRun
from app.api.following.idempotency import idempotent
from app.api.following.running import runs_below, session_named, session_of_request, wait_until_idle, waits_below
from app.api.openai.answer_form import schema_beside
from app.api.openai.asked import agent_named, body_of, whole_answer
from app.api.openai.conversation import conversation_of
from app.api.openai.errors import OpenAiError, of_workbench
from app.api.openai.response_object import Answering
from app.api.openai.response_request import ResponseRequest, read
from app.api.openai.response_stream import response_events
from app.domain.agents import schema_of
from app.domain.errors import NotFound, WorkbenchError
from app.domain.sessions import Session
from app.engine.run.run import Run
from app.workbench import Workbench


async def response(workbench: Workbench, request: Request) -> Response:
    """What the agent answers, whole or as it is written. Raises `OpenAiError`."""
    body = await body_of(request)
    wanted = await asyncio.to_thread(read, body)
    try:
        live = await idempotent(workbench, request, body, partial(_begun, workbench, caller_of(request), wanted))
    except WorkbenchError as error:
        raise of_workbench(error) from error
    return await _answered(workbench, live, wanted)


async def _begun(workbench: Workbench, caller: Caller, wanted: ResponseRequest, run_id: str) -> Run:
    agent, number = agent_named(workbench, caller, wanted.model)
    schema = schema_beside(schema_of(agent.variant(number).behaviour), wanted.schema_wanted, "text.format")
    before = _session_before(workbench, caller, wanted)
    said = await conversation_of(
        list(wanted.messages.values()),
        workbench.artifacts,
        instructions=wanted.instructions or "",
        param="input",
        largest=workbench.preferences.get().largest_attachment,
    )
    async with session_of_request(workbench, caller, agent, before, variant=number) as session:
        return await workbench.chat.send(
            *(session.id, said.text, said.attachments),
            trigger=caller.trigger,
            purpose="api",
            run_id=run_id,
            begun_as=partial(said.begins, schema=schema),
            after=wanted.follows,
        )


def _session_before(workbench: Workbench, caller: Caller, wanted: ResponseRequest) -> Session | None:
    """The session of the response that it goes on behind."""
    try:
        return session_named(workbench, caller, None, after=wanted.follows)
    except NotFound:
        named = wanted.previous_response_id
        raise OpenAiError(
            f"There is no response {named!r} to go on from. Leave 'previous_response_id' out to begin anew.",
            status=404,
            code="previous_response_not_found",
            param="previous_response_id",
        ) from None


async def _answered(workbench: Workbench, live: FollowedRun, wanted: ResponseRequest) -> Response:
    shared = Answering(
        run_id=live.run_id,
        wanted=wanted,
        created_at=int(time.time()),
        below=lambda: runs_below(workbench, live.run_id, live.entries),
        waits=partial(waits_below, workbench, live.run_id),
    )
    if wanted.stream:
        return StreamingResponse(
            response_events(live, shared), media_type="text/event-stream", headers={"X-Run-Id": live.run_id}
        )
    asked = await wait_until_idle(workbench, live)
    return whole_answer(live.run_id, lambda: shared.whole(live.entries), asked)
