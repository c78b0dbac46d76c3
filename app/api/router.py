"""REST: the same runs and traces as the pages show. Each kind of thing has a file with its routes."""

from fastapi import APIRouter

from app.api import docs
from app.api.routes import (
    agents,
    artifacts,
    bundles,
    chat,
    exports,
    forks,
    jobs,
    keys,
    pauses,
    run_agent,
    run_reading,
    run_stream,
    runs,
    sessions,
    tools,
    variants,
)

PREFIX = "/api/v1"
RESOURCES = (
    agents.router,
    variants.router,
    run_agent.router,
    run_reading.of_agent,
    run_reading.router,
    exports.router,
    bundles.router,
    run_stream.router,
    runs.router,
    pauses.router,
    forks.router,
    chat.router,
    sessions.router,
    tools.router,
    artifacts.router,
    jobs.router,
    keys.router,
    docs.router,
)


def routes() -> APIRouter:
    """All routes under `/api/v1`."""
    router = APIRouter(prefix=PREFIX)
    for resource in RESOURCES:
        router.include_router(resource)
    return router
