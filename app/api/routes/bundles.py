"""REST for runs that come from another copy of the app: a bundle, streamed to disk while it arrives."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from tempfile import TemporaryFile
from typing import IO

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import ClientDisconnect

from app.api.door.access import owner_only
from app.api.door.dependencies import Asking, Here, resource
from app.api.door.envelopes import Envelope
from app.domain.errors import StorageError, WorkbenchError
from app.export.limits import LARGEST_BUNDLE

router = resource("/runs", "Runs")

_BODY = {
    "required": True,
    "description": f"The zip file that GET /runs/{{run_id}}/export?format=bundle gave, "
    f"{LARGEST_BUNDLE // 1024**2} MiB at most.",
    "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
}


class ImportedRun(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"run_id": "01JD5V2W9Y"}]})

    run_id: str = Field(description="The run's id here: its own, or a new one where that is taken.")


@router.post("/import", status_code=201, openapi_extra={"requestBody": _BODY})
async def import_run(request: Request, workbench: Here, caller: Asking) -> Envelope[ImportedRun]:
    """Take in a run that another copy of the app exported as a bundle. Only with the app's own token."""
    owner_only(caller, "import runs")
    async with _received(request) as file:
        return Envelope(data=ImportedRun(run_id=await workbench.exports.import_bundle(file)))


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
