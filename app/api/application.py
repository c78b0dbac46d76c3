"""The API as an app of its own: its routes, its errors in words, and its description of itself."""

import logging
import warnings
from collections.abc import Mapping

from fastapi import FastAPI, Request, Response, WebSocket
from fastapi.exceptions import RequestValidationError, WebSocketRequestValidationError
from fastapi.responses import JSONResponse
from pydantic.warnings import UnsupportedFieldAttributeWarning
from starlette.exceptions import HTTPException

from app import __version__
from app.api.door.envelopes import STATUS_OF_CODE, error_response, faults_in_words
from app.api.door.refusals import OPENAI_KINDS, OPENAI_PATHS, openai_error
from app.api.following.followed import SharedTraces
from app.api.openai.compatible import openai_routes
from app.api.openapi import DESCRIPTION
from app.api.router import routes
from app.api.routes import usage
from app.domain.errors import FaultyWorkflow, WorkbenchError
from app.domain.evals.gates import GateClosed
from app.workbench import Workbench

Asked = Request | WebSocket
"""Starlette gives a socket what is returned in place of its handshake."""
Misfit = RequestValidationError | WebSocketRequestValidationError

log = logging.getLogger(__name__)

_WORDS = {
    400: "The body cannot be read. Send JSON, as UTF-8.",
    404: "There is nothing at {method} {path}. GET /api/v1/openapi.json lists all there is, /api/v1/docs shows it.",
    405: "{path} takes no {method}. GET /api/v1/openapi.json lists what it takes.",
}
_CODES = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}
BUG = "Something went wrong in the app. Its log says what; please report it."


def api(workbench: Workbench) -> FastAPI:
    """An ASGI app that answers under `/api/v1` and `/v1`, and in words wherever there is nothing."""
    app = api_without_workbench()
    attach_workbench(app, workbench)
    return app


def api_without_workbench() -> FastAPI:
    """The same before it has been `attach_workbench` one."""
    # FastAPI gives every body an alias, of which pydantic complains where a model is built by its first request.
    warnings.filterwarnings("ignore", "The 'alias' attribute with value 'body'", UnsupportedFieldAttributeWarning)
    app = FastAPI(
        title="Agent Playground",
        version=__version__,
        description=DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.router.routes.extend([*routes(), *usage.scraped.routes, *openai_routes()])
    for kind in (WorkbenchError, RequestValidationError, WebSocketRequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _in_words)
    return app


def attach_workbench(app: FastAPI, workbench: Workbench) -> None:
    """Let the API work on that workbench from now on."""
    app.state.workbench = workbench
    app.state.shared_traces = SharedTraces(workbench)


async def _in_words(asked: Asked, error: Exception) -> Response:
    match error:
        case GateClosed(outcome=outcome):
            held = outcome.model_dump(mode="json") | {"state": outcome.state, "reasons": outcome.reasons}
            return error_response(str(error), error.code, STATUS_OF_CODE[error.code], data=held)
        case FaultyWorkflow(faults=faults):
            told = [one.model_dump(mode="json") for one in faults]
            return error_response(str(error), error.code, 422, faults=told)
        case WorkbenchError():
            return _told(asked, str(error), error.code, STATUS_OF_CODE.get(error.code, 422))
        case RequestValidationError() | WebSocketRequestValidationError():
            return _told(asked, _fault(error), "invalid", 422)
        case HTTPException(status_code=code):
            method, path = str(asked.scope.get("method", "WS")), str(asked.scope["path"])[:200]
            words = _WORDS.get(code, str(error.detail)).format(method=method, path=path)
            return _told(asked, words, _CODES.get(code, "invalid"), 422 if code == 400 else code, error.headers)
        case _:
            log.error("The API failed at %s", asked.scope["path"], exc_info=error)
            return _told(asked, BUG, "internal", 500)


def _told(asked: Asked, sentence: str, code: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """The error in the shape that who asks reads."""
    if not str(asked.scope["path"]).startswith(OPENAI_PATHS):
        return error_response(sentence, code, status, headers)
    kind = OPENAI_KINDS.get(status, OPENAI_KINDS[500 if status >= 500 else 400])
    return JSONResponse(openai_error(sentence, code=code, kind=kind), status, headers)


def _fault(error: Misfit) -> str:
    faults = error.errors()
    if isinstance(error, RequestValidationError) and isinstance(error.body, bytes):
        return "Send the body as JSON, with the header 'Content-Type: application/json'."
    if faults and faults[0]["type"] == "json_invalid":
        return f"The body is no JSON: {faults[0]['ctx']['error']}."
    return f"The request does not fit: {faults_in_words(faults)}. /api/v1/docs shows what does."
