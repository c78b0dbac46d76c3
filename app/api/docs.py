"""The API's description of itself, as OpenAPI and as a page to read and to try it out."""

import asyncio
import json
from functools import cache
from typing import Annotated, Literal

from fastapi import FastAPI, Path, Request
from fastapi.responses import Response

from app import paths
from app.api.door.dependencies import resource
from app.api.openapi import openapi_document

MEDIA_TYPES = {"docs.html": "text/html", "docs.css": "text/css", "docs.js": "text/javascript"}

router = resource("", "Documentation")


@router.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> Response:
    """This description, for programs."""
    return Response(await asyncio.to_thread(_document, request.app), media_type="application/json")


@router.get("/docs", include_in_schema=False)
async def docs() -> Response:
    """This description, for people."""
    return _asset("docs.html")


@router.get("/docs/{name}", include_in_schema=False)
async def docs_part(name: Annotated[Literal["docs.css", "docs.js"], Path()]) -> Response:
    """What the page needs."""
    return _asset(name)


@cache
def _document(app: FastAPI) -> bytes:
    return json.dumps(openapi_document(app)).encode()


def _asset(name: str) -> Response:
    return Response(_content(name), media_type=MEDIA_TYPES[name])


@cache
def _content(name: str) -> bytes:
    return (paths.assets() / "api" / name).read_bytes()
