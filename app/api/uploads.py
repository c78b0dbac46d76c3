"""Files from and to the app's own pages: what is attached to a message, and the pictures that pages show."""

from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from starlette.requests import ClientDisconnect

from app.api.envelopes import Envelope, refused
from app.domain.errors import NotFound, TooLarge, WorkbenchError
from app.domain.media_types import SHOWN_IMAGES, media_type_of
from app.domain.messages import LARGEST_ATTACHMENT, FilePart, ImagePart
from app.engine.attachments import file_name
from app.workbench import Workbench

Kept = ImagePart | FilePart
INERT = {"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox"}
"""Whatever the content is, opened in a tab of its own it runs nothing and loads nothing."""


def upload_routes(workbench: Workbench) -> APIRouter:
    router = APIRouter()

    @router.post("/uploads/{session_id}", response_model=Envelope[Kept])
    async def upload(session_id: str, request: Request, name: str = "") -> Envelope[Kept] | JSONResponse:
        """Store the body as an artifact; answers with the part that a message of that session may carry."""
        try:
            _check_open(workbench, session_id)
            return Envelope(data=await _kept(workbench, await _body(request, name), name))
        except WorkbenchError as error:
            return refused(error)

    @router.get("/artifacts/{digest}")
    async def artifact(digest: str, name: str = "") -> Response:
        """A picture as what it is; any other content as a download under that name."""
        try:
            content = await workbench.artifacts.get(digest)
        except WorkbenchError as error:
            return refused(error)
        media_type = media_type_of(content)
        if media_type in SHOWN_IMAGES:
            return Response(content, media_type=media_type, headers=INERT)
        saved_as = f"attachment; filename*=UTF-8''{quote(name or digest, safe='')}"
        headers = INERT | {"Content-Disposition": saved_as}
        return Response(content, media_type="application/octet-stream", headers=headers)

    return router


def _check_open(workbench: Workbench, session_id: str) -> None:
    if workbench.sessions.get(session_id).deleted_at is not None:
        raise NotFound("This session was deleted. Start a new one from the Playground.")


async def _body(request: Request, name: str) -> bytes:
    """The body, counted while it arrives; raises `TooLarge` as soon as it is."""
    content = bytearray()
    try:
        async for chunk in request.stream():
            content += chunk
            if len(content) > LARGEST_ATTACHMENT:
                raise TooLarge(
                    f"“{_named(name)}” is larger than {LARGEST_ATTACHMENT // 1024**2} MiB, the most that can be "
                    "attached. Attach a part of it, or make it smaller."
                )
    except ClientDisconnect:
        raise WorkbenchError("The upload was broken off. Attach the file again.") from None
    if not content:
        raise WorkbenchError(f"“{_named(name)}” is empty: there is nothing to attach.")
    return bytes(content)


async def _kept(workbench: Workbench, content: bytes, name: str) -> Kept:
    media_type = media_type_of(content, name)
    digest = await workbench.artifacts.put(content)
    if media_type in SHOWN_IMAGES:
        return ImagePart(artifact=digest, media_type=media_type, alt=_named(name))
    return FilePart(artifact=digest, media_type=media_type, filename=_named(name), size=len(content))


def _named(name: str) -> str:
    """What the file is called here: as among the session's files."""
    return file_name(FilePart(artifact="", media_type="", filename=name, size=0))
