"""REST for what is taken along: runs and sessions in documented formats, bundles of other copies, large content."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from tempfile import TemporaryFile
from typing import IO, Annotated, Literal
from urllib.parse import quote

from fastapi import Path, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import ClientDisconnect

from app.api.door.access import managers_only, owner_only, run_for, session_for
from app.api.door.dependencies import Asking, Here, resource
from app.api.door.envelopes import Envelope
from app.domain.errors import StorageError, WorkbenchError
from app.domain.events import RunStarted
from app.domain.values import Text
from app.export.limits import LARGEST_BUNDLE
from app.late import late

with late():
    from app.export import exports

router = resource("/runs", "Runs")
sessions = resource("/sessions", "Sessions")
artifacts = resource("/artifacts", "Artifacts")

_TYPES = ("text/markdown", "text/html", "application/x-ndjson", "application/json", "application/zip")
_ANSWER: dict[str, object] = {
    "description": "The file, as the header Content-Disposition names it.",
    "content": {media_type: {} for media_type in _TYPES},
}
_BODY = {
    "required": True,
    "description": f"The file that GET /runs/{{run_id}}/export?format=bundle gave, or a trajectory as ATIF, "
    f"{LARGEST_BUNDLE // 1024**2} MiB at most.",
    "content": {
        "application/zip": {"schema": {"type": "string", "format": "binary"}},
        "application/json": {"schema": {"type": "object"}},
    },
}

INERT = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
}
"""Whatever the content is, it runs nothing and loads nothing."""
_CONTENT = {
    "description": "The bytes, to be saved.",
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}


class ImportedRun(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"run_id": "01JD5V2W9Y", "warnings": []}]})

    run_id: str = Field(description="The run's id here: its own, or a new one where that is taken.")
    warnings: tuple[str, ...] = Field((), description="What could not be taken in, in sentences.")


@router.get("/{run_id}/export", response_class=Response, responses={200: _ANSWER})
async def export_run(
    run_id: str,
    workbench: Here,
    caller: Asking,
    format: Literal["markdown", "html", "jsonl", "otel", "atif", "bundle"] = "markdown",
    attachments: bool = Query(True, description="With its images and files, where the format takes them."),
) -> Response:
    """The run as a file, without keys and passwords; one that goes on as far as it has come.

    `markdown` is a zip file where tool calls and images go with it; `otel` is OTLP JSON, `atif` a trajectory for
    Harbor and its like (a zip file where images go with it); `bundle` and `atif` can be imported.
    """
    run_for(workbench, caller, run_id)
    exported = await workbench.exports.export(run_id, format, exports.Choice(attachments=attachments))
    return as_file(exported)


@sessions.get("/{session_id}/export", response_class=Response, responses={200: _ANSWER})
async def export_session(
    session_id: str,
    workbench: Here,
    caller: Asking,
    format: Literal["markdown", "html", "jsonl"] = "markdown",
    attachments: bool = Query(True, description="With its images and files, where the format takes them."),
) -> Response:
    """The conversation as a file, named by its title, without keys and passwords.

    `markdown` and `html` have the branch that one stands on; `jsonl` has all runs of all branches. `markdown` is a zip
    file where tool calls and images go with it.
    """
    session = session_for(workbench, caller, session_id)
    choice = exports.Choice(attachments=attachments)
    return as_file(await workbench.session_exports.export(session, format, choice))


def as_file(exported: "exports.Exported") -> Response:
    """The file as a download."""
    headers = {
        "Content-Disposition": f'attachment; filename="{exported.filename}"',
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Cache-Control": "no-store",
    }
    return Response(exported.content, media_type=exported.media_type, headers=headers)


@router.post("/import", status_code=201, openapi_extra={"requestBody": _BODY})
async def import_run(request: Request, workbench: Here, caller: Asking) -> Envelope[ImportedRun]:
    """Take in a bundle of another copy of the app, or an ATIF trajectory. Only with the app's own token."""
    owner_only(caller, "import runs")
    async with _received(request) as file:
        run_id = await workbench.exports.import_bundle(file)
    started = (await workbench.runs.trace(run_id)).entries[0].event
    imported = started.imported if isinstance(started, RunStarted) else None
    return Envelope(data=ImportedRun(run_id=run_id, warnings=imported.notes if imported else ()))


@artifacts.get("/{sha256}", response_class=Response, responses={200: _CONTENT})
async def get_artifact(
    sha256: Annotated[str, Path(description="64 digits out of 0-9 and a-f.")],
    workbench: Here,
    caller: Asking,
    name: Annotated[Text, Query(max_length=200, description="What to save it as.")] = "",
) -> Response:
    """The content of that sha256, as a download. It says nothing of whose it is, so keys for certain agents get none.

    For those GET /runs/{run_id}/export gives the files of a run.
    """
    managers_only(caller, "read content by its sha256; GET /api/v1/runs/{run_id}/export gives the files of a run")
    content = await workbench.artifacts.get(sha256)
    saved_as = f"attachment; filename*=UTF-8''{quote(name or sha256, safe='')}"
    return Response(content, media_type="application/octet-stream", headers=INERT | {"Content-Disposition": saved_as})


@asynccontextmanager
async def _received(request: Request) -> AsyncIterator[IO[bytes]]:
    """The body as a file that is gone afterwards; the door counts what arrives."""
    with TemporaryFile() as file:
        try:
            await _write(request, file)
        except ClientDisconnect:
            raise WorkbenchError("The upload was broken off. Import the bundle again.") from None
        except OSError as error:
            raise StorageError(f"The bundle finds no room while it arrives: {error}. Make room on the disk.") from error
        yield file


async def _write(request: Request, file: IO[bytes]) -> None:
    async for chunk in request.stream():
        await asyncio.to_thread(file.write, chunk)
    file.seek(0)
