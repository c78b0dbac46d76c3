"""REST for files that go with a message: uploaded first, then named in run, chat and queue by their sha256."""

from typing import Annotated, Self

from fastapi import Query, Request
from pydantic import ConfigDict, JsonValue
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from app.api.door.access import Forbidden
from app.api.door.caller import ANYONE
from app.api.door.dependencies import Asking, Here, resource
from app.api.door.envelopes import Envelope, Reply
from app.api.following.attaching import media_type_checked
from app.api.routes.uploads import BROKEN_OFF, check_size, counted_body
from app.domain.errors import WorkbenchError
from app.domain.reading.file_names import plain_file_name
from app.domain.values import Text
from app.store.contents.uploads import Upload

_BINARY: dict[str, JsonValue] = {"type": "string", "format": "binary"}
_FORM: dict[str, JsonValue] = {"type": "object", "properties": {"file": _BINARY}, "required": ["file"]}
_BODY: dict[str, JsonValue] = {
    "description": "The file itself, or a form with one.",
    "required": True,
    "content": {"application/octet-stream": {"schema": _BINARY}, "multipart/form-data": {"schema": _FORM}},
}
_EXAMPLE: dict[str, JsonValue] = {"sha256": "0" * 64, "mime": "text/csv", "size": 8, "filename": "table.csv"}


class UploadReply(Reply):
    """A file that can be attached for a day."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    sha256: str
    """Of what is kept: keys and passwords that the app knows are taken out."""
    mime: str
    """As its bytes tell, else its name."""
    size: int
    """Bytes that arrived."""
    filename: str

    @classmethod
    def of(cls, upload: Upload) -> Self:
        return cls(sha256=upload.sha256, mime=upload.media_type, size=upload.size, filename=upload.filename)


router = resource("/uploads", "Attachments")


@router.post("", status_code=201, openapi_extra={"requestBody": _BODY})
async def upload(
    request: Request,
    workbench: Here,
    caller: Asking,
    filename: Annotated[Text, Query(max_length=300, description="What it is called; a form says it itself.")] = "",
) -> Envelope[UploadReply]:
    """Send a file that a message is to carry. It waits for a day; who sends the same key can attach it.

    The owner sets how large it may be, 20 MiB where they did not. Of one key the newest 200 wait, 1 GiB in all.
    """
    if caller == ANYONE:
        raise Forbidden("Without an API key nothing can be attached. Send the key of somebody who may.")
    largest = workbench.preferences.get().largest_attachment
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        content, filename = await _in_form(request, filename, largest)
    else:
        content = await counted_body(request, filename, largest)
    name = plain_file_name(filename)
    kept = await workbench.data.uploads.keep(
        caller.id, content, media_type=media_type_checked(content, name), filename=name
    )
    return Envelope(data=UploadReply.of(kept))


async def _in_form(request: Request, filename: str, largest: int) -> tuple[bytes, str]:
    """The one file of a form and its name; the door counts what arrives."""
    try:
        async with request.form(max_files=1, max_fields=10) as form:
            file = next((part for part in form.values() if isinstance(part, UploadFile)), None)
            if file is None:
                raise WorkbenchError("There is no file in the form. Send one as a part with a 'filename'.")
            filename = filename or file.filename or ""
            check_size(file.size or 0, filename, largest)
            return await file.read(), filename
    except ClientDisconnect:
        raise WorkbenchError(BROKEN_OFF) from None
    except HTTPException as error:
        raise WorkbenchError(f"The form cannot be read: {error.detail}") from None
