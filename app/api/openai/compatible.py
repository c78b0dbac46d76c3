"""Agents for who speaks with OpenAI: `/v1/models`, and `/v1/chat/completions` with an agent's slug as the model."""

from collections.abc import Awaitable, Callable

from fastapi import Request, Response
from starlette.routing import BaseRoute, Route

from app.api.door.refusals import Refusal
from app.api.openai.answers import completion, model_list, model_reply
from app.api.openai.errors import OpenAiError
from app.workbench import Workbench

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
NOT_HERE = Refusal(
    404,
    "not_found",
    "Not found",
    "Of OpenAI's API there are GET /v1/models, GET /v1/models/{model} and POST /v1/chat/completions here.",
)

Answer = Callable[[Request], Awaitable[Response]]


def openai_routes() -> list[BaseRoute]:
    """What stands under `/v1`; every answer there, errors too, has the shape that OpenAI's has."""
    return [
        Route("/v1/models", _told(_models), methods=["GET"]),
        Route("/v1/models/{model:path}", _told(_model), methods=["GET"]),
        Route("/v1/chat/completions", _told(_completions), methods=["POST"]),
        Route("/v1/{path:path}", _anything, methods=METHODS),
    ]


async def _models(request: Request) -> Response:
    return model_list(_workbench(request), request)


async def _model(request: Request) -> Response:
    return model_reply(_workbench(request), request, str(request.path_params["model"]))


async def _completions(request: Request) -> Response:
    return await completion(_workbench(request), request)


async def _anything(request: Request) -> Response:
    return NOT_HERE.response(request)


def _workbench(request: Request) -> Workbench:
    workbench: Workbench = request.app.state.workbench
    return workbench


def _told(answer: Answer) -> Answer:
    async def answer_or_error(request: Request) -> Response:
        try:
            return await answer(request)
        except OpenAiError as error:
            return error.response

    return answer_or_error
