"""What every answer of the API is wrapped in, and how errors are told there."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Generic, TypeVar

from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Discriminator, Field, ValidationError

from app.domain.errors import FailureClass, WorkbenchError
from app.domain.values import Value

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

STATUS_OF_CODE = {
    "not_found": 404,
    "conflict": 409,
    "gate": 409,
    "too_large": 413,
    "storage": 507,
    "forbidden": 403,
    "unauthorized": 401,
    "limit": 429,
}
STATUS_OF_FAILURE: dict[FailureClass, int] = {
    "rate_limit": 429,
    "quota": 429,
    "context_overflow": 400,
    "invalid_key": 502,
    "model_unavailable": 503,
    "safety_filter": 400,
    "timeout": 504,
    "network": 502,
    "provider_error": 502,
    "bad_response": 502,
    "bad_request": 400,
    "cancelled": 409,
    "limit": 422,
    "node": 422,
    "internal": 500,
}
"""Of a run that failed, whichever API it was asked over.

A key that the provider does not take is 502: it is the app's, not the one the client sent.
"""
NOT_AGAIN = {"x-should-retry": "false"}
"""Tells clients not to ask again by themselves after a run failed: the app has tried already.

https://github.com/openai/openai-python: the header decides over the status.
"""
MOST_FAULTS = 5
WRITTEN = 200
"""Characters of a place in a body that are repeated to who sent it."""


class Reply(Value):
    """A value whose fields are described by the texts below them, also in the OpenAPI document."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Envelope(BaseModel, Generic[T]):
    success: bool = True
    data: T


class ListEnvelope(BaseModel, Generic[T]):
    success: bool = True
    data: list[T]
    count: int = Field(description="How many there are in all, on all pages.")


class ErrorEnvelope(BaseModel):
    """What went wrong, for a person and for a program."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"success": False, "error": "There is no agent 'helper'. Agents: assistant.", "code": "not_found"}
            ]
        }
    )

    success: bool = False
    error: str = Field(description="A sentence that names the thing and the way out.")
    code: str = Field(description="One word that stays the same.")


_ERROR = {"application/json": {"schema": {"$ref": f"#/components/schemas/{ErrorEnvelope.__name__}"}}}
ERRORS: dict[int | str, dict[str, Any]] = {
    # By its name, of which `openapi_document` says what it stands for: FastAPI would build the model anew for each
    # status of each route, which is half the time of making the API.
    status: {"content": _ERROR, "description": words}
    for status, words in {
        401: "No key, or one that is not known.",
        403: "The key may not do this.",
        404: "There is no such thing, or not for this key.",
        409: "It stands in the way of something else: a taken name, a run that goes on.",
        413: "More than can be sent at once.",
        422: "Something in the request does not fit; the sentence says what.",
        429: "Too much at once; the header Retry-After says when to come again.",
        507: "What is stored cannot be read, or the disk takes no more.",
    }.items()
}


def refused(error: WorkbenchError) -> JSONResponse:
    """The error in the API's envelope, with the status that its code stands for."""
    return error_response(str(error), error.code, STATUS_OF_CODE.get(error.code, 422))


def error_response(
    sentence: str, code: str, status: int, headers: Mapping[str, str] | None = None, **more: object
) -> JSONResponse:
    return JSONResponse({"success": False, "error": sentence, "code": code, **more}, status, headers)


def faults_in_words(faults: Iterable[Mapping[str, object]]) -> str:
    """The first few faults of a validation, each with its place."""
    return "; ".join(_in_words(fault) for fault in islice(faults, MOST_FAULTS))


def _in_words(fault: Mapping[str, object]) -> str:
    steps = fault["loc"]
    place = ".".join(str(step) for step in steps)[:WRITTEN] if isinstance(steps, tuple | list) else ""
    words = str(fault["msg"])
    if fault["type"] == "too_long" and isinstance(fault.get("input"), str):
        words = words.replace("Value", "Text").replace("items after validation", "characters")
    return f"{place}: {words}" if place else words


def told_by(tags: Mapping[type, str], words: str) -> Discriminator:
    """Of a union: by the type of what is sent, the tag of the one that it has to fit; `words` tell who sends another.

    Without it a fault would be told of each of them, by names that only the code knows.
    """
    return Discriminator(
        lambda sent: tags.get(type(sent)), custom_error_type="kind_of_value", custom_error_message=words
    )


async def read_body(request: Request, model: type[M]) -> M:
    """The request's JSON body. Raises `WorkbenchError` that says what does not fit, and where."""
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        faults = [dict(fault) for fault in error.errors(include_url=False, include_context=False, include_input=False)]
        sentence = f"The body has to be JSON of the documented shape. {faults_in_words(faults)}."
        raise WorkbenchError(sentence) from None
