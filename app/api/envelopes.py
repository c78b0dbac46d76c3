"""What every answer of the API is wrapped in, and how errors are told there."""

from typing import Generic, TypeVar

from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError

from app.domain.errors import WorkbenchError

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

STATUS_OF_CODE = {"not_found": 404, "conflict": 409, "too_large": 413, "storage": 507}


class Envelope(BaseModel, Generic[T]):
    success: bool = True
    data: T


class ListEnvelope(BaseModel, Generic[T]):
    success: bool = True
    data: list[T]
    count: int


def refused(error: WorkbenchError) -> JSONResponse:
    """The error in the API's envelope, with the status that its code stands for."""
    body = {"success": False, "error": str(error), "code": error.code}
    return JSONResponse(body, status_code=STATUS_OF_CODE.get(error.code, 422))


async def read_body(request: Request, model: type[M]) -> M:
    """The request's JSON body. Raises `WorkbenchError` that says what does not fit, and where."""
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)[:5]
        words = "; ".join(": ".join(filter(None, (".".join(map(str, one["loc"])), one["msg"]))) for one in faults)
        raise WorkbenchError(f"The body has to be JSON of the documented shape. {words}.") from None
