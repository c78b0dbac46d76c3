"""REST: the same runs and traces as the pages show. Each kind of thing has a file with its routes."""

import asyncio
import json
from functools import cache
from typing import Annotated, Literal

from fastapi import FastAPI, Path, Request
from fastapi.responses import Response
from starlette.routing import BaseRoute

from app import paths
from app.api.door.dependencies import resource
from app.api.openapi import openapi_document
from app.api.routes import (
    agents,
    attachments,
    chat,
    datasets,
    experiments,
    exports,
    forks,
    gates,
    jobs,
    keys,
    run_agent,
    run_reading,
    run_stream,
    run_workflow,
    runs,
    scorers,
    scores,
    sessions,
    tool_sources,
    tools,
    usage,
    workflows,
)

documentation = resource("", "Documentation")

RESOURCES = (
    agents.router,
    agents.variants,
    workflows.router,
    workflows.of_runs,
    gates.router,
    gates.of_variant,
    run_agent.router,
    run_workflow.router,
    run_reading.of_agent,
    run_reading.router,
    exports.router,
    run_stream.router,
    runs.router,
    scores.router,
    scorers.router,
    datasets.router,
    datasets.cases,
    datasets.of_runs,
    forks.router,
    chat.router,
    sessions.router,
    attachments.router,
    tools.router,
    tool_sources.router,
    exports.artifacts,
    exports.sessions,
    jobs.router,
    usage.router,
    experiments.router,
    keys.router,
    documentation,
)

MEDIA_TYPES = {
    "docs.html": "text/html",
    "docs.css": "text/css",
    "docs.js": "text/javascript",
    "SKILL.md": "text/markdown; charset=utf-8",
}


def routes() -> list[BaseRoute]:
    """All routes under `/api/v1`, as they are: FastAPI would build each of them again for a router that includes it."""
    return [route for part in RESOURCES for route in part.routes]


@documentation.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> Response:
    """This description, for programs."""
    return Response(await asyncio.to_thread(_document, request.app), media_type="application/json")


@documentation.get("/docs", include_in_schema=False)
async def docs() -> Response:
    """This description, for people."""
    return _asset("docs.html")


@documentation.get("/docs/{name}", include_in_schema=False)
async def docs_part(name: Annotated[Literal["docs.css", "docs.js", "SKILL.md"], Path()]) -> Response:
    """What the page needs, and for coding agents how agents are made better over MCP."""
    return _asset(name)


@cache
def _document(app: FastAPI) -> bytes:
    return json.dumps(openapi_document(app)).encode()


def _asset(name: str) -> Response:
    return Response(_content(name), media_type=MEDIA_TYPES[name])


@cache
def _content(name: str) -> bytes:
    return (paths.assets() / ("skill" if name == "SKILL.md" else "api") / name).read_bytes()
