"""What each request of a client of OpenAI has: a body, an agent that it names as its model, an answer."""

import asyncio
import re
from collections.abc import Callable, Sequence

from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic import JsonValue
from starlette.requests import ClientDisconnect

from app.api.door.access import Forbidden, agents_for, may_vary
from app.api.door.caller import Caller
from app.api.door.strict_json import check_shape
from app.api.following.replies import PauseReply
from app.api.openai.errors import OpenAiError, of_workbench, waiting
from app.domain.agents import Agent
from app.domain.errors import NotFound, TooLarge
from app.workbench import Workbench

_MODEL = re.compile(r"(?P<slug>[^@]*)(?:@v?(?P<number>\d{1,6}))?", re.ASCII)


async def body_of(request: Request) -> bytes:
    """The body, of so many values that it can be read. Raises `OpenAiError`."""
    try:
        body = await request.body()
        await asyncio.to_thread(check_shape, body)
    except ClientDisconnect:
        raise OpenAiError("The request was broken off.") from None
    except TooLarge as error:
        raise of_workbench(error) from None
    return body


def agent_named(workbench: Workbench, caller: Caller, name: str) -> tuple[Agent, int]:
    """The agent and the number of its variant. Raises `OpenAiError`, which names the models there are."""
    agents = {agent.slug: agent for agent in agents_for(workbench, caller)}
    wanted = _MODEL.fullmatch(name)
    if wanted is None or (agent := agents.get(wanted["slug"])) is None:
        known = ", ".join(sorted(agents)) or "none"
        raise _no_model(f"There is no agent {name!r}. Models are agents: {known}.")
    try:
        number = int(wanted["number"]) if wanted["number"] else agent.active
        may_vary(caller, agent, variant=number)
        return agent, agent.variant(number).number
    except Forbidden as error:
        raise of_workbench(error) from None
    except NotFound as error:
        raise _no_model(str(error)) from None


def whole_answer(
    run_id: str, answer: Callable[[], dict[str, JsonValue]], asked: Sequence[PauseReply] = ()
) -> JSONResponse:
    """The answer of the run, or why it has none; either names the run. `asked`: what it waits for."""
    try:
        for pause in asked:
            raise waiting(pause.tool, pause.run_id)
        reply = JSONResponse(answer())
    except OpenAiError as error:
        reply = error.response
    reply.headers["X-Run-Id"] = run_id
    return reply


def _no_model(sentence: str) -> OpenAiError:
    return OpenAiError(sentence, status=404, code="model_not_found", param="model")
