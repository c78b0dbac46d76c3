"""Backups of the data folder, from and to the app's own pages: a download, and one that is brought back."""

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, JSONResponse
from starlette.requests import ClientDisconnect

from app.api.door.envelopes import Envelope, refused
from app.domain.errors import StorageError, WorkbenchError
from app.workbench import Workbench


def backup_routes(workbench: Workbench) -> APIRouter:
    router = APIRouter()

    @router.get("/backups/{name}", response_model=None)
    async def download(name: str) -> FileResponse | JSONResponse:
        """The zip file of that name."""
        try:
            path = workbench.data.backups.path(name)
        except WorkbenchError as error:
            return refused(error)
        return FileResponse(path, media_type="application/zip", filename=name)

    @router.post("/backups", response_model=Envelope[str])
    async def bring_back(request: Request) -> Envelope[str] | JSONResponse:
        """Keep the body among the backups, once it is looked through; answers with its name there."""
        try:
            return Envelope(data=(await workbench.data.backups.receive(request.stream())).name)
        except ClientDisconnect:
            return refused(StorageError("The upload was broken off. Choose the backup again."))
        except WorkbenchError as error:
            return refused(error)

    return router
