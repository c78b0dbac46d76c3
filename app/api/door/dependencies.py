"""What every route may ask for: the workbench it works on, and who asks."""

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field
from starlette.requests import HTTPConnection

from app.api.door.caller import Caller, caller_of
from app.api.door.envelopes import ERRORS
from app.api.door.guests import API
from app.api.door.strict_json import StrictRoute
from app.workbench import Workbench


async def _workbench(connection: HTTPConnection) -> Workbench:
    workbench: Workbench = connection.app.state.workbench
    return workbench


async def _caller(connection: HTTPConnection) -> Caller:
    return caller_of(connection)


Here = Annotated[Workbench, Depends(_workbench)]
Asking = Annotated[Caller, Depends(_caller)]


class Paging(BaseModel):
    """Which part of a list is wanted."""

    limit: int = Field(50, ge=1, le=500, description="How many at most.")
    offset: int = Field(0, ge=0, le=1_000_000, description="How many to pass over.")


def resource(prefix: str, tag: str) -> APIRouter:
    """An empty router for one kind of thing, below `API`."""
    return APIRouter(prefix=API + prefix, tags=[tag], route_class=StrictRoute, responses=ERRORS)
