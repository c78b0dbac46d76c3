"""Agents for who speaks with OpenAI: `/v1/models`, and two ways to ask, with an agent's slug as the model."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial

from fastapi import Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import JsonValue
from starlette.routing import BaseRoute, Route

from app.api.door.access import agents_for
from app.api.door.caller import caller_of
from app.api.door.refusals import Refusal
from app.api.following.followed import FollowedRun
from app.api.following.idempotency import idempotent
from app.api.following.running import runs_below, session_of_request, wait_until_idle, waits_below
from app.api.openai.answer_form import schema_beside
from app.api.openai.asked import agent_named, body_of, whole_answer
from app.api.openai.conversation import conversation_of
from app.api.openai.errors import OpenAiError, of_workbench
from app.api.openai.replies import Completion, chunks
from app.api.openai.request import CompletionRequest, read
from app.api.openai.responses import response
from app.domain.agents import Agent, schema_of
from app.domain.errors import WorkbenchError
from app.engine.run.run import Run
from app.workbench import Workbench

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
NOT_HERE = Refusal(
    404,
    "not_found",
    "Not found",
    "Of OpenAI's API there are GET /v1/models, GET /v1/models/{model}, POST /v1/chat/completions and "
    "POST /v1/responses here.",
)
OWNER = "agent-playground"

Answer = Callable[[Workbench, Request], Awaitable[Response]]


def openai_routes() -> list[BaseRoute]:
    """What stands under `/v1`; every answer there, errors too, has the shape that OpenAI's has."""
    return [
        Route("/v1/models", _told(model_list), methods=["GET"]),
        Route("/v1/models/{model:path}", _told(model_reply), methods=["GET"]),
        Route("/v1/chat/completions", _told(completion), methods=["POST"]),
        Route("/v1/responses", _told(response), methods=["POST"]),
        Route("/v1/{path:path}", _anything, methods=METHODS),
    ]


async def _anything(request: Request) -> Response:
    return NOT_HERE.response(request)


def _told(answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    async def answer_or_error(request: Request) -> Response:
        try:
            return await answer(request.app.state.workbench, request)
        except OpenAiError as error:
            return error.response

    return answer_or_error


async def model_list(workbench: Workbench, request: Request) -> JSONResponse:
    """The agents that are there for the caller, as models."""
    data: list[JsonValue] = [_model(agent, agent.slug) for agent in agents_for(workbench, caller_of(request))]
    return JSONResponse({"object": "list", "data": data})


async def model_reply(workbench: Workbench, request: Request) -> JSONResponse:
    """One of them; `slug@version` is the version of an agent. Raises `OpenAiError`."""
    name = str(request.path_params["model"])
    agent, _ = agent_named(workbench, caller_of(request), name)
    return JSONResponse(_model(agent, name))


async def completion(workbench: Workbench, request: Request) -> Response:
    """What the agent answers to the conversation, whole or as it is written. Raises `OpenAiError`."""
    body = await body_of(request)
    wanted = await asyncio.to_thread(read, body)
    caller = caller_of(request)
    agent, number = agent_named(workbench, caller, wanted.model)
    try:
        schema = schema_beside(schema_of(agent.variant(number).behaviour), wanted.schema_wanted, "response_format")
        said = await conversation_of(
            wanted.messages,
            workbench.artifacts,
            param="messages",
            largest=workbench.preferences.get().largest_attachment,
        )

        async def begin(run_id: str) -> Run:
            async with session_of_request(workbench, caller, agent, None, variant=number) as session:
                return await workbench.chat.send(
                    *(session.id, said.text, said.attachments),
                    trigger=caller.trigger,
                    purpose="api",
                    run_id=run_id,
                    begun_as=partial(said.begins, schema=schema, stop=wanted.stop_words),
                )

        live = await idempotent(workbench, request, body, begin)
    except WorkbenchError as error:
        raise of_workbench(error) from error
    return await _answered(workbench, live, wanted)


async def _answered(workbench: Workbench, live: FollowedRun, wanted: CompletionRequest) -> Response:
    shared = Completion(
        run_id=live.run_id,
        model=wanted.model,
        created=int(time.time()),
        formed=wanted.schema_wanted is not None,
        below=lambda: runs_below(workbench, live.run_id, live.entries),
        waits=partial(waits_below, workbench, live.run_id),
    )
    if wanted.stream:
        streamed = chunks(live, shared, include_usage=wanted.include_usage)
        return StreamingResponse(streamed, media_type="text/event-stream", headers={"X-Run-Id": live.run_id})
    asked = await wait_until_idle(workbench, live)
    return whole_answer(live.run_id, lambda: shared.whole(live.entries), asked)


def _model(agent: Agent, name: str) -> dict[str, JsonValue]:
    return {"id": name, "object": "model", "created": int(agent.created_at.timestamp()), "owned_by": OWNER}
