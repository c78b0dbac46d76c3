"""Files from and to the app's own pages: what is attached to a message; backups, downloaded and brought back."""

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, JSONResponse
from starlette.requests import ClientDisconnect

from app.api.door.envelopes import Envelope, refused
from app.api.following.attaching import kept_part, media_type_checked
from app.domain.errors import NotFound, StorageError, TooLarge, WorkbenchError
from app.domain.media_types import media_type_of
from app.domain.messages import FilePart, ImagePart
from app.domain.reading.file_names import plain_file_name
from app.workbench import Workbench

Kept = ImagePart | FilePart
BROKEN_OFF = "The upload was broken off. Attach the file again."


def file_routes(workbench: Workbench) -> APIRouter:
    router = APIRouter()

    @router.post("/uploads/{holder_id}", response_model=Envelope[Kept])
    async def upload(
        holder_id: str, request: Request, name: str = "", saved: bool = False
    ) -> Envelope[Kept] | JSONResponse:
        """Store the body as an artifact; answers with the part that a message of that session or dataset may carry.

        What is only `saved` goes to no model, so it may be anything.
        """
        try:
            _check_holder(workbench, holder_id)
            content = await counted_body(request, name, workbench.preferences.get().largest_attachment)
            kind = media_type_of(content, name) if saved else media_type_checked(content, name)
            return Envelope(data=await kept_part(workbench, content, media_type=kind, filename=plain_file_name(name)))
        except WorkbenchError as error:
            return refused(error)

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


def _check_holder(workbench: Workbench, holder_id: str) -> None:
    holder = workbench.sessions.find(holder_id) or workbench.datasets.find(holder_id)
    if holder is None or holder.deleted_at is not None:
        raise NotFound("What this file belongs to was deleted. Bring it back first, or begin anew.")


async def counted_body(request: Request, name: str, largest: int) -> bytes:
    """The body, counted while it arrives; raises `TooLarge` as soon as it is."""
    content = bytearray()
    try:
        async for chunk in request.stream():
            content += chunk
            if len(content) > largest:
                break
    except ClientDisconnect:
        raise WorkbenchError(BROKEN_OFF) from None
    check_size(len(content), name, largest)
    return bytes(content)


def check_size(size: int, name: str, largest: int) -> None:
    """Raises `TooLarge` for more bytes than may be, `WorkbenchError` for none."""
    if size > largest:
        raise TooLarge(
            f"“{plain_file_name(name)}” is larger than {largest // 1024**2} MiB, the most that can be attached; the "
            "app's owner sets that in Settings. Attach a part of it, or make it smaller."
        )
    if not size:
        raise WorkbenchError(f"“{plain_file_name(name)}” is empty: there is nothing to attach.")
